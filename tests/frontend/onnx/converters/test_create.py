"""Operators that make tensors of extents, numbers and indices."""

import numpy as np
import onnx
from onnx_testing import run_node

X = np.arange(35, dtype="float32").reshape(5, 7)


def test_constant_of_shape():
    value = onnx.helper.make_tensor("v", onnx.TensorProto.INT32, [1], [3])
    found = run_node("ConstantOfShape", [np.array([2, 7], "int64")], constants=[0], value=value)
    np.testing.assert_array_equal(found, np.full((2, 7), 3, "int32"))


def test_eye_like():
    np.testing.assert_array_equal(run_node("EyeLike", [X], k=-1), np.eye(5, 7, k=-1, dtype="float32"))


def test_one_hot():
    indices, depth, values = np.array([2, -1, 9]), np.array(4), np.array([0.5, 2], "float32")
    expected = np.full((3, 4), 0.5, "float32")
    expected[0, 2] = expected[1, 3] = 2
    np.testing.assert_array_equal(run_node("OneHot", [indices, depth, values], constants=[1]), expected)


def test_range_and_size():
    bounds = [np.array(each, "int64") for each in (3, 12, 4)]
    np.testing.assert_array_equal(run_node("Range", bounds, constants=[0, 1, 2]), np.arange(3, 12, 4))
    assert run_node("Size", [X]) == 35


def test_triangles():
    np.testing.assert_array_equal(run_node("Trilu", [X]), np.triu(X))
    below = run_node("Trilu", [X, np.array(-1)], constants=[1], upper=0)
    np.testing.assert_array_equal(below, np.tril(X, -1))
