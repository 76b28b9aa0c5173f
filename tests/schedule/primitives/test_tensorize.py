"""tensorize: an intrinsic computes a tile of what its description says (tests/errors/schedule_sums.txt: what does not fit)."""

import numpy as np
import pytest
from primitive_testing import check_refused, schedule_of

import tilewright
from tilewright import tir
from tilewright.script import tir as T


@T.prim_func
def add_one(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)


@T.prim_func
def description(a: T.Buffer((8,), "float32", offset_factor=1), b: T.Buffer((8,), "float32", offset_factor=1)):
    with T.block("root"):
        T.reads(a[0:8])
        T.writes(b[0:8])
        for i in range(8):
            with T.block("step"):
                vi = T.axis.spatial(8, i)
                b[vi] = a[vi] + T.float32(1)


@T.prim_func
def implementation(
    a: T.Buffer((8,), "float32", offset_factor=1), b: T.Buffer((8,), "float32", offset_factor=1)
):
    with T.block("root"):
        T.reads(a[0:8])
        T.writes(b[0:8])
        for i in T.vectorized(8):
            b[i] = T.float32(1) + a[i]


tir.TensorIntrin.register("tests.add_one_to_8", description, implementation, override=True)


def tensorized():
    sch = schedule_of(add_one)
    sch.tensorize(sch.get_loops("B")[1], "tests.add_one_to_8")
    return sch


def test_the_implementation_takes_the_place_of_the_tile():
    text = tensorized().mod["main"].script()
    assert text.count("T.match_buffer(") == 2
    assert "T.vectorized(8)" in text
    assert "T.float32(1) + " in text


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_the_numbers_stay(target):
    sch = tensorized()
    sch.verify()
    a, b = np.arange(32, dtype="float32").reshape(4, 8), np.zeros((4, 8), "float32")
    tilewright.build(sch.mod, target=target)["main"](a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_the_trace_says_the_name():
    sch, again = tensorized(), schedule_of(add_one)
    assert 'tensor_intrin="tests.add_one_to_8"' in sch.trace.text()
    sch.trace.apply_to_schedule(again)
    tilewright.ir.assert_structural_equal(again.mod, sch.mod)


def test_an_intrinsic_that_is_not_registered_is_refused():
    check_refused(
        add_one,
        lambda sch: sch.tensorize(sch.get_loops("B")[1], "tests.add_one_to_9"),
        'error: tensorize: there is no tensor intrinsic "tests.add_one_to_9"\nhelp: did you mean tests.add_one_to_8?',
    )
