"""Shapes as values in imported models, against onnx's own reference: ranks, dtypes and elements are kept."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

X = np.arange(60, dtype="float32").reshape(3, 4, 5)


def check(tmp_path, nodes, shape=("n", 4, "m"), weights=None):
    """The model of `nodes` (inputs x, output y) computes on X what the reference does."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [onnx.ValueInfoProto(name="y")],
        [onnx.numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (expected,) = ReferenceEvaluator(model).run(None, {"x": X})
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(str(path))))["main"]
    result = main(tilewright.tensor(X)).numpy()
    assert (result.shape, result.dtype) == (np.shape(expected), expected.dtype)
    np.testing.assert_array_equal(result, expected)


def test_a_shape_is_an_output(tmp_path):
    check(tmp_path, [helper.make_node("Shape", ["x"], ["y"])])


def test_a_constant_shape_is_an_output(tmp_path):
    check(tmp_path, [helper.make_node("Shape", ["x"], ["y"])], shape=(3, 4, 5))


@pytest.mark.parametrize(
    "bounds", [{"start": 1}, {"end": -1}, {"start": -2, "end": 9}, {"start": 2, "end": 1}], ids=str
)
def test_a_part_of_a_shape(tmp_path, bounds):
    check(tmp_path, [helper.make_node("Shape", ["x"], ["y"], **bounds)])


def test_one_extent_is_a_scalar(tmp_path):
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "i"], ["y"])]
    check(tmp_path, nodes, weights={"i": np.array(2)})


def test_a_list_of_one_extent_stays_a_list(tmp_path):
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Gather", ["s", "i"], ["y"])]
    check(tmp_path, nodes, weights={"i": np.array([2])})


def test_an_extent_made_a_list_and_a_scalar_again(tmp_path):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "i"], ["e"]),
        helper.make_node("Unsqueeze", ["e", "first"], ["l"]),
        helper.make_node("Squeeze", ["l"], ["y"]),
    ]
    check(tmp_path, nodes, weights={"i": np.array(0), "first": np.array([0])})


def test_a_shape_as_a_column(tmp_path):
    nodes = [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("Unsqueeze", ["s", "last"], ["y"])]
    check(tmp_path, nodes, weights={"last": np.array([1])})


def test_arithmetic_on_extents(tmp_path):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Mul", ["s", "two"], ["d"]),
        helper.make_node("Add", ["d", "three"], ["y"]),
    ]
    check(tmp_path, nodes, weights={"two": np.array(2), "three": np.array([3, 4, 5])})


def test_integers_divide_towards_zero(tmp_path):
    nodes = [helper.make_node("Div", ["a", "b"], ["y"])]
    check(tmp_path, nodes, weights={"a": np.array([-7, 7, -1]), "b": np.array([2, -2, 2])})


@pytest.mark.parametrize(
    "value",
    [{"value_int": 7}, {"value_ints": [5, 7]}, {"value_float": 0.5}, {"value_floats": [0.5, float("inf")]}],
    ids=lambda value: next(iter(value)),
)
def test_constants_without_a_tensor(tmp_path, value):
    check(tmp_path, [helper.make_node("Constant", [], ["y"], **value)])


def test_a_table_of_integers_is_looked_up_at_run_time(tmp_path):
    nodes = [
        helper.make_node("Reshape", ["x", "flat"], ["r"]),
        helper.make_node("Shape", ["r"], ["s"]),
        helper.make_node("Gather", ["table", "s"], ["y"]),
    ]
    weights = {"flat": np.array([-1, 2]), "table": np.arange(100, 200)}
    check(tmp_path, nodes, shape=(3, 4, 5), weights=weights)
