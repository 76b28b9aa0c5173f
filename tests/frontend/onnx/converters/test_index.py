"""Reads and writes of elements by indices; more is in test_indices."""

import numpy as np
import pytest
from onnx_testing import run_node

X = np.arange(35, dtype="float32").reshape(5, 7)


def test_gather():
    indices = np.array([[4, -1], [0, 2]])
    np.testing.assert_array_equal(run_node("Gather", [X, indices], axis=1), X[:, indices])


def test_gather_elements():
    indices = np.array([[6, -7, 3], [0, 1, 2]])
    found = run_node("GatherElements", [X[:2], indices], axis=1)
    np.testing.assert_array_equal(found, np.take_along_axis(X[:2], indices % 7, axis=1))


def test_gather_nd():
    places = np.array([[4, 6], [0, -2]])
    np.testing.assert_array_equal(run_node("GatherND", [X, places]), [X[4, 6], X[0, 5]])


@pytest.mark.parametrize(
    ("reduction", "expected"), [("none", [[9, 1, 8]]), ("add", [[9, 1, 10]]), ("mul", [[0, 1, 16]])]
)
def test_scatter_elements(reduction, expected):
    data, indices = np.arange(3, dtype="float32")[None], np.array([[0, 2]])
    found = run_node(
        "ScatterElements",
        [data, indices, np.array([[9, 8]], "float32")],
        axis=1,
        reduction=reduction,
        opset=18,
    )
    np.testing.assert_array_equal(found, expected)


def test_scatter_nd():
    expected = X.copy()
    expected[1, 3] = -1
    found = run_node("ScatterND", [X, np.array([[1, 3]]), np.array([-1], "float32")])
    np.testing.assert_array_equal(found, expected)


def test_reverse_sequence():
    found = run_node("ReverseSequence", [X, np.array([3, 1, 7, 2, 5])], batch_axis=0, time_axis=1)
    expected = X.copy()
    for row, length in zip(expected, (3, 1, 7, 2, 5), strict=True):
        row[:length] = row[:length][::-1].copy()
    np.testing.assert_array_equal(found, expected)
