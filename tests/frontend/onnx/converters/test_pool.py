"""Pools."""

import numpy as np
from onnx_testing import run_node

X = np.arange(2 * 3 * 6 * 9, dtype="float32").reshape(2, 3, 6, 9) % 17
WINDOWS = np.lib.stride_tricks.sliding_window_view(X, (2, 3), (2, 3))[:, :, ::2, ::3]


def test_windows():
    options = {"kernel_shape": [2, 3], "strides": [2, 3]}
    np.testing.assert_array_equal(run_node("MaxPool", [X], **options), WINDOWS.max((-2, -1)))
    np.testing.assert_allclose(run_node("AveragePool", [X], **options), WINDOWS.mean((-2, -1)), rtol=1e-6)
    np.testing.assert_allclose(
        run_node("LpPool", [X], p=2, **options), np.sqrt((WINDOWS**2).sum((-2, -1))), rtol=1e-5
    )


def test_padding_counts_where_that_is_asked_for():
    row = np.array([[[3, 5, 7]]], "float32")
    options = {"kernel_shape": [3], "pads": [1, 1]}
    np.testing.assert_array_equal(run_node("AveragePool", [row], **options), [[[4, 5, 6]]])
    np.testing.assert_allclose(
        run_node("AveragePool", [row], count_include_pad=1, **options), [[[8 / 3, 5, 4]]], rtol=1e-6
    )


def test_whole_pictures():
    np.testing.assert_array_equal(run_node("GlobalMaxPool", [X]), X.max((2, 3), keepdims=True))
    np.testing.assert_allclose(run_node("GlobalAveragePool", [X]), X.mean((2, 3), keepdims=True), rtol=1e-5)
