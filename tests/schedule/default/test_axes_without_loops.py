"""Sums some of whose axes have no loop, but one value, get schedules of others or none."""

import numpy as np
import pytest

import tilewright
from tilewright import te
from tilewright.script import tir as T

rng = np.random.default_rng(0)
A, B = rng.random((6, 8), "float32"), rng.random((8, 20), "float32")


def numbers(func, *arrays, shape):
    found = np.zeros(shape, "float32")
    tilewright.build(func)[func.attrs["global_symbol"]](*arrays, found)
    return found


def test_sum_over_one_term_of_a_sum():
    """Found: internal error, block D has no loop that sums."""
    a, r, s = te.placeholder((8, 8), "float32", "A"), te.reduce_axis((0, 8)), te.reduce_axis((0, 1))
    c = te.compute((8, 1), lambda i, j: te.sum(a(r, i), axis=r), "C")
    d = te.compute((8,), lambda i: te.sum(c(i, s), axis=s), "D")
    square = rng.random((8, 8), "float32")
    found = numbers(te.create_prim_func([a, d]), square, shape=8)
    np.testing.assert_allclose(found, square.sum(0), rtol=1e-6)


@T.prim_func
def one_column_read(
    A: T.Buffer((6, 8), "float32"), B: T.Buffer((8, 20), "float32"), D: T.Buffer((5, 1), "float32")
):
    C = T.alloc_buffer((6, 20), "float32")
    for j, i, q in T.grid(20, 6, 8):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, q])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]
    for i in range(5):
        with T.block("D"):
            vi = T.axis.spatial(5, i)
            vj = T.axis.spatial(1, 0)
            D[vi, vj] = T.max(C[vi, vj], 0.0) + 1.0


@T.prim_func
def one_term(
    A: T.Buffer((6, 8), "float32"), B: T.Buffer((8, 20), "float32"), C: T.Buffer((6, 20), "float32")
):
    for j, i in T.grid(20, 6):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(8, 0)
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@T.prim_func
def one_column(
    A: T.Buffer((6, 8), "float32"), B: T.Buffer((8, 20), "float32"), C: T.Buffer((6, 20), "float32")
):
    for i, k in T.grid(6, 8):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            vj = T.axis.spatial(20, 3)
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@pytest.mark.parametrize(
    ("func", "expected"),
    [
        (one_column_read, (A @ B)[:5, :1] + 1),
        (one_term, A[:, :1] @ B[:1]),
        (one_column, np.where(np.arange(20) == 3, A @ B, 0)),
    ],
)
def test_one_value(func, expected):
    """Found: internal error, the column axis of block D has no loop."""
    np.testing.assert_allclose(numbers(func, A, B, shape=expected.shape), expected, rtol=1e-6)
