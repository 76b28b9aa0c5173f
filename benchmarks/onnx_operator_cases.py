"""The cases of onnx_operators.py: one node of ONNX each, at a size that models have.

A case is made when it is asked for: `CASES[name]()`.  Inputs are those of a call; constants are part of the model, as weights are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Case:
    """A node: its operator, inputs in order (None: left out), which of them are constants, attributes."""

    op: str
    inputs: dict[str, np.ndarray | None]
    attrs: dict = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    num_outputs: int = 1
    opset: int = 20
    domain: str = ""
    is_random: bool = False
    """The results of two libraries differ, so that only their shapes are compared."""
    open_dims: dict[str, list[str | None]] = field(default_factory=dict)
    """Names of extents for --open, None: known; an input that is not here has names for all."""


CASES: dict[str, Callable[[], Case]] = {}


def case(name: str, *more):
    """Makes `name` a case whose function gets the random numbers' generator and `more`."""

    def add(make):
        CASES[name] = lambda: make(np.random.default_rng(0), *more)
        return make

    return add


def normal(rng, *shape) -> np.ndarray:
    return rng.standard_normal(shape, "float32")


# ---- pictures


@case("MaxUnpool 1x64x56x56", False)
def max_unpool(rng, _):
    places = np.arange(64 * 112 * 112).reshape(1, 64, 56, 2, 56, 2)[:, :, :, 0, :, 0].copy()
    places += rng.integers(0, 2, places.shape) + 112 * rng.integers(0, 2, places.shape)
    return Case(
        "MaxUnpool",
        {"x": normal(rng, 1, 64, 56, 56), "i": places.astype("int64")},
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    )


@case("DeformConv 1x64x32x32 64x64x3x3", True)
@case("DeformConv 1x64x32x32 64x64x3x3, no mask", False)
def deform_conv(rng, has_mask):
    inputs = {"x": normal(rng, 1, 64, 32, 32), "w": normal(rng, 64, 64, 3, 3)}
    inputs["offset"] = normal(rng, 1, 18, 32, 32)
    if has_mask:
        inputs |= {"b": None, "mask": rng.random((1, 9, 32, 32), "float32")}
    return Case("DeformConv", inputs, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, ("w",))


@case("RoiAlign avg 1x256x50x50, 100 of 7x7", "avg")
@case("RoiAlign max 1x256x50x50, 100 of 7x7", "max")
def roi_align(rng, mode):
    first, size = rng.random((100, 2), "float32") * 20, rng.random((100, 2), "float32") * 25 + 1
    return Case(
        "RoiAlign",
        {
            "x": normal(rng, 1, 256, 50, 50),
            "rois": np.concatenate([first, first + size], 1),
            "batch": np.zeros(100, "int64"),
        },
        {"mode": mode, "output_height": 7, "output_width": 7, "sampling_ratio": 2},
    )


@case("Resize linear 1x64x56x56 x2", "linear", "half_pixel")
@case("Resize linear aligned 1x64x56x56 x2", "linear", "align_corners")
@case("Resize cubic 1x16x56x56 x2", "cubic", "half_pixel")
@case("Resize nearest 1x64x56x56 x2", "nearest", "asymmetric")
def resize(rng, mode, coordinates):
    attrs = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attrs["nearest_mode"] = "floor"
    inputs = {"x": normal(rng, 1, 16 if mode == "cubic" else 64, 56, 56), "roi": None}
    return Case("Resize", inputs | {"scales": np.array([1, 1, 2, 2], "float32")}, attrs, ("scales",))


@case("GridSample bilinear 1x64x56x56", "linear", "zeros")
@case("GridSample bilinear border 1x64x56x56", "linear", "border")
@case("GridSample nearest 1x64x56x56", "nearest", "zeros")
@case("GridSample bicubic 1x16x56x56", "cubic", "zeros")
def grid_sample(rng, mode, padding):
    grid = rng.random((1, 56, 56, 2), "float32") * 2.2 - 1.1
    x = normal(rng, 1, 16 if mode == "cubic" else 64, 56, 56)
    return Case("GridSample", {"x": x, "grid": grid}, {"mode": mode, "padding_mode": padding})


@case("Col2Im 1x576x1024 to 34x34")
def col_to_im(rng):
    sizes = {"image": np.array([34, 34]), "block": np.array([3, 3])}
    return Case("Col2Im", {"x": normal(rng, 1, 576, 1024)} | sizes, {}, tuple(sizes))


@case("LpPool 1x64x112x112 3x3", "LpPool", {"p": 2})
@case("MaxPool 1x64x112x112 3x3", "MaxPool", {})
@case("AveragePool 1x64x112x112 3x3", "AveragePool", {})
def pool(rng, op, attrs):
    attrs = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]} | attrs
    return Case(op, {"x": normal(rng, 1, 64, 112, 112)}, attrs)


@case("MaxPool with indices 1x64x112x112 2x2")
def max_pool_indices(rng):
    attrs = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return Case("MaxPool", {"x": normal(rng, 1, 64, 112, 112)}, attrs, num_outputs=2)


@case("DepthToSpace 1x64x56x56", "DepthToSpace", (1, 64, 56, 56))
@case("SpaceToDepth 1x16x112x112", "SpaceToDepth", (1, 16, 112, 112))
def depth_to_space(rng, op, shape):
    return Case(op, {"x": normal(rng, *shape)}, {"blocksize": 2})


@case("NonMaxSuppression 1000 boxes, 1 class", 1000, 1)
@case("NonMaxSuppression 2000 boxes, 20 classes", 2000, 20)
def non_max_suppression(rng, boxes, classes):
    first = rng.random((1, boxes, 2), "float32")
    corners = np.concatenate([first, first + rng.random((1, boxes, 2), "float32") * 0.2], -1)
    limits = {"most": np.array([100]), "iou": np.float32([0.5]), "score": np.float32([0.3])}
    scores = rng.random((1, classes, boxes), "float32")
    return Case("NonMaxSuppression", {"boxes": corners, "scores": scores} | limits, {}, tuple(limits))


# ---- normalisation


@case("InstanceNormalization 1x64x112x112")
def instance_norm(rng):
    weights = {"scale": normal(rng, 64), "bias": normal(rng, 64)}
    return Case("InstanceNormalization", {"x": normal(rng, 1, 64, 112, 112)} | weights, {}, tuple(weights))


@case("GroupNormalization 1x64x56x56, 32 groups")
def group_norm(rng):
    weights = {"scale": normal(rng, 64), "bias": normal(rng, 64)}
    x = {"x": normal(rng, 1, 64, 56, 56)}
    return Case("GroupNormalization", x | weights, {"num_groups": 32}, tuple(weights), opset=21)


@case("LayerNormalization 128x768")
def layer_norm(rng):
    weights = {"scale": normal(rng, 768), "bias": normal(rng, 768)}
    return Case("LayerNormalization", {"x": normal(rng, 1, 128, 768)} | weights, {}, tuple(weights))


@case("LRN 1x64x56x56, 5 channels")
def lrn(rng):
    return Case("LRN", {"x": normal(rng, 1, 64, 56, 56)}, {"size": 5})


@case("LpNormalization 128x768")
def lp_norm(rng):
    return Case("LpNormalization", {"x": normal(rng, 128, 768)})


@case("Softmax 128x768", "Softmax", (128, 768), -1)
@case("Softmax of the middle 1x21x128x128", "Softmax", (1, 21, 128, 128), 1)
@case("LogSoftmax 128x768", "LogSoftmax", (128, 768), -1)
@case("Hardmax 128x1000", "Hardmax", (128, 1000), -1)
@case("Hardmax of the middle 1x21x128x128", "Hardmax", (1, 21, 128, 128), 1)
def softmax(rng, op, shape, axis):
    return Case(op, {"x": normal(rng, *shape)}, {"axis": axis})


# ---- sums, orders, places


@case("ReduceL2 of axis 0, 128x56x56", "ReduceL2", (128, 56, 56), 0)
@case("ReduceL2 of axis 1, 128x56x56", "ReduceL2", (128, 56, 56), 1)
@case("ReduceL2 of axis 2, 128x56x56", "ReduceL2", (128, 56, 56), 2)
@case("ReduceMean of axis 2, 1x128x768", "ReduceMean", (1, 128, 768), 2)
@case("ReduceMax of axis 1, 1x128x768", "ReduceMax", (1, 128, 768), 1)
@case("ReduceLogSumExp of axis 2, 1x128x768", "ReduceLogSumExp", (1, 128, 768), 2)
def reduce(rng, op, shape, axis):
    inputs = {"x": normal(rng, *shape), "axes": np.array([axis])}
    return Case(op, inputs, {"keepdims": 0}, ("axes",))


@case("CumSum of axis 1, 128x768", (128, 768), 1)
@case("CumSum of axis 0, 128x768", (128, 768), 0)
def cum_sum(rng, shape, axis):
    return Case("CumSum", {"x": normal(rng, *shape), "axis": np.array(axis)}, {}, ("axis",))


@case("TopK 5 of 1x1000", (1, 1000), 5)
@case("TopK 100 of 1x25200", (1, 25200), 100)
@case("TopK 50 of 4x50257", (4, 50257), 50)
def top_k(rng, shape, count):
    return Case("TopK", {"x": normal(rng, *shape), "k": np.array([count])}, {}, ("k",), num_outputs=2)


@case("ArgMax of axis 1, 1x21x128x128")
def arg_max(rng):
    return Case("ArgMax", {"x": normal(rng, 1, 21, 128, 128)}, {"axis": 1})


@case("Unique 10000 of 100", 100)
@case("Unique 10000 of 1000000", 1000000)
def unique(rng, most):
    return Case("Unique", {"x": rng.integers(0, most, 10000)}, {"sorted": 1}, num_outputs=4)


@case("Unique 10000 floats, values only")
def unique_floats(rng):
    return Case("Unique", {"x": rng.integers(0, 100, 10000).astype("float32")}, {"sorted": 1})


@case("NonZero 512x512, 1 in 10", 0.1)
@case("NonZero 512x512, 1 in 2", 0.5)
def non_zero(rng, share):
    return Case("NonZero", {"x": rng.random((512, 512)) < share})


@case("Compress 10000x64")
def compress(rng):
    return Case("Compress", {"x": normal(rng, 10000, 64), "c": rng.random(10000) < 0.5}, {"axis": 0})


@case("ScatterND 1000 rows of 10000x64", "none")
@case("ScatterND add 1000 rows of 10000x64", "add")
def scatter_nd(rng, reduction):
    places = rng.permutation(10000)[:1000].reshape(1000, 1)
    inputs = {"x": normal(rng, 10000, 64), "i": places, "u": normal(rng, 1000, 64)}
    return Case("ScatterND", inputs, {"reduction": reduction})


@case("ScatterElements 1000x64 of 10000x64")
def scatter_elements(rng):
    places = rng.integers(0, 10000, (1000, 64))
    return Case("ScatterElements", {"x": normal(rng, 10000, 64), "i": places, "u": normal(rng, 1000, 64)})


@case("GatherND 1000 rows of 100x100x64")
def gather_nd(rng):
    return Case("GatherND", {"x": normal(rng, 100, 100, 64), "i": rng.integers(0, 100, (1000, 2))})


@case("Gather 128 rows of 30000x768")
def gather(rng):
    return Case("Gather", {"x": normal(rng, 30000, 768), "i": rng.integers(0, 30000, 128)})


@case("GatherElements 128x768")
def gather_elements(rng):
    attrs = {"axis": 1}
    return Case("GatherElements", {"x": normal(rng, 128, 768), "i": rng.integers(0, 768, (128, 768))}, attrs)


@case("OneHot 1000 of 1000")
def one_hot(rng):
    more = {"depth": np.array([1000]), "values": np.float32([0, 1])}
    return Case("OneHot", {"i": rng.integers(0, 1000, 1000)} | more, {}, tuple(more))


# ---- moves


@case("Transpose 1x64x56x56 to NHWC", (1, 64, 56, 56), [0, 2, 3, 1])
@case("Transpose 1x56x56x64 to NCHW", (1, 56, 56, 64), [0, 3, 1, 2])
@case("Transpose 1x128x12x64 0213", (1, 128, 12, 64), [0, 2, 1, 3])
@case("Transpose 8x12x128x64 0132", (8, 12, 128, 64), [0, 1, 3, 2])
def transpose(rng, shape, perm):
    return Case("Transpose", {"x": normal(rng, *shape)}, {"perm": perm})


@case("Concat of axis 1, 2 of 1x64x56x56", (1, 64, 56, 56), 1)
@case("Concat of axis 3, 2 of 1x56x56x64", (1, 56, 56, 64), 3)
def concat(rng, shape, axis):
    return Case("Concat", {"a": normal(rng, *shape), "b": normal(rng, *shape)}, {"axis": axis})


@case("Split of axis 1 in 2, 1x128x56x56", (1, 128, 56, 56), 1, 2)
@case("Split of axis 2 in 3, 1x128x2304", (1, 128, 2304), 2, 3)
def split(rng, shape, axis, count):
    return Case("Split", {"x": normal(rng, *shape)}, {"axis": axis, "num_outputs": count}, num_outputs=count)


@case("Pad reflect 1x64x56x56", "reflect")
@case("Pad constant 1x64x56x56", "constant")
@case("Pad edge 1x64x56x56", "edge")
def pad(rng, mode):
    pads = np.array([0, 0, 3, 3, 0, 0, 3, 3])
    return Case("Pad", {"x": normal(rng, 1, 64, 56, 56), "pads": pads}, {"mode": mode}, ("pads",))


@case("Where broadcast 12x128x128")
def where(rng):
    return Case(
        "Where",
        {
            "c": rng.random((1, 1, 128, 128)) < 0.5,
            "x": normal(rng, 1, 12, 128, 128),
            "y": np.float32(-1e4).reshape(1),
        },
    )


@case("Expand 1x1x768 to 128 rows")
def expand(rng):
    return Case("Expand", {"x": normal(rng, 1, 1, 768), "shape": np.array([1, 128, 768])}, {}, ("shape",))


@case("Tile 1x64x56x56 twice")
def tile(rng):
    return Case("Tile", {"x": normal(rng, 1, 64, 56, 56), "n": np.array([1, 1, 2, 1])}, {}, ("n",))


@case("Slice of each second, 1x64x112x112")
def slice_(rng):
    more = {"b": np.array([0, 0]), "e": np.array([112, 112]), "a": np.array([2, 3]), "s": np.array([2, 2])}
    return Case("Slice", {"x": normal(rng, 1, 64, 112, 112)} | more, {}, tuple(more))


@case("Trilu 12x128x128")
def trilu(rng):
    return Case("Trilu", {"x": normal(rng, 12, 128, 128)})


# ---- element by element


@case("Mod of floats 128x768")
def mod(rng):
    return Case("Mod", {"x": normal(rng, 128, 768), "y": np.abs(normal(rng, 128, 768)) + 0.1}, {"fmod": 1})


@case("Mod of int64 128x768")
def mod_ints(rng):
    return Case("Mod", {"x": rng.integers(-1000, 1000, (128, 768)), "y": rng.integers(1, 100, (128, 768))})


@case("Erf 128x3072", "Erf")
@case("Gelu 128x3072", "Gelu")
@case("Tanh 128x3072", "Tanh")
@case("Sigmoid 128x3072", "Sigmoid")
@case("Exp 128x3072", "Exp")
@case("Sin 128x3072", "Sin")
@case("Mish 128x3072", "Mish")
@case("Elu 128x3072", "Elu")
@case("Softplus 128x3072", "Softplus")
@case("HardSwish 128x3072", "HardSwish")
def unary(rng, op):
    return Case(op, {"x": normal(rng, 128, 3072)})


@case("Pow of 2, 128x3072")
def power(rng):
    return Case("Pow", {"x": normal(rng, 128, 3072), "y": np.float32(2).reshape(1)}, {}, ("y",))


@case("Cast float32 to int64 128x3072", 7)
@case("Cast float32 to float16 128x3072", 10)
def cast(rng, to):
    return Case("Cast", {"x": normal(rng, 128, 3072)}, {"to": to})


@case("RandomUniform 128x768", "RandomUniform")
@case("RandomNormal 128x768", "RandomNormal")
def random(_, op):
    return Case(op, {}, {"shape": [128, 768], "seed": 1.0}, is_random=True)


@case("Bernoulli 128x768")
def bernoulli(rng):
    return Case("Bernoulli", {"x": rng.random((128, 768), "float32")}, {"seed": 1.0}, is_random=True)


@case("Multinomial 8 of 1000 classes, 100 drawn")
def multinomial(rng):
    return Case("Multinomial", {"x": normal(rng, 8, 1000)}, {"seed": 1.0, "sample_size": 100}, is_random=True)


# ---- products, whose weights of int8 have 7 bits: without VNNI onnxruntime adds two products in 16 bits


@case("Einsum bhld,bhmd->bhlm 1x12x128x64", "bhld,bhmd->bhlm", (1, 12, 128, 64), (1, 12, 128, 64))
@case("Einsum bld,de->ble 1x128x768", "bld,de->ble", (1, 128, 768), (768, 768))
@case("Einsum ij,ij->i 1000x1000", "ij,ij->i", (1000, 1000), (1000, 1000))
@case("Einsum bhwc,hkc->bhwk 1x14x14x64", "bhwc,hkc->bhwk", (8, 14, 14, 64), (14, 14, 64))
def einsum(rng, equation, first, second):
    return Case("Einsum", {"a": normal(rng, *first), "b": normal(rng, *second)}, {"equation": equation})


@case("QLinearMatMul uint8 128x768x768", "uint8")
@case("QLinearMatMul int8 128x768x768", "int8")
def qlinear_matmul(rng, dtype):
    zero = np.array(3, dtype)
    constants = {
        "a_scale": np.float32(0.02),
        "a_zero": zero,
        "b": rng.integers(-63, 64, (768, 768), "int8"),
        "b_scale": np.float32(0.01),
        "b_zero": np.int8(0),
        "y_scale": np.float32(0.2),
        "y_zero": zero,
    }
    a = rng.integers(0 if dtype == "uint8" else -128, 128, (128, 768), dtype)
    return Case("QLinearMatMul", {"a": a} | constants, {}, tuple(constants))


@case("QLinearConv uint8 1x64x56x56 64x64x3x3", "uint8", 64, 3)
@case("QLinearConv uint8 1x64x56x56 64x64x1x1", "uint8", 64, 1)
@case("QLinearConv uint8 1x64x56x56 depthwise 3x3", "uint8", 1, 3)
def qlinear_conv(rng, dtype, channels, kernel):
    zero = np.array(3, dtype)
    constants = {
        "a_scale": np.float32(0.02),
        "a_zero": zero,
        "w": rng.integers(-63, 64, (64, channels, kernel, kernel), "int8"),
        "w_scale": np.float32(0.01),
        "w_zero": np.int8(0),
        "y_scale": np.float32(0.2),
        "y_zero": zero,
    }
    attrs = {"pads": [kernel // 2] * 4, "group": 64 // channels}
    x = rng.integers(0, 255, (1, 64, 56, 56), dtype)
    return Case("QLinearConv", {"a": x} | constants, attrs, tuple(constants))


@case("MatMulInteger 128x768x768")
def matmul_integer(rng):
    constants = {"b": rng.integers(-63, 64, (768, 768), "int8"), "a_zero": np.uint8(3)}
    return Case(
        "MatMulInteger", {"a": rng.integers(0, 255, (128, 768), "uint8")} | constants, {}, tuple(constants)
    )


@case("ConvInteger 1x64x56x56 64x64x3x3")
def conv_integer(rng):
    constants = {"w": rng.integers(0, 255, (64, 64, 3, 3), "uint8"), "zero": np.uint8(3)}
    x = rng.integers(0, 255, (1, 64, 56, 56), "uint8")
    return Case("ConvInteger", {"a": x} | constants, {"pads": [1, 1, 1, 1]}, tuple(constants))


@case("DynamicQuantizeLinear 128x768")
def dynamic_quantize(rng):
    return Case("DynamicQuantizeLinear", {"x": normal(rng, 128, 768)}, num_outputs=3)


@case("QuantizeLinear 128x3072")
def quantize(rng):
    constants = {"scale": np.float32(0.02), "zero": np.uint8(128)}
    return Case("QuantizeLinear", {"x": normal(rng, 128, 3072)} | constants, {}, tuple(constants))


@case("Gemm 128x768x3072")
def gemm(rng):
    weights = {"w": normal(rng, 3072, 768), "b": normal(rng, 3072)}
    return Case("Gemm", {"x": normal(rng, 128, 768)} | weights, {"transB": 1}, tuple(weights))


# ---- sound


@case("DFT 1x1024", 1024)
@case("DFT 64x512", 512)
@case("DFT 1x1000", 1000)
def dft(rng, extent):
    rows = 64 if extent == 512 else 1
    inputs = {"x": normal(rng, rows, extent, 1), "length": None, "axis": np.array(1)}
    return Case("DFT", inputs, {}, ("axis",))


@case("STFT 1x16000, frames of 512")
def stft(rng):
    more = {
        "step": np.array(128),
        "window": np.hanning(512).astype("float32"),
        "length": np.array(512),
    }
    return Case("STFT", {"x": normal(rng, 1, 16000, 1)} | more, {}, tuple(more))


# ---- sequences


@case("LSTM 8x50x256", "LSTM", 4)
@case("GRU 8x50x256", "GRU", 3)
@case("RNN 8x50x256", "RNN", 1)
def recurrent(rng, op, gates):
    weights = {
        "w": normal(rng, 1, gates * 256, 256) / 16,
        "r": normal(rng, 1, gates * 256, 256) / 16,
        "b": normal(rng, 1, 2 * gates * 256) / 16,
    }
    return Case(op, {"x": normal(rng, 50, 8, 256)} | weights, {"hidden_size": 256}, tuple(weights))


# onnxruntime has the fused operators of com.microsoft; ONNX's own it runs as a function of many nodes
@case("MultiHeadAttention 1x12x128x64", 128, False)
@case("MultiHeadAttention 1x12x128x64, mask", 128, True)
@case("MultiHeadAttention 1x12x512x64", 512, False)
@case("MultiHeadAttention 1x12x77x64", 77, False)
def multi_head_attention(rng, length, has_mask):
    inputs = {name: normal(rng, 1, length, 768) for name in ("q", "k", "v")}
    if has_mask:
        mask = np.where(rng.random((1, 1, length, length)) < 0.8, 0, -1e4).astype("float32")
        inputs |= {"bias": None, "padding": None, "mask": mask}
    dims = {name: ["batch", "length", None] for name in "qkv"} | {"mask": [None, None, "length", "length"]}
    return Case("MultiHeadAttention", inputs, {"num_heads": 12}, domain="com.microsoft", open_dims=dims)


@case("Attention 1x12x128x64", 128, None)
@case("Attention 1x12x128x64, mask", 128, "float32")
@case("Attention 1x12x128x64, mask of bool", 128, "bool")
@case("Attention 1x12x512x64", 512, None)
def attention(rng, length, mask):
    inputs = {name: normal(rng, 1, 12, length, 64) for name in ("q", "k", "v")}
    if mask:
        allowed = rng.random((length, length)) < 0.8
        inputs["mask"] = allowed if mask == "bool" else np.where(allowed, 0, -1e4).astype("float32")
    dims = {name: ["batch", None, "length", None] for name in "qkv"} | {"mask": ["length", "length"]}
    return Case("Attention", inputs, opset=23, open_dims=dims)


# ---- trees


def trees_of(rng, count: int, depth: int, features: int) -> dict:
    """Complete trees: each node's feature and limit are random, each leaf has a weight."""
    inner, size = 2**depth - 1, 2 ** (depth + 1) - 1
    ids = np.arange(size)
    modes = ["BRANCH_LEQ" if n < inner else "LEAF" for n in ids]
    leaves = np.arange(inner, size)
    return {
        "nodes_treeids": np.repeat(np.arange(count), size).tolist(),
        "nodes_nodeids": np.tile(ids, count).tolist(),
        "nodes_featureids": rng.integers(0, features, count * size).tolist(),
        "nodes_values": rng.standard_normal(count * size).astype("float32").tolist(),
        "nodes_modes": modes * count,
        "nodes_truenodeids": np.tile(np.where(ids < inner, 2 * ids + 1, 0), count).tolist(),
        "nodes_falsenodeids": np.tile(np.where(ids < inner, 2 * ids + 2, 0), count).tolist(),
    } | {
        "leaf_trees": np.repeat(np.arange(count), len(leaves)).tolist(),
        "leaf_nodes": np.tile(leaves, count).tolist(),
        "leaf_weights": rng.standard_normal(count * len(leaves)).astype("float32").tolist(),
    }


def tree_case(rng, op: str, count: int, depth: int, rows: int) -> Case:
    attrs = trees_of(rng, count, depth, 50)
    kind = "target" if op == "TreeEnsembleRegressor" else "class"
    num_leaves = len(attrs["leaf_trees"])
    attrs |= {
        f"{kind}_treeids": attrs.pop("leaf_trees"),
        f"{kind}_nodeids": attrs.pop("leaf_nodes"),
        f"{kind}_weights": attrs.pop("leaf_weights"),
        f"{kind}_ids": [0] * num_leaves if kind == "target" else rng.integers(0, 3, num_leaves).tolist(),
    }
    if kind == "target":
        attrs["n_targets"] = 1
    else:
        attrs |= {"classlabels_int64s": [0, 1, 2], "post_transform": "SOFTMAX"}
    return Case(
        op,
        {"x": normal(rng, rows, 50)},
        attrs,
        num_outputs=1 if kind == "target" else 2,
        domain="ai.onnx.ml",
    )


for _op in ("TreeEnsembleRegressor", "TreeEnsembleClassifier"):
    for _count in (100, 500):
        for _depth in (6, 10):
            for _rows in (1, 100, 10000):
                case(f"{_op} {_count} of depth {_depth}, {_rows} rows", _op, _count, _depth, _rows)(tree_case)
