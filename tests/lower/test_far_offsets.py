"""Offsets of elements are counted in as many bits as they need, whatever counts the indices."""

import numpy as np
import pytest

import tilewright
from tilewright import te
from tilewright.script import tir as T


def lookup(rows, dtype):
    table, index = te.placeholder((*rows, 16), "float32", "X"), te.placeholder((4,), dtype, "I")
    return te.create_prim_func([table, index, te.compute((4, 16), lambda i, j: table(index(i), j), "C")])


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
@pytest.mark.parametrize("rows", [(100,), ("n",)])
def test_indices_of_few_bits(target, dtype, rows):
    """Found: rows were multiplied by their length in the eight bits of the index."""
    rows = [te.var(each) if isinstance(each, str) else each for each in rows]
    table = np.random.default_rng(0).random((100, 16), "float32")
    index = np.array([1, 9, 50, 99], dtype)
    found = np.zeros((4, 16), "float32")
    tilewright.build(lookup(rows, dtype), target)["main"](table, index, found)
    np.testing.assert_array_equal(found, table[index.astype("int64")])


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_stores_at_indices_of_few_bits(target):
    @T.prim_func
    def scatter(index: T.Buffer((5,), "int16"), out: T.Buffer((300, 300), "int32")):
        for i in range(5):
            out[index[i], i] = i + 1

    index = np.array([299, 0, 127, 128, 200], "int16")
    expected, found = np.zeros((300, 300), "int32"), np.zeros((300, 300), "int32")
    expected[index, np.arange(5)] = np.arange(5) + 1
    tilewright.build(scatter, target)["scatter"](index, found)
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def far():
    """2.8 GB of addresses, of which a few pages are touched."""
    array = np.zeros((70000, 40000), "int8")
    array[60007, 5], array[69999, 5] = 7, 9
    return array


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("shape", [(70000, 40000), ("n", "m")])
def test_rows_beyond_two_gigabytes(far, target, shape):
    """Found: it crashed."""
    extents = [te.var(each) if isinstance(each, str) else each for each in shape]
    table, index = te.placeholder(extents, "int8", "X"), te.placeholder((4,), "int32", "I")
    func = te.create_prim_func([table, index, te.compute((4,), lambda i: table(index(i), 5), "C")])
    found = np.zeros(4, "int8")
    tilewright.build(func, target)["main"](far, np.array([1, 60000, 60007, 69999], "int32"), found)
    assert found.tolist() == [0, 0, 7, 9]


@T.prim_func
def column_in_parallel(A: T.Buffer((70000, 40000), "int8"), B: T.Buffer((70000,), "int8")):
    for i in T.parallel(70000):
        B[i] = A[i, 5]


@T.prim_func
def column(A: T.Buffer((70000, 40000), "int8"), B: T.Buffer((70000,), "int8")):
    for i in range(70000):
        B[i] = A[i, 5]


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("func", [column, column_in_parallel])
def test_loops_beyond_two_gigabytes(func, target):
    """Found: parallel ones crashed on target c.  (Run by hand with the array above: all of it comes in.)"""
    library = tilewright.build(func, target, schedule=False)
    if target == "c":
        assert "A[(int64_t)i * 40000 + 5]" in library.get_source("c")
    else:
        text = library.get_source("ll")
        assert "40000" in text
        assert "i32 40000" not in text
        assert "mul i32" not in text


def test_vectors_beyond_two_gigabytes_stay_vectors():
    @T.prim_func
    def copy_row(A: T.Buffer((70000, 40000), "int8"), B: T.Buffer((2500, 16), "int8")):
        for j in range(2500):
            for v in T.vectorized(16):
                B[j, v] = A[60007, j * 16 + v]

    text = tilewright.build(copy_row, schedule=False).get_source("ll")
    assert "load <16 x i8>" in text
    assert "insertelement" not in text


def test_loops_of_more_iterations_than_32_bits_count():
    """Found: a fused loop had a negative extent, and nothing was computed."""
    x = te.placeholder((70000, 40000), "int8", "X")
    sch = tilewright.Schedule(te.create_prim_func([x, te.compute(x.shape, lambda i, j: x(i, j), "C")]))
    fused = sch.fuse(*sch.get_loops(sch.get_block("C")))
    loop = sch.get(fused)
    assert (loop.loop_var.dtype, int(loop.extent)) == ("int64", 2_800_000_000)
    small = tilewright.Schedule(lookup((100,), "int32"))
    assert small.get(small.fuse(*small.get_loops(small.get_block("C")))).loop_var.dtype == "int32"


@pytest.mark.parametrize("target", ["llvm", "llvm -opt-level=0", "c"])
@pytest.mark.parametrize(("dtype", "n"), [("uint8", 200), ("uint16", 40_000), ("int16", 20_000)])
def test_indices_without_sign_are_not_negative(dtype, n, target):
    func = tilewright.script.parse(f"""
@T.prim_func
def main(A: T.Buffer((50000,), "float32"), n: T.{dtype}, B: T.Buffer((2,), "float32")):
    C = T.alloc_buffer((T.max(T.Cast("{dtype}", 1), n),), "float32")
    for i in range(T.Cast("int32", n)):
        C[i] = A[i] + T.float32(1)
    B[0] = A[n]
    B[1] = C[T.Cast("int32", n) - 1]
""")
    a, b = np.arange(50_000, dtype="float32"), np.zeros(2, "float32")
    tilewright.build(func, target)(a, n, b)
    assert b.tolist() == [n, n]
