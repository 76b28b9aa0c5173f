"""Schedules whose meaning lies in lowering: virtual threads, double buffers; and the code that comes of them."""

import numpy as np
import pytest

import tilewright as tw
from tilewright.script import tir as T


@T.prim_func
def two_steps(X: T.Buffer((6, 35), "float32"), Y: T.Buffer((6, 35), "float32")):
    A = T.alloc_buffer((6, 35), "float32")
    for i, j in T.grid(6, 35):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in T.grid(6, 35):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, 34 - vj] + T.float32(1)


def check(sch, target="llvm"):
    x = np.random.default_rng(0).integers(-9, 9, (6, 35)).astype("float32")
    y = np.zeros_like(x)
    tw.build(sch.mod, target, schedule=False)["two_steps"](x, y)
    np.testing.assert_array_equal(y, x[:, ::-1] * 2 + 1)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_virtual_threads_run_on_a_cpu(target):
    sch = tw.Schedule(two_steps)
    outer, inner = sch.split(sch.get_loops("Y")[0], [2, 3])
    sch.bind(outer, "vthread.x")
    sch.compute_at("A", inner)
    check(sch, target)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_double_buffer_keeps_the_numbers(target):
    sch = tw.Schedule(two_steps)
    sch.compute_at("A", sch.get_loops("Y")[0])
    before = tw.build(sch.mod, "c", schedule=False).get_source()
    sch.annotate("A", "double_buffer_scope", 0)
    check(sch, target)
    source = tw.build(sch.mod, "c", schedule=False).get_source()
    assert "A[35];" in before
    assert "A[72];" in source


def test_loops_of_c_source_are_32_bits_wide_where_all_values_fit():
    @T.prim_func
    def main(Y: T.Buffer((T.int64(35),), "float32")):
        for i in range(T.int64(35)):
            with T.block("Y"):
                vi = T.axis.spatial(T.int64(35), i)
                Y[vi] = T.float32(1)

    source = tw.build(main, "c", schedule=False).get_source()
    assert "for (int32_t i = 0; i < 35; ++i)" in source
    assert "int64_t i" not in source


def test_buffers_that_do_not_live_together_share_memory():
    @T.prim_func
    def main(X: T.Buffer((127,), "float32"), Y: T.Buffer((127,), "float32")):
        A = T.alloc_buffer((127,), "float32")
        B = T.alloc_buffer((127,), "float32")
        C = T.alloc_buffer((127,), "float32")
        for i in range(127):
            with T.block("A"):
                vi = T.axis.spatial(127, i)
                A[vi] = X[126 - vi] + T.float32(1)
        for i in range(127):
            with T.block("B"):
                vi = T.axis.spatial(127, i)
                B[vi] = A[126 - vi] * T.float32(2)
        for i in range(127):
            with T.block("C"):
                vi = T.axis.spatial(127, i)
                C[vi] = B[126 - vi] + T.float32(3)
        for i in range(127):
            with T.block("Y"):
                vi = T.axis.spatial(127, i)
                Y[vi] = C[126 - vi]

    lib = tw.build(main, "c", schedule=False)
    assert lib.get_source().count("[127];") == 2
    x = np.arange(127, dtype="float32")
    y = np.zeros_like(x)
    lib["main"](x, y)
    np.testing.assert_array_equal(y, (x + 1) * 2 + 3)


def test_a_rolling_buffer_lives_through_all_iterations():
    @T.prim_func
    def main(X: T.Buffer((18,), "float32"), Y: T.Buffer((16,), "float32")):
        A = T.alloc_buffer((18,), "float32")
        for i in range(18):
            with T.block("A"):
                vi = T.axis.spatial(18, i)
                A[vi] = X[vi] * T.float32(2)
        for i in range(16):
            with T.block("Y"):
                vi = T.axis.spatial(16, i)
                Y[vi] = A[vi] + A[vi + 1] + A[vi + 2]

    sch = tw.Schedule(main)
    sch.compute_at("A", sch.get_loops("Y")[0])
    sch.rolling_buffer("A", 0)
    x = np.arange(18, dtype="float32")
    y = np.zeros(16, "float32")
    tw.build(sch.mod, schedule=False)["main"](x, y)
    np.testing.assert_array_equal(y, 2 * (x[:-2] + x[1:-1] + x[2:]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_ldexp_is_exact_up_to_the_smallest_numbers(dtype, target):
    func = tw.script.parse(f"""
        @T.prim_func
        def scaled(X: T.Buffer((7,), "{dtype}"), N: T.Buffer((7,), "int32"), Y: T.Buffer((7,), "{dtype}")):
            for i in T.vectorized(7):
                Y[i] = T.ldexp(X[i], N[i])
    """)
    x = np.array([1.5, -1.2345, 3.0, np.inf, -0.0, np.nan, 1e-30], dtype)
    y = np.zeros_like(x)
    lib = tw.build(func, target)
    smallest = np.finfo(dtype).minexp - np.finfo(dtype).nmant
    for n in (0, 5, -7, 127, smallest - 1, smallest, smallest + 3, 1023, 5000, -5000):
        lib(x, np.full(7, n, "int32"), y)
        with np.errstate(over="ignore", under="ignore"):
            np.testing.assert_array_equal(y, np.ldexp(x, n))
