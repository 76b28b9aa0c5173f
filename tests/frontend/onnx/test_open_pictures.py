"""Convolutions, pools, norms and PRelu of open batch, channels and pictures, against onnxruntime."""

import numpy as np
import pytest

import tilewright
from tilewright.frontend.onnx import from_onnx

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper  # noqa: E402

RNG = np.random.default_rng(9)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def model_of(nodes, inputs, weights=None, opset=17):
    """inputs: extents by name; the output is y."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    graph = helper.make_graph(
        nodes,
        "g",
        values,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def check(model, *calls):
    """The model, imported once, computes what onnxruntime does."""
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [value.name for value in model.graph.input]
    for arrays in calls:
        (expected,) = session.run(None, dict(zip(names, arrays, strict=True)))
        result = main(*arrays).numpy()
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-4)


OPEN = {1: ["n", 2, "l"], 2: ["n", 2, "h", "w"], 3: ["n", 2, "d", "h", "w"]}
SIZES = {1: [(5,), (8,), (1,)], 2: [(5, 7), (8, 6), (1, 3)], 3: [(5, 7, 4), (2, 3, 6)]}


def pictures(ndim):
    return [(some(n + 1, 2, *size),) for n, size in enumerate(SIZES[ndim])]


WINDOWS = [  # kernel, stride, dilation
    (3, 1, 1),
    (3, 2, 1),
    (2, 2, 1),
    (4, 3, 1),
    (1, 2, 1),
    (2, 3, 1),
    (3, 1, 2),
]


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_conv(ndim, window, mode):
    kernel, stride, dilation = window
    if dilation > 1:
        pytest.skip("onnxruntime refuses auto_pad with dilations")
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], auto_pad=mode, strides=[stride] * ndim)
    weights = {"w": some(3, 2, *[kernel] * ndim), "b": some(3)}
    check(model_of([node], {"x": OPEN[ndim]}, weights), *pictures(ndim))


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER"])
def test_conv_with_dilations(mode):
    """Against the same padding by hand."""
    kernel, stride, dilation = 3, 2, 2
    weights = {"w": some(3, 2, kernel, kernel)}
    attrs = {"strides": [stride] * 2, "dilations": [dilation] * 2}
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad=mode, **attrs)
    main = tilewright.VirtualMachine(
        tilewright.compile(from_onnx(model_of([node], {"x": OPEN[2]}, weights)))
    )["main"]
    for (x,) in pictures(2):
        covered, pads = (kernel - 1) * dilation + 1, []
        for extent in x.shape[2:]:
            total = max((-(-extent // stride) - 1) * stride + covered - extent, 0)
            smaller = total // 2
            pads.append((smaller, total - smaller) if mode == "SAME_UPPER" else (total - smaller, smaller))
        by_hand = helper.make_node(
            "Conv", ["x", "w"], ["y"], pads=[p[0] for p in pads] + [p[1] for p in pads], **attrs
        )
        session = runtime.InferenceSession(
            model_of([by_hand], {"x": x.shape}, weights).SerializeToString(),
            providers=["CPUExecutionProvider"],
        )
        np.testing.assert_allclose(main(x).numpy(), session.run(None, {"x": x})[0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_conv_transpose(mode):
    for kernel, stride in [(3, 1), (3, 2), (4, 2), (2, 2)]:
        node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], auto_pad=mode, strides=[stride] * 2)
        check(model_of([node], {"x": OPEN[2]}, {"w": some(2, 3, kernel, kernel)}), *pictures(2))


def test_conv_transpose_with_windows_below_the_stride():
    """The extents are those of the input times the stride, as the operator's text says; onnxruntime makes fewer."""
    node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], auto_pad="SAME_UPPER", strides=[3, 3])
    model = model_of([node], {"x": OPEN[2]}, {"w": some(2, 3, 2, 2)})
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    assert main(some(1, 2, 5, 7)).numpy().shape == (1, 3, 15, 21)


@pytest.mark.parametrize("mode", ["NOTSET", "SAME_UPPER"])
def test_conv_transpose_of_a_wanted_shape(mode):
    node = helper.make_node(
        "ConvTranspose", ["x", "w"], ["y"], output_shape=[11, 13], strides=[2, 2], auto_pad=mode
    )
    model = model_of([node], {"x": OPEN[2]}, {"w": some(2, 3, 3, 3)})
    check(model, (some(1, 2, 5, 6),), (some(2, 2, 6, 7),), (some(1, 2, 7, 7),))


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
def test_pools_with_windows_below_the_stride(op):
    """Nothing is padded then but where the last window needs it."""
    attrs = {"kernel_shape": [2, 1], "strides": [3, 2]}
    node = helper.make_node(op, ["x"], ["y"], auto_pad="SAME_UPPER", **attrs)
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model_of([node], {"x": OPEN[2]}))))["main"]
    x = some(1, 2, 7, 8)
    wide = np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 0)], constant_values=np.nan)
    parts = np.stack([wide[:, :, 0:8:3, 0:8:2], wide[:, :, 1:8:3, 0:8:2]])
    expected = np.nanmax(parts, 0) if op == "MaxPool" else np.nanmean(parts, 0)
    np.testing.assert_allclose(main(x).numpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_pools(ndim, op, mode):
    for kernel, stride, dilation in WINDOWS:
        if dilation > 1 or kernel < stride:  # onnxruntime refuses both
            continue
        attrs = {"kernel_shape": [kernel] * ndim, "strides": [stride] * ndim, "auto_pad": mode}
        calls = pictures(ndim)[:2] if mode == "VALID" else pictures(ndim)
        if mode == "VALID" and ndim == 3:
            calls = calls[:1]
        check(model_of([helper.make_node(op, ["x"], ["y"], **attrs)], {"x": OPEN[ndim]}), *calls)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(p):
    attrs = {"kernel_shape": [3, 2], "strides": [2, 3], "p": p}
    for more in ({"auto_pad": "SAME_UPPER"}, {"auto_pad": "SAME_LOWER"}, {"pads": [1, 0, 1, 1]}):
        node = helper.make_node("LpPool", ["x"], ["y"], **attrs, **more)
        check(model_of([node], {"x": OPEN[2]}), *pictures(2))


def test_averages_that_count_padding():
    attrs = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER", "count_include_pad": 1}
    check(model_of([helper.make_node("AveragePool", ["x"], ["y"], **attrs)], {"x": OPEN[2]}), *pictures(2))


def test_maxima_of_bytes():
    attrs = {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}
    for dtype in ("int8", "uint8"):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        graph = helper.make_graph(
            [helper.make_node("MaxPool", ["x"], ["y"], **attrs)],
            "g",
            [helper.make_tensor_value_info("x", element, OPEN[2])],
            [helper.make_tensor_value_info("y", element, None)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
        check(model, (RNG.integers(-100 if dtype == "int8" else 0, 100, (1, 2, 5, 8)).astype(dtype),))


def test_two_ways_of_same_extents_meet():
    """Both have ceil(h / 2) rows, which the importer knows."""
    pool = {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], auto_pad="SAME_UPPER", strides=[2, 2]),
        helper.make_node("MaxPool", ["x"], ["b"], **pool),
        helper.make_node("AveragePool", ["x"], ["c"], **pool),
        helper.make_node("Sum", ["a", "b", "c"], ["y"]),
    ]
    check(model_of(nodes, {"x": OPEN[2]}, {"w": some(2, 2, 3, 3)}), *pictures(2))


# ---- channels

CHANNELS = ["n", "c", "h", "w"]


@pytest.mark.parametrize("slope", [(5, 1, 1), (1,), (1, 1, 1), (1, 5, 1, 1)], ids=str)
def test_prelu(slope):
    node = helper.make_node("PRelu", ["x", "slope"], ["y"])
    check(model_of([node], {"x": CHANNELS}, {"slope": some(*slope)}), (some(2, 5, 3, 7),))


def test_prelu_of_a_slope_that_is_an_input():
    node = helper.make_node("PRelu", ["x", "slope"], ["y"])
    model = model_of([node], {"x": CHANNELS, "slope": ["k", 1, 1]})
    check(model, (some(2, 5, 3, 7), some(5, 1, 1)), (some(2, 7, 3, 4), some(1, 1, 1)))


@pytest.mark.parametrize("open_scale", [False, True])
def test_batch_norm(open_scale):
    node = helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"])
    parts = {"s": some(5), "b": some(5), "m": some(5), "v": np.abs(some(5)) + 1}
    if open_scale:
        model = model_of([node], {"x": CHANNELS} | {name: [f"{name}_c"] for name in parts})
        check(model, (some(2, 5, 3, 7), *parts.values()))
    else:
        check(model_of([node], {"x": CHANNELS}, parts), (some(2, 5, 3, 7),))


@pytest.mark.parametrize("open_scale", [False, True])
@pytest.mark.parametrize("shape", [CHANNELS, ["n", "c", "l"]], ids=str)
def test_instance_norm(shape, open_scale):
    node = helper.make_node("InstanceNormalization", ["x", "s", "b"], ["y"])
    parts = {"s": some(5), "b": some(5)}
    x = some(2, 5, *(3, 7)[: len(shape) - 2])
    if open_scale:
        check(model_of([node], {"x": shape, "s": ["k"], "b": ["j"]}), (x, *parts.values()))
    else:
        check(model_of([node], {"x": shape}, parts), (x,))


def test_norms_of_neighbours():
    for op, attrs in [("LRN", {"size": 3}), ("LpNormalization", {"axis": 1, "p": 2})]:
        node = helper.make_node(op, ["x"], ["y"], **attrs)
        check(model_of([node], {"x": CHANNELS}), (some(2, 5, 3, 7),))


@pytest.mark.parametrize(
    ("op", "parts", "text"),
    [
        (
            "PRelu",
            {"s": (5, 1, 1)},
            "broadcast_to: x is [5, 1, 1], which does not broadcast to [n = 2, c = 7, h = 3, w = 4]",
        ),
        (
            "InstanceNormalization",
            {"s": (5,), "b": (5,)},
            "nn.instance_norm: gamma is [5], expected one value for each of c = 7 channels",
        ),
    ],
    ids=["PRelu", "InstanceNormalization"],
)
def test_channels_that_differ_are_refused(op, parts, text):
    weights = {name: np.ones(shape, "float32") for name, shape in parts.items()}
    model = model_of([helper.make_node(op, ["x", *parts], ["y"])], {"x": CHANNELS}, weights)
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    with pytest.raises(tilewright.UserError) as error:
        main(some(2, 7, 3, 4))
    assert str(error.value).split("\n")[0] == f'error: main: {op} node that makes "y": {text}'


NORMS = {
    "BatchNormalization": "gamma beta moving_mean moving_var",
    "InstanceNormalization": "gamma beta",
    "GroupNormalization": "gamma beta",
}


def refused(model, x):
    try:
        tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"](x)
    except tilewright.UserError as error:
        return str(error).split("\n")[0]


@pytest.mark.parametrize("open_picture", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize(
    ("op", "wrong"), [(op, wrong) for op, parts in NORMS.items() for wrong in [*parts.split(), "all"]]
)
def test_norms_of_other_channels_name_the_node(op, wrong, size, open_picture):
    """Also where the parts of a norm are folded into one scale and shift before the graph runs."""
    parts = NORMS[op].split()
    weights = {name: np.ones(size if wrong in (name, "all") else 7, "float32") for name in parts}
    attrs = {"num_groups": 1} if op == "GroupNormalization" else {}
    node = helper.make_node(op, ["x", *weights], ["y"], name="mine", **attrs)
    model = model_of([node], {"x": CHANNELS if open_picture else [2, 7, 3, 4]}, weights, opset=21)
    text = refused(model, some(2, 7, 3, 4))
    part = parts[0] if wrong == "all" else wrong
    operator = {"B": "batch_norm", "I": "instance_norm", "G": "group_norm"}[op[0]]
    data, channels = ("[n = 2, c = 7, h = 3, w = 4]", "c = 7") if open_picture else ("[2, 7, 3, 4]", "7")
    if op == "BatchNormalization":
        needed = f"expected [{channels}] as data is {data}"
    else:
        needed = f"expected one value for each of {channels} channels"
    main = "main: " if open_picture else ""
    assert text == f'error: {main}{op} node "mine": nn.{operator}: {part} is [{size}], {needed}'


@pytest.mark.parametrize("open_picture", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("op", ["InstanceNormalization", "GroupNormalization", "LayerNormalization"])
def test_norms_of_numbers_that_are_nearly_equal(op, open_picture):
    """Distances from the mean are squared: mean(x^2) - mean(x)^2 would be 0.005 off."""
    x = (1 + 0.01 * RNG.standard_normal((64, 2, 2))).astype("float32")
    attrs = {"num_groups": 2} if op == "GroupNormalization" else {}
    weights = {"s": np.ones(2, "float32"), "b": np.zeros(2, "float32")}
    node = helper.make_node(op, ["x", "s", "b"], ["y"], **attrs)
    model = model_of(
        [node], {"x": ["n", 2, "l" if op[0] != "L" else 2] if open_picture else x.shape}, weights, opset=21
    )
    wide = x.astype("float64")
    distance = wide - wide.mean(2, keepdims=True)
    expected = distance / np.sqrt((distance**2).mean(2, keepdims=True) + 1e-5)
    main = tilewright.VirtualMachine(tilewright.compile(from_onnx(model)))["main"]
    np.testing.assert_allclose(main(x).numpy(), expected, atol=1e-4)
