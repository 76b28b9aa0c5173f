"""Quantized operators with zero points of all kinds, at odd sizes, as models of quantization tools use them."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
from onnx import helper, numpy_helper  # noqa: E402


def run(path, nodes, inputs, weights):
    """Runs the nodes on `inputs` and returns "y"."""
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in inputs.items()
    ]
    tensors = [numpy_helper.from_array(x, name) for name, x in weights.items()]
    graph = helper.make_graph(nodes, "g", values, [onnx.ValueInfoProto(name="y")], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    (path / "model.onnx").write_bytes(model.SerializeToString())
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(str(path / "model.onnx"))))["main"]
    return main(*map(tilewright.tensor, inputs.values())).numpy()


def numbers(*shape, dtype="int8", seed=0):
    limits = np.iinfo(dtype)
    rng = np.random.default_rng([seed, *shape])
    return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def matmul_integer(path, a, b, za, zb, is_constant):
    """The product of the operator and that of numpy."""
    given = {"a": a, "b": b, "za": za, "zb": zb}
    used = {name: value for name, value in given.items() if value is not None}
    inputs = {name: used.pop(name) for name in ("a",) if name in used}
    if not is_constant:
        inputs, used = inputs | used, {}
    names = ["a", "b", "za" if za is not None else "", "zb" if zb is not None else ""]
    node = helper.make_node("MatMulInteger", names, ["y"])
    left, right = a.astype("int64"), b.astype("int64")
    if za is not None:
        left = left - (za.astype("int64")[:, None] if za.ndim else int(za))
    if zb is not None:
        right = right - zb.astype("int64")
    return run(path, [node], inputs, used), (left @ right).astype("int32")


@pytest.mark.parametrize(
    ("left", "right"), [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8"), ("int8", "uint8")]
)
@pytest.mark.parametrize("zeros", ["none", "one", "many"])
@pytest.mark.parametrize("is_constant", [True, False])
def test_matmul_integer(left, right, zeros, is_constant, tmp_path):
    a, b = numbers(5, 7, dtype=left), numbers(7, 127, dtype=right)
    za = {"none": None, "one": numbers(dtype=left), "many": numbers(5, dtype=left)}[zeros]
    zb = {"none": None, "one": numbers(dtype=right), "many": numbers(127, dtype=right)}[zeros]
    np.testing.assert_array_equal(*matmul_integer(tmp_path, a, b, za, zb, is_constant))


@pytest.mark.parametrize(
    ("a", "b"), [((2, 5, 8), (8, 16)), ((2, 5, 7), (2, 7, 3)), ((7,), (7, 5)), ((5, 7), (7,))]
)
def test_matmul_integer_of_other_shapes(a, b, tmp_path):
    a, b, za, zb = numbers(*a, dtype="uint8"), numbers(*b), numbers(dtype="uint8"), numbers()
    np.testing.assert_array_equal(*matmul_integer(tmp_path, a, b, za, zb, True))


@pytest.mark.parametrize(
    "x", [np.zeros((5, 7)), np.full((5, 7), 3.5), -np.arange(1.0, 6), np.linspace(-1, 2.5, 127)]
)
def test_dynamic_quantization(x, tmp_path):
    """The range of uint8 is that of x and 0; what is quantized comes back within half a step."""
    x = x.astype("float32")
    step = float(max(x.max(), 0) - min(x.min(), 0)) / 255
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    y = run(tmp_path, nodes, {"x": x}, {})
    np.testing.assert_allclose(y, x, rtol=0, atol=step * 0.501)
    assert (y[x == 0] == 0).all()


def test_convolution(tmp_path):
    """With scales of channels, bias and padding, as that of floats."""
    x, w = numbers(1, 6, 9, 7, dtype="uint8"), numbers(8, 3, 3, 3)
    scales = np.linspace(0.001, 0.004, 8).astype("float32")
    weights = {
        "xs": np.float32(0.02), "xz": np.uint8(131), "w": w, "ws": scales, "wz": np.zeros(8, "int8"),
        "ys": np.float32(0.05), "yz": np.uint8(120), "b": numbers(8, dtype="int16").astype("int32"),
    }  # fmt: skip
    weights = {name: np.asarray(value) for name, value in weights.items()}
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    node = helper.make_node("QLinearConv", names, ["y"], pads=[1, 0, 2, 1], strides=[2, 1], group=2)
    y = run(tmp_path, [node], {"x": x}, weights)
    padded = np.pad((x.astype("float64") - 131) * np.float32(0.02), ((0, 0), (0, 0), (1, 2), (0, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2]
    real = w * scales.astype("float64").reshape(8, 1, 1, 1)
    sums = [
        np.einsum("nchwij,ocij->nohw", windows[:, 3 * g : 3 * g + 3], real[4 * g : 4 * g + 4])
        for g in range(2)
    ]
    bias = (weights["b"] * np.float64(np.float32(0.02)) * scales).reshape(1, 8, 1, 1)
    steps = (np.concatenate(sums, 1) + bias) / np.float32(0.05) + 120
    expected = np.clip(np.round(steps), 0, 255)
    assert abs(y - expected).max() <= 1 and (y == expected).mean() > 0.99


@pytest.mark.parametrize(
    ("a", "b", "za", "zb"),
    [
        ((5, 5, 7), (7, 6), (5,), ()),
        ((2, 5, 7), (2, 7, 6), (), (6,)),
        ((7,), (2, 7, 6), (), (6,)),
        ((6,), (2, 6, 6), (), (6,)),
    ],
)
def test_zero_points_belong_to_rows_and_columns(a, b, za, zb, tmp_path):
    a, b = numbers(*a, dtype="uint8"), numbers(*b)
    za, zb = numbers(*za, dtype="uint8", seed=1), numbers(*zb, seed=2)
    np.testing.assert_array_equal(*matmul_integer(tmp_path, a, b, za, zb, True))
