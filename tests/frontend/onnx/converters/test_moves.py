"""Moves of elements: shapes, slices, permutations, joins."""

import numpy as np
import pytest
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from onnx_testing import run_node

import tilewright

X = np.arange(70, dtype="float32").reshape(2, 5, 7)


def ints(*values):
    return np.array(values, "int64")


def test_reshape_keeps_and_infers_extents():
    found = run_node("Reshape", [X, ints(0, -1, 1)], constants=[1])
    np.testing.assert_array_equal(found, X.reshape(2, 35, 1))


def test_squeeze_whose_axes_are_left_out():
    node = helper.make_node("Squeeze", ["x", ""], ["y"])
    x = helper.make_tensor_value_info("x", 1, [1, 5, 1])
    graph = helper.make_graph([node], "g", [x], [helper.make_tensor_value_info("y", 1, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    np.testing.assert_array_equal(main(X[:1, :, :1]).numpy(), X[0, :, 0])


def test_slices_of_negative_steps():
    found = run_node("Slice", [X, ints(6, -1), ints(-8, 0), ints(2, 1), ints(-2, -1)], constants=[1, 2, 3, 4])
    np.testing.assert_array_equal(found, X[:, :0:-1, ::-2])


def test_extents_of_one():
    np.testing.assert_array_equal(run_node("Unsqueeze", [X, ints(0, -1)], constants=[1]), X[None, ..., None])
    np.testing.assert_array_equal(run_node("Squeeze", [X[:1], ints(0)], constants=[1]), X[0])


def test_transpose_flatten_and_identity():
    np.testing.assert_array_equal(run_node("Transpose", [X], perm=[2, 0, 1]), X.transpose(2, 0, 1))
    np.testing.assert_array_equal(run_node("Flatten", [X], axis=2), X.reshape(10, 7))
    np.testing.assert_array_equal(run_node("Identity", [X]), X)


def test_concat():
    np.testing.assert_array_equal(run_node("Concat", [X, X[:, :3]], axis=1), np.concatenate([X, X[:, :3]], 1))


def test_shape():
    np.testing.assert_array_equal(run_node("Shape", [X], start=-2), [5, 7])


def test_a_slice_that_is_empty_at_every_open_extent():
    for start, end, step in [(2, 0, 3), (0, 3, -1), (-1, -4, 2)]:
        bounds = [helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["y"])]
        weights = {"start": start, "end": end, "axis": 1, "step": step}
        tensors = [numpy_helper.from_array(ints(value), name) for name, value in weights.items()]
        infos = [helper.make_tensor_value_info("x", 1, ["n", "m"]), helper.make_empty_tensor_value_info("y")]
        graph = helper.make_graph(bounds, "g", infos[:1], infos[1:], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
        for columns in (0, 1, 2, 7):
            x = np.ones((3, columns), "float32")
            np.testing.assert_array_equal(main(x).numpy(), x[:, start:end:step])


def test_a_sparse_constant_is_refused():
    node = helper.make_node("Constant", [], ["c"])
    node.attribute.add(name="sparse_value", type=AttributeProto.SPARSE_TENSOR)
    output = helper.make_tensor_value_info("c", TensorProto.FLOAT, None)
    model = helper.make_model(helper.make_graph([node], "g", [], [output]), ir_version=8)
    model.opset_import[0].version = 17
    with pytest.raises(tilewright.Unsupported) as error:
        tilewright.frontend.onnx.from_onnx(model)
    assert str(error.value) == (
        'unsupported: Constant node that makes "c": attribute "sparse_value" is a sparse tensor\n'
        "help: store the tensor as a dense one"
    )
