"""Operators that arrange elements anew: pads, tiles, parts, blocks, sums along an axis."""

import numpy as np
import pytest
from onnx_testing import run_node

import tilewright

X = np.arange(35, dtype="float32").reshape(5, 7)
PICTURE = np.arange(2 * 8 * 3 * 5, dtype="float32").reshape(2, 8, 3, 5)


def test_pad():
    pads = np.array([1, 2, 0, 3], "int64")
    found = run_node("Pad", [X, pads, np.array(9, "float32")], constants=[1])
    np.testing.assert_array_equal(found, np.pad(X, [(1, 0), (2, 3)], constant_values=9))


def test_pads_that_remove_more_than_there_is():
    """The standard does not say what is left: onnxruntime adds the pads up."""
    pads = np.array([-5, 0, 4, 0], "int64")
    with pytest.raises(tilewright.UserError) as error:
        run_node("Pad", [X[:2], pads], constants=[1])
    assert str(error.value).splitlines()[0].endswith("the pads remove 5 elements of 2 in dimension 0")
    np.testing.assert_array_equal(
        run_node("Pad", [X[:5], pads], constants=[1]), np.zeros((4, X.shape[1]), "float32")
    )


@pytest.mark.parametrize("mode", ["edge", "reflect", "wrap"])
def test_pad_modes(mode):
    pads = np.array([2, 0, 1, 3], "int64")
    np.testing.assert_array_equal(
        run_node("Pad", [X, pads], constants=[1], mode=mode), np.pad(X, [(2, 1), (0, 3)], mode)
    )


def test_expand_and_tile():
    row, shape, repeats = X[:1], np.array([3, 1, 7], "int64"), np.array([2, 3], "int64")
    np.testing.assert_array_equal(
        run_node("Expand", [row, shape], constants=[1]), np.broadcast_to(row, (3, 1, 7))
    )
    np.testing.assert_array_equal(run_node("Tile", [X, repeats], constants=[1]), np.tile(X, (2, 3)))


def test_split():
    sizes = np.array([3, 0, 4], "int64")
    found = run_node("Split", [X, sizes], constants=[1], outputs=3, axis=-1)
    for part, expected in zip(found, np.split(X, [3, 3], axis=1), strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(mode):
    n, c, h, w = PICTURE.shape
    blocks = PICTURE.reshape((n, 2, 2, c // 4, h, w) if mode == "DCR" else (n, c // 4, 2, 2, h, w))
    order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    np.testing.assert_array_equal(
        run_node("DepthToSpace", [PICTURE], blocksize=2, mode=mode),
        blocks.transpose(order).reshape(n, c // 4, 2 * h, 2 * w),
    )


def test_space_to_depth_is_the_inverse():
    deep = run_node("DepthToSpace", [PICTURE], blocksize=2)
    np.testing.assert_array_equal(run_node("SpaceToDepth", [deep], blocksize=2), PICTURE)


def test_cumulative_sums():
    axis = np.array(1, "int64")
    sums = np.cumsum(X[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_array_equal(run_node("CumSum", [X, axis], constants=[1], reverse=1), sums)
    np.testing.assert_array_equal(
        run_node("CumSum", [X, axis], constants=[1], reverse=1, exclusive=1), sums - X
    )


def test_einsum():
    np.testing.assert_allclose(run_node("Einsum", [X, X], equation="ik,jk->ij"), X @ X.T)


def test_top_k():
    found = run_node("TopK", [X, np.array([3], "int64")], constants=[1], outputs=2, largest=0)
    np.testing.assert_array_equal(found[0], X[:, :3])
    np.testing.assert_array_equal(found[1], np.tile([0, 1, 2], (5, 1)))


def test_running_products():
    axis, x = np.array(1, "int64"), X / 20
    np.testing.assert_allclose(
        run_node("CumProd", [x, axis], constants=[1], opset=26), np.cumprod(x, 1), rtol=1e-5
    )
    expected = np.cumprod(np.concatenate([np.ones((5, 1), "float32"), x[:, :0:-1]], 1), 1)[:, ::-1]
    found = run_node("CumProd", [x, axis], constants=[1], opset=26, reverse=1, exclusive=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
