"""Reductions."""

import numpy as np
import onnx
import pytest
from onnx_testing import run_node

import tilewright

X = np.linspace(0.25, 2, 70, dtype="float32").reshape(2, 5, 7)
REDUCTIONS = {
    "ReduceL1": lambda x: np.abs(x).sum(1),
    "ReduceL2": lambda x: np.sqrt((x**2).sum(1)),
    "ReduceLogSum": lambda x: np.log(x.sum(1)),
    "ReduceLogSumExp": lambda x: np.log(np.exp(x).sum(1)),
    "ReduceMax": lambda x: x.max(1),
    "ReduceMean": lambda x: x.mean(1),
    "ReduceMin": lambda x: x.min(1),
    "ReduceProd": lambda x: x.prod(1),
    "ReduceSum": lambda x: x.sum(1),
    "ReduceSumSquare": lambda x: (x**2).sum(1),
}


@pytest.mark.parametrize("op", REDUCTIONS)
def test_axes_are_an_input_since_opset_18(op):
    expected = REDUCTIONS[op](X)
    axes = np.array([-2], "int64")
    np.testing.assert_allclose(run_node(op, [X, axes], constants=[1], keepdims=0), expected, rtol=1e-5)
    if op != "ReduceSum":
        np.testing.assert_allclose(run_node(op, [X], axes=[1], opset=13), expected[:, None], rtol=1e-5)


def test_no_axes_are_all_or_none():
    np.testing.assert_allclose(run_node("ReduceSum", [X], keepdims=0), X.sum(), rtol=1e-5)
    np.testing.assert_array_equal(run_node("ReduceSum", [X], noop_with_empty_axes=1), X)


def test_the_first_or_the_last_of_equal_elements():
    x = np.array([[1, 3, 3], [2, 2, 0]], "float32")
    np.testing.assert_array_equal(run_node("ArgMax", [x], axis=1, keepdims=0), [1, 0])
    np.testing.assert_array_equal(run_node("ArgMax", [x], axis=1, keepdims=0, select_last_index=1), [2, 1])
    np.testing.assert_array_equal(run_node("ArgMin", [x], axis=-1), [[0], [2]])


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_the_last_of_an_open_extent(op, keepdims):
    node = onnx.helper.make_node(op, ["x"], ["y"], axis=0, keepdims=keepdims, select_last_index=1)
    for shape in (("n",), ("n", 7)):
        graph = onnx.helper.make_graph(
            [node],
            "main",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None)],
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)])
        main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
        for extent in (1, 5, 127):
            x = np.random.default_rng(extent).integers(0, 3, (extent, *shape[1:])).astype("float32")
            found = (np.argmax if op == "ArgMax" else np.argmin)(x[::-1], 0, keepdims=bool(keepdims))
            np.testing.assert_array_equal(main(x).numpy(), extent - 1 - found)
