"""Checking programs and schedules.

Nothing has to be believed: a schedule step is proved legal or refused with two iterations that disagree, `sch.verify` runs the
program before and after, and `tir.interpret` runs any program with every access checked.
"""

import numpy as np

import tilewright
from tilewright.script import tir as T


def show_error(action):
    try:
        action()
    except tilewright.UserError as error:
        print(error)


# ## A step that is refused
#
# B is a sum over the row, C divides by it.


@T.prim_func
def normalize(A: T.Buffer((5, 7), "float32"), C: T.Buffer((5, 7), "float32")):
    B = T.alloc_buffer((5,), "float32")
    for i, k in T.grid(5, 7):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i, j in T.grid(5, 7):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] / B[vi]


# Two threads would add to the same element at the same time:

sch = tilewright.Schedule(normalize)
i, k = sch.get_loops("B")
show_error(lambda: sch.parallel(k))

# C cannot run inside of the loop over k, as the sum is not complete there. The error names a place where it can:

show_error(lambda: sch.reverse_compute_at("C", k))

# ## A schedule that is verified
#
# `sch.verify()` compares the program as it was given with the program as it is now, on random arguments, in the interpreter.

sch.reverse_compute_at("C", i)
sch.parallel(i)
sch.vectorize(sch.get_loops("C")[-1])
print(sch.verify())

# `Schedule(program, verify_each_step=True)` does so at every step. `sch.state` shows what steps are checked against:

print(sch.state)
for name, why_not in sch.state.properties("B").items():
    print(f"{name}: {why_not or 'yes'}")

# ## Running without compiling
#
# The interpreter runs a program slowly and exactly. It finds what a compiled kernel cannot see: elements that are read before anyone
# wrote them, iterations of a parallel loop that touch the same element, blocks that read what they do not declare.

racing = tilewright.script.parse("""
@T.prim_func
def total(A: T.Buffer((7,), "float32"), B: T.Buffer((1,), "float32")):
    B[0] = T.float32(0)
    for i in T.parallel(7):
        B[0] = B[0] + A[i]
""")
show_error(lambda: tilewright.tir.interpret(racing, np.ones(7, "float32"), np.zeros(1, "float32")))

unset = tilewright.script.parse("""
@T.prim_func
def double(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    W = T.alloc_buffer((7,), "float32")
    for i in range(6):
        W[i] = A[i] * T.float32(2)
    for i in range(7):
        B[i] = W[i]
""")
show_error(lambda: tilewright.tir.interpret(unset, np.ones(7, "float32"), np.zeros(7, "float32")))
