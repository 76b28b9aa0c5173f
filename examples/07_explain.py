"""Explain: what the rules did, what they did not, and what limits a kernel.

A program that nobody has scheduled is scheduled by rules. What they do is an ordinary schedule, which you can read, run and change.
The target here is a named processor with its caches, so that the text is the same on every machine; leave it out for your own.
"""

import tilewright
from tilewright import te

TARGET = (
    "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell -num-cores=4"
    " -l1_cache_size_bytes=32768 -l2_cache_size_bytes=262144"
)


def product(rows, columns, terms):
    a, b = te.placeholder((rows, terms), name="A"), te.placeholder((terms, columns), name="B")
    k = te.reduce_axis((0, terms), name="k")
    c = te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


# ## What the rules did
#
# The trace is Python: copied into a script, it makes the same schedule.

sch = tilewright.schedule.by_rules(product(127, 64, 32), TARGET)
print(sch.trace)

# ## Why a rule did not apply
#
# `rejections` has (block, rule, reason) of each rule that was tried in vain, with the numbers that decided. Here the axis of the sum is
# only known when the program runs.

n = te.var("n", "int64")
a = te.placeholder((5, n), name="A")
k = te.reduce_axis((0, n), name="k")
rows = te.compute((5,), lambda i: te.sum(a[i, k], axis=k), name="S")
sch = tilewright.schedule.by_rules(te.create_prim_func([a, rows]), TARGET)
for block, rule, reason in sch.rejections:
    print(f"block {block}, rule {rule}: {reason}")

# ## Going on from there
#
# `by_rules` returns a schedule like any other: look up blocks and add steps. `build(sch.mod)` compiles it as it stands.

sch = tilewright.schedule.by_rules(product(5, 7, 3), TARGET)
print(sch.state)

# ## What limits a kernel
#
# `sch.explain()` times it on this machine and compares it with the peaks of arithmetic and of each memory (the roofline model). For a
# whole model: `tilewright explain model.onnx`, with `--html FILE` for a plot. The output depends on the machine.

print(tilewright.schedule.by_rules(product(127, 64, 32)).explain())
