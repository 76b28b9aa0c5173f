"""A loop program and its errors.

A loop program says what a kernel computes: buffers, loops, and blocks in them. It is written in TVMScript, a language
inside of Python, and compiled to machine code. Every fault that can be seen in it is an error at your line, before anything runs.
"""

import numpy as np

import tilewright
from tilewright.script import tir as T

# ## A program
#
# A block is one step of the computation. Its axes say which element it makes: "S" (spatial) axes may run in any order, "R"
# (reduce) axes add to the same element. The loops around it say in which order the steps run; schedules change that order later.


@T.prim_func
def matmul(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), C: T.Buffer((5, 3), "float32")):
    for i, j, k in T.grid(5, 3, 7):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


# `build` compiles it for this machine. Arguments are arrays of numpy or torch, or tensors; outputs are arguments, too.

kernel = tilewright.build(matmul)
a, b = np.random.rand(5, 7).astype("float32"), np.random.rand(7, 3).astype("float32")
c = np.zeros((5, 3), "float32")
kernel["matmul"](a, b, c)
print("as numpy:", np.allclose(c, a @ b, rtol=1e-5))

# ## Errors
#
# An error says what is wrong with the values at hand, points at the line, and names the next step.


def show_error(action):
    try:
        action()
    except tilewright.UserError as error:
        print(error)


# An index that leaves its buffer for some iteration:

show_error(
    lambda: tilewright.script.parse("""
@T.prim_func
def shift(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = A[i + 1]
""")
)

# A misspelled name:

show_error(
    lambda: tilewright.script.parse("""
@T.prim_func
def root(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        B[i] = T.sqrrt(A[i])
""")
)

# Arguments that do not fit are errors of the call; the kernel does not run:

show_error(lambda: kernel["matmul"](a, b, np.zeros((3, 5), "float32")))

# How large a buffer is, and where it is read, may be known only when the program runs. `check_bounds=True` then checks each access
# that is not proved, and the error names the line:

gather = tilewright.script.parse("""
@T.prim_func
def gather(A: T.Buffer((7,), "float32"), J: T.Buffer((5,), "int64"), B: T.Buffer((5,), "float32")):
    for i in range(5):
        B[i] = A[J[i]]
""")
checked = tilewright.build(gather, check_bounds=True)
show_error(
    lambda: checked["gather"](np.ones(7, "float32"), np.array([0, 1, 2, 3, 9]), np.zeros(5, "float32"))
)
