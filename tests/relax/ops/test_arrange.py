"""Operators that put tensors together or keep parts of them, at odd sizes, against numpy."""

import numpy as np
import pytest
from op_data import CUBE, ROW, X, Y
from op_testing import check_op


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_stack(axis):
    check_op("stack", [[X, Y, X]], {"axis": axis}, np.stack([X, Y, X], axis))


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_meshgrid_of_three(indexing):
    vectors = [ROW, X[:, 0].copy(), ROW[:3].copy()]
    check_op("meshgrid", [vectors], {"indexing": indexing}, list(np.meshgrid(*vectors, indexing=indexing)))


@pytest.mark.parametrize("k", [-9, -2, 0, 1, 9])
def test_triangles(k):
    check_op("tril", [CUBE], {"k": k}, np.tril(CUBE, k))
    check_op("triu", [CUBE], {"k": k}, np.triu(CUBE, k))
    check_op("tril", [CUBE], {"k": k}, np.tril(CUBE, k), symbols=(5, 7))


@pytest.mark.parametrize(("n", "m", "k"), [(5, 7, 0), (7, 5, -2), (1, 127, 3), (5, 5, 9)])
def test_eye(n, m, k):
    check_op("eye", [n, m], {"k": k}, np.eye(n, m, k, dtype="float32"))


@pytest.mark.parametrize("shape", [(5, 7), (1, 7), (5, 1), (1, 1), (7,)])
def test_collapsed_sums(shape):
    axes = tuple(n for n in range(3) if n < 3 - len(shape) or shape[n - 3 + len(shape)] == 1)
    check_op("collapse_sum_to", [CUBE, shape], {}, CUBE.sum(axes).reshape(shape), atol=1e-5)
    check_op(
        "collapse_sum_like", [CUBE, np.zeros(shape, "float32")], {}, CUBE.sum(axes).reshape(shape), atol=1e-5
    )


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_pixel_shuffle(factor):
    x = np.arange(2 * 3 * factor**2 * 5 * 7, dtype="float32").reshape(2, 3 * factor**2, 5, 7)
    wanted = (
        x.reshape(2, 3, factor, factor, 5, 7)
        .transpose(0, 1, 4, 2, 5, 3)
        .reshape(2, 3, 5 * factor, 7 * factor)
    )
    check_op("nn.pixel_shuffle", [x], {"upscale_factor": factor}, wanted)


@pytest.mark.parametrize("length", [1, 5, 127])
@pytest.mark.parametrize("periodic", [False, True])
def test_hamming_window(length, periodic):
    wanted = np.hamming(length + 1)[:length] if periodic and length > 1 else np.hamming(length)
    check_op("hamming_window", [length], {"periodic": periodic}, wanted.astype("float32"))
