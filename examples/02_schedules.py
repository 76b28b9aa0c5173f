"""Schedules, from naive to 90 % of this machine's peak.

A schedule changes the order in which a program runs, never what it computes. This script takes a matrix product in four steps from
plain loops to a kernel that the processor's arithmetic limits, and then shows what the rules do by themselves.
"""

import os
import re

os.environ["TILEWRIGHT_NUM_THREADS"] = "1"  # one thread, so that the numbers are steady

import tilewright
from tilewright import te

# ## The program
#
# 384 x 384 x 384, written as a tensor expression: a formula for each element.

N = 384
a, b = te.placeholder((N, N), name="A"), te.placeholder((N, N), name="B")
k = te.reduce_axis((0, N), name="k")
c = te.compute((N, N), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
program = te.create_prim_func([a, b, c])

# `sch.explain()` compiles and times a schedule, and says how far it is from what this machine can do. Its peaks are measured once.


def share_of_peak(sch):
    return int(re.search(r"(\d+) % of", sch.explain())[1])


def report(step, sch):
    print(f"{step:20}{max(share_of_peak(sch) for _ in range(5)):3} % of the peak")


# ## 1. As it is written
#
# The innermost loop adds up one element, one multiplication after the other. (A program without any step would be scheduled by rules;
# any step makes the schedule ours. This one is a note on a loop, which changes nothing.)

sch = tilewright.Schedule(program)
sch.annotate(sch.get_loops("C")[0], "mine", 1)
report("as written", sch)

# ## 2. Vectors
#
# The columns of a row lie one behind the other: they fill the lanes of a vector. The loop over terms moves outward.

known = tilewright.target.features("llvm")
lanes = known["vector_bytes"].value // 4

sch = tilewright.Schedule(program)
i, j, k = sch.get_loops("C")
j0, j1 = sch.split(j, [None, lanes])
sch.reorder(i, j0, k, j1)
sch.vectorize(j1)
report("vectors", sch)

# ## 3. A register tile
#
# A multiply-add to one vector of sums must wait for the one before it: four cycles or so. A tile of several rows by two vectors keeps its sums
# (accumulators) in registers while all terms are added, and uses each loaded vector several times.

rows = 12 if known["num_vector_registers"].value >= 32 else 6

sch = tilewright.Schedule(program)
i, j, k = sch.get_loops("C")
i0, i1 = sch.split(i, [None, rows])
j0, j1, j2 = sch.split(j, [None, 2, lanes])
sch.reorder(j0, i0, k, i1, j1, j2)
sch.unroll(i1)
sch.unroll(j1)
sch.vectorize(j2)

accumulators = sch.cache_write("C", 0, "local")
sch.reverse_compute_at(accumulators, i0)
row, column = sch.get_loops(accumulators)[-2:]
vector, lane = sch.split(column, [None, lanes])
sch.unroll(row)
sch.unroll(vector)
sch.vectorize(lane)

zero = sch.decompose_reduction("C", k)
for loop in sch.get_loops(zero)[2:4]:
    sch.unroll(loop)
report("a register tile", sch)

# ## 4. Panels
#
# The columns of a tile lie 1,536 bytes apart in B. A copy of them, a panel, lies in one piece, and all tiles of rows read it from L1
# or L2. At this size it gains little; where rows are 4,096 bytes apart, their lines share a few places of L1 and it gains a lot.

panel = sch.cache_read("C_update", 2, "global")
sch.compute_at(panel, j0)
sch.vectorize(sch.split(sch.get_loops(panel)[-1], [None, lanes])[1])
sch.transform_layout(panel, ("write", 0), lambda k, j: (j // (2 * lanes), k, j % (2 * lanes)))
report("panels of B", sch)

# On more than one thread, `sch.parallel(j0)` follows: each thread gets panels of its own.
#
# Nothing above can have changed a result: each step was proved, and the trace says what was done, as Python. Sizes of tiles are those of
# this machine. The output depends on the machine.

print(sch.trace)

# ## By rules
#
# The rules do the same by themselves, for this machine's registers and caches; `tilewright.build(program)` calls them.
# [Schedules](../schedules.md) says what they do, and script 7 how to read and to change it.

report("by rules", tilewright.schedule.by_rules(program))
