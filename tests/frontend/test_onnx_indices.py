"""Indices that come with the data: those below 0 count from the end, those outside never leave the arrays."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import helper  # noqa: E402

RNG = np.random.default_rng(17)
X = RNG.standard_normal((5, 7)).astype("float32")


def model_of(op, attrs, arrays, shapes, opset=17):
    """One node `op` of inputs a, b, ...; None leaves one out."""
    names = "abc"[: len(arrays)]
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)
        for name, array, shape in zip(names, arrays, shapes, strict=True)
    ]
    kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
    output = helper.make_tensor_value_info("y", kind, None)
    graph = helper.make_graph([helper.make_node(op, list(names), ["y"], **attrs)], "g", values, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def calls(op, attrs, arrays):
    """The model with fixed and with open extents (but of the last dimension of indices), called with `arrays`."""
    fixed = [array.shape for array in arrays]
    opened = [
        [
            size if n == 1 and axis == array.ndim - 1 else f"d{n}{axis}"
            for axis, size in enumerate(array.shape)
        ]
        for n, array in enumerate(arrays)
    ]
    if op != "GatherND":
        opened = [[f"d{n}{axis}" for axis in range(array.ndim)] for n, array in enumerate(arrays)]
    if op == "ScatterND":
        opened[1] = fixed[1]
    for shapes in (fixed, opened):
        model = model_of(op, attrs, arrays, shapes)
        yield tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]


def by_onnxruntime(op, attrs, arrays):
    model = model_of(op, attrs, arrays, [array.shape for array in arrays])
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, dict(zip("abc", arrays, strict=False)))[0]


UPDATES = RNG.standard_normal((3, 7)).astype("float32")
NEGATIVE = [
    ("Gather", {"axis": 1}, [X, np.array([-1, 0, -7, 6])]),
    ("GatherElements", {"axis": 0}, [X, RNG.integers(-5, 5, (3, 7))]),
    ("GatherElements", {"axis": 1}, [X, RNG.integers(-7, 7, (5, 4)).astype("int32")]),
    ("GatherND", {}, [X, np.array([[-1, -7], [4, 6], [0, -1]])]),
    ("GatherND", {"batch_dims": 1}, [X, RNG.integers(-7, 7, (5, 1))]),
    ("ScatterElements", {"axis": 0}, [X, np.tile([[-1], [0], [2]], 7), UPDATES]),
    ("ScatterND", {}, [X, np.array([[-1], [0], [2]]), UPDATES]),
]


@pytest.mark.parametrize(
    ("op", "attrs", "arrays"), NEGATIVE, ids=[f"{op}{attrs}" for op, attrs, _ in NEGATIVE]
)
def test_indices_below_zero_count_from_the_end(op, attrs, arrays):
    expected = by_onnxruntime(op, attrs, arrays)
    for main in calls(op, attrs, arrays):
        np.testing.assert_array_equal(main(*arrays).numpy(), expected)


FAR = np.iinfo("int64")
OUTSIDE = [
    ("Gather", {}, np.array([5, -6, FAR.max, FAR.min]), X[[4, 0, 4, 0]]),
    ("GatherElements", {}, np.array([[5] * 7, [-6] * 7, [FAR.max] * 7, [FAR.min] * 7]), X[[4, 0, 4, 0]]),
    ("GatherND", {}, np.array([[5, 0], [0, 7], [-6, FAR.min], [FAR.max, 1]]), X[[4, 0, 0, 4], [0, 6, 0, 1]]),
]


@pytest.mark.parametrize(("op", "attrs", "indices", "expected"), OUTSIDE, ids=[case[0] for case in OUTSIDE])
def test_indices_outside_are_brought_inside(op, attrs, indices, expected):
    for main in calls(op, attrs, [X, indices]):
        np.testing.assert_array_equal(main(X, indices).numpy(), expected)


@pytest.mark.parametrize("index", [5, -6, FAR.max, FAR.min])
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_indices_outside_write_nothing(op, index):
    indices = np.array([[index]]) if op == "ScatterND" else np.full((1, 7), index)
    arrays = [X, indices, UPDATES[:1]]
    name = {"ScatterElements": "scatter_elements", "ScatterND": "scatter_nd"}[op]
    for main in calls(op, {}, arrays):
        with pytest.raises(tilewright.UserError) as error:
            main(*arrays)
        assert str(error.value) == f"error: {name}: index {index} is outside of a dimension of extent 5"


def test_one_hot_of_indices_outside_is_off():
    indices = np.array([-4, -3, -1, 0, 2, 3, FAR.max, FAR.min])
    values = [
        helper.make_tensor_value_info("i", onnx.TensorProto.INT64, ["n"]),
        helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None),
    ]
    weights = {"depth": np.array(3), "values": np.array([0.5, 2], "float32")}
    graph = helper.make_graph(
        [helper.make_node("OneHot", ["i", "depth", "values"], ["y"])],
        "g",
        values[:1],
        values[1:],
        [onnx.numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    result = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"](indices).numpy()
    expected = np.full((8, 3), 0.5, "float32")
    for row, column in [(1, 0), (2, 2), (3, 0), (4, 2)]:
        expected[row, column] = 2
    np.testing.assert_array_equal(result, expected)
