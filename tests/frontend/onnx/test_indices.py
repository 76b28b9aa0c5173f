"""Indices that come with the data: those below 0 count from the end, those outside are refused."""

import numpy as np
import pytest
from onnx import helper  # noqa: E402
from onnx_testing import run_node

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")

runtime = pytest.importorskip("onnxruntime")

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


def first_line(error) -> str:
    return str(error).partition("\n")[0]


def refusal(main, *arrays) -> str:
    with pytest.raises(tilewright.UserError) as error:
        main(*arrays)
    return first_line(error.value)


# operator, attributes, legal arrays, the index that is replaced, the dimension it is an index of
PLACES = [
    ("Gather", {"axis": 0}, [X, np.array([1, 0, -5])], (1,), 0),
    ("Gather", {"axis": -1}, [X, np.array(2)], (), 1),
    ("Gather", {"axis": 1}, [X, np.array([[0, 6], [-7, 1]])], (1, 0), 1),
    ("GatherElements", {"axis": 0}, [X, RNG.integers(-5, 5, (3, 7))], (2, 6), 0),
    ("GatherElements", {"axis": 1}, [X, RNG.integers(-7, 7, (5, 4))], (0, 3), 1),
    ("GatherND", {}, [X, np.array([[0, 1], [4, -7]])], (1, 1), 1),
    ("GatherND", {}, [X, np.array([[0], [4]])], (0, 0), 0),
    ("GatherND", {"batch_dims": 1}, [X, RNG.integers(-7, 7, (5, 1))], (4, 0), 1),
    ("ScatterElements", {"axis": 0}, [X, np.tile([[-1], [0], [2]], 7), UPDATES], (0, 2), 0),
    ("ScatterElements", {"axis": 1}, [X, np.array([[6], [-7]]), UPDATES[:2, :1]], (1, 0), 1),
    ("ScatterND", {}, [X, np.array([[-1], [0], [2]]), UPDATES], (2, 0), 0),
    ("ScatterND", {}, [X, np.array([[-1, 6], [0, 3]]), UPDATES[0, :2]], (0, 1), 1),
]
IDS = [f"{op}{attrs}{arrays[1].shape}" for op, attrs, arrays, *_ in PLACES]


@pytest.mark.parametrize(("op", "attrs", "arrays", "place", "dim"), PLACES, ids=IDS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_indices_outside_are_refused_when_the_model_runs(op, attrs, arrays, place, dim, dtype):
    if op.endswith("ND"):
        dtype = "int64"  # the only one that they take
    arrays = [arrays[0], arrays[1].astype(dtype), *arrays[2:]]
    expected = by_onnxruntime(op, attrs, arrays)
    extent = X.shape[dim]
    far = np.iinfo(dtype)
    for main in calls(op, attrs, arrays):
        for index in (extent, -extent - 1, far.max, far.min):
            outside = arrays[1].copy()
            outside[place] = index
            assert refusal(main, arrays[0], outside, *arrays[2:]) == (
                f'error: {op} node that makes "y": index {index} is outside of dimension {dim}, which has extent {extent}'
            )
        np.testing.assert_array_equal(main(*arrays).numpy(), expected)


def with_constant_indices(op, attrs, arrays, shape):
    """The model whose indices are a constant, and whose data has `shape`."""
    model = model_of(op, attrs, arrays, [shape, *(array.shape for array in arrays[1:])])
    del model.graph.input[1]
    model.graph.initializer.append(onnx.numpy_helper.from_array(arrays[1], "b"))
    return from_onnx(model)


@pytest.mark.parametrize(("op", "attrs", "arrays", "place", "dim"), PLACES, ids=IDS)
@pytest.mark.parametrize("index", [1, -1], ids=["above", "below"])
def test_constant_indices_outside_are_refused_as_soon_as_extents_are_known(
    op, attrs, arrays, place, dim, index
):
    extent = X.shape[dim]
    constant = arrays[1].copy()
    constant[place] = index = extent if index > 0 else -extent - 1
    arrays = [arrays[0], constant, *arrays[2:]]
    where = f'{op} node that makes "y": index {index} is outside of dimension {dim}, which has extent'
    with pytest.raises(tilewright.UserError) as error:
        with_constant_indices(op, attrs, arrays, X.shape)
    assert first_line(error.value) == f"error: {where} {extent}"
    names = [f"d{axis}" if axis == dim else size for axis, size in enumerate(X.shape)]
    module = with_constant_indices(op, attrs, arrays, names)
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    assert refusal(main, X, *arrays[2:]) == f"error: main: {where} d{dim} = {extent}"


def test_many_constant_indices_are_compared_when_the_model_is_imported():
    indices = np.zeros(5000, "int64")
    indices[[17, 4321]] = [-5, 7]
    with pytest.raises(tilewright.UserError) as error:
        with_constant_indices("Gather", {}, [X, indices], X.shape)
    assert first_line(error.value) == (
        'error: Gather node that makes "y": index 7 is outside of dimension 0, which has extent 5'
    )


@pytest.mark.parametrize("shape", [X.shape, ["n", 7]], ids=["fixed", "open"])
def test_constant_indices_inside_are_not_compared_when_the_model_runs(shape):
    text = with_constant_indices("Gather", {}, [X, np.array([0, -1])], shape).script()
    assert "require_indices" not in text


def test_no_indices_are_none_outside():
    none = np.zeros((0,), "int64")
    for main in calls("Gather", {}, [X, none]):
        assert main(X, none).shape == (0, 7)


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


@pytest.mark.parametrize("index", [1 << 40, -(1 << 40), -6, 5])
@pytest.mark.parametrize(("op", "shape"), [("Gather", (1,)), ("GatherElements", (1,)), ("GatherND", (1, 1))])
def test_gathers_read_no_foreign_memory(op, shape, index):
    x = np.arange(5, dtype="float32")
    with pytest.raises(tilewright.UserError) as error:
        run_node(op, [x, np.full(shape, index)])
    assert (
        str(error.value)
        == f'error: {op} node that makes "y0": index {index} is outside of dimension 0, which has extent 5'
    )
    assert run_node(op, [x, np.full(shape, -1)]) == [4]
