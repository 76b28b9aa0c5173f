"""Shared by the tests of schedule primitives: before, steps, after; and programs for them."""

import pytest

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.script import tir as T


@T.prim_func
def double(A: T.Buffer((5, 8), "float32"), B: T.Buffer((5, 8), "float32")):
    for i, j in T.grid(5, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)


@T.prim_func
def chain(A: T.Buffer((7,), "float32"), D: T.Buffer((7,), "float32")):
    B = T.alloc_buffer((7,))
    C = T.alloc_buffer((7,))
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(7):
        with T.block("C"):
            vi = T.axis.spatial(7, i)
            C[vi] = B[vi] + T.float32(1)
    for i in range(7):
        with T.block("D"):
            vi = T.axis.spatial(7, i)
            D[vi] = B[vi] + C[vi]


@T.prim_func
def running_sum(A: T.Buffer((7,), "float32")):
    for i in range(6):
        with T.block("A"):
            vi = T.axis.spatial(6, i)
            A[vi + 1] = A[vi + 1] + A[vi]


def schedule_of(program):
    """A schedule of the program under the name main."""
    return tilewright.Schedule(program.with_attr("global_symbol", "main"))


def check_schedule(before, steps, after):
    """Asserts that `steps` make `after` of `before`, with the same numbers, and that the trace does so again."""
    sch, again = schedule_of(before), schedule_of(before)
    steps(sch)
    assert_structural_equal(sch.mod["main"], after.with_attr("global_symbol", "main"))
    sch.verify()
    sch.trace.apply_to_schedule(again)
    assert_structural_equal(again.mod, sch.mod)


def check_refused(before, steps, text):
    """Asserts that the last of `steps` is refused with `text`: the error without the lines of the program that it shows."""
    sch = schedule_of(before)
    with pytest.raises(tilewright.UserError) as refusal:
        steps(sch)
    lines = str(refusal.value).splitlines()
    told = [line for line in lines if line.startswith(("error: ", "note: ", "help: "))]
    assert told == text.splitlines()
