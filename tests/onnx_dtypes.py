"""Inputs of ONNX's operators in each element type that they take: the table behind tests/frontend/onnx/test_dtypes.py.

A row is "Op" or "Op:Param", the type parameter of the operator's schema that varies; it has a function from the element type
to the inputs, the attributes, and the number of results.  Inputs that c() wraps are part of the model.
"""

import dataclasses

import ml_dtypes
import numpy as np


@dataclasses.dataclass
class Constant:
    """An input that is part of the model."""

    array: np.ndarray


def c(values, dtype="int64") -> Constant:
    return Constant(np.asarray(values).astype(known(dtype)))


def known(name: str) -> np.dtype:
    """The numpy dtype of a name of ours, or of ONNX without underscores (float8e4m3fn)."""
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def v(name: str, *shape: int, kind: str = "any") -> np.ndarray:
    """Small numbers that each dtype holds exactly.

    kind  "positive": from 1 on; "unit": between -1 and 1; "nonzero"; "limits": the ends of the integers, without
          0 if they are "divisors"; "any"
    """
    shape = shape or (3, 5)
    rng = np.random.default_rng(sum(map(ord, kind)) + int(np.prod(shape)))
    dtype = known(name)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if name == "float8_e8m0fnu":
        return (2.0 ** rng.integers(-3, 4, shape)).astype("float32").astype(dtype)
    if "int" in name:
        info = ml_dtypes.iinfo(dtype)
        if kind in ("limits", "divisors"):
            first, last = int(info.min), int(info.max)
            ends = {first, first + 1, -1, 0, 1, 2, last // 2 + 1, last - 1, last} - {
                0 if kind == "divisors" else None
            }
            found = np.resize(np.array([n for n in sorted(ends) if n >= first], object), shape)
            return found.astype(dtype)
        low, high = max(int(info.min), -9), min(int(info.max), 9)
        low = 1 if kind == "positive" else 0 if kind == "unit" else low
        whole = rng.integers(low, (1 if kind == "unit" else high) + 1, shape)
        return np.where((whole == 0) & (kind == "nonzero"), 1, whole).astype(dtype)
    steps = {"positive": (4, 13), "unit": (-3, 4)}.get(kind, (-8, 9))
    number = rng.integers(*steps, shape) / (2 if name == "float4_e2m1fn" and kind != "any" else 4)
    if name == "float4_e2m1fn":
        number = np.round(number * 2) / 2
    return np.where((number == 0) & (kind == "nonzero"), 1, number).astype("float32").astype(dtype)


@dataclasses.dataclass
class Row:
    inputs: object  # a function from the name of the varied element type to the inputs
    attrs: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    #: names of attributes that are the varied type itself: dtype of RandomUniform, to of Cast
    typed: tuple = ()
    is_exact: bool = False  # also of floats: elements are only moved
    compares: bool = True  # whether numbers are the same everywhere; not so of random ones
    is_kept: bool = False  # the reference computes in the same dtype, not in float32
    step: int = 0  # by which integers may differ: where they are rounded from numbers half way between two


def row(inputs, outputs=1, typed=(), is_exact=False, compares=True, is_kept=False, step=0, **attrs) -> Row:
    return Row(inputs, attrs, outputs, typed, is_exact, compares, is_kept, step)


def kept(inputs, **more):
    return row(inputs, is_kept=True, **more)


def of_one(kind="any", *shape, **more):
    return row(lambda t: [v(t, *shape, kind=kind)], **more)


def of_two(kind="any", **more):
    return row(lambda t: [v(t), v(t, 5, kind=kind)], **more)


def moved(inputs, **more):
    return row(inputs, is_exact=True, **more)


IMAGE = (1, 2, 5, 6)
ROWS = {}
for name in (
    "Abs Asinh Atan Ceil Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity LeakyRelu Mish Neg Relu Round Selu Sigmoid Sign Sin "
    "Softplus Softsign Swish Tan Tanh ThresholdedRelu Celu Hardmax LogSoftmax Softmax Shrink Sinh Cosh LpNormalization BitwiseNot Not"
).split():
    ROWS[name] = of_one()
for name, kind in {"Acos": "unit", "Asin": "unit", "Atanh": "unit", "Acosh": "positive", "Log": "positive", "Sqrt": "positive",
                   "Reciprocal": "nonzero"}.items():  # fmt: skip
    ROWS[name] = of_one(kind)
for name in (
    "Add And BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mul Or Sub Sum Xor PRelu"
).split():
    ROWS[name] = of_two()
ROWS["BitShift"] = row(lambda t: [v(t, kind="positive"), np.full(5, 2, t)], direction="LEFT")
ROWS["BitShift:right"] = row(lambda t: [v(t, kind="positive"), np.full(5, 2, t)], direction="RIGHT")
ROWS["SwiGLU"] = row(lambda t: [v(t, 3, 4), v(t, 3, 4)])
ROWS["Div"] = of_two("nonzero")
ROWS["Mod"] = of_two("nonzero", fmod=1)
ROWS["Mod:floor"] = of_two("nonzero")
ROWS["Pow"] = row(lambda t: [v(t, kind="positive"), c([0, 1, 2, 1, 2], t)])
ROWS["Pow:T1"] = row(lambda t: [v("float32", kind="positive"), v(t, 5, kind="positive")])
for name in ("ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare").split():
    ROWS[name] = row(lambda t: [v(t), c([1])])
for name in ("ReduceLogSum", "ReduceLogSumExp"):
    ROWS[name] = row(lambda t: [v(t, kind="positive"), c([1])])
for name in ("ArgMax", "ArgMin"):
    ROWS[name] = row(lambda t: [v(t)], axis=1)
for name in ("CumSum", "CumProd"):
    ROWS[name] = row(lambda t: [v(t), c(1)])
    ROWS[name + ":T2"] = row(lambda t: [v("float32"), c(1, t)])
ROWS["Clip"] = row(lambda t: [v(t), c(1, t), c(2, t)])
for name in ("IsInf", "IsNaN"):
    ROWS[name] = of_one()

# ---- the ends of the integers, where arithmetic wraps around
for name in "Abs BitwiseNot Neg Relu Sign".split():
    ROWS[name + ":limits"] = of_one("limits", 9)
for name in (
    "Add BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Sub"
).split():
    ROWS[name + ":limits"] = row(
        lambda t: [v(t, 9, 1, kind="limits"), v(t, 8, kind="divisors" if t != "bool" else "any")]
    )
ROWS["Mod:limits of fmod"] = row(lambda t: [v(t, 9, 1, kind="limits"), v(t, 8, kind="divisors")], fmod=1)
for name in "ArgMax ArgMin".split():
    ROWS[name + ":limits"] = of_one("limits", 2, 9, axis=1)
for name in "ReduceMax ReduceMin ReduceSum ReduceProd ReduceSumSquare".split():
    ROWS[name + ":limits"] = row(lambda t: [v(t, 4, 5, kind="limits"), c([1])])
ROWS["CumSum:limits"] = row(lambda t: [v(t, 9, kind="limits"), c(0)])
ROWS["MatMul:limits"] = row(lambda t: [v(t, 3, 5, kind="limits"), v(t, 5, 4, kind="limits")])
ROWS["TopK:limits"] = moved(lambda t: [v(t, 9, kind="limits"), c([3])], outputs=2)
ROWS["Unique:limits"] = moved(lambda t: [v(t, 15, kind="limits")])
ROWS["Clip:limits"] = row(lambda t: [v(t, 9, kind="limits"), c(1, t), Constant(v(t, 9, kind="limits")[-1])])
ROWS["Cast:limits"] = kept(lambda t: [v(t, 9, kind="limits" if "int" in t else "positive")], to=3)  # int8
ROWS["Pad:limits"] = moved(
    lambda t: [v(t, 9, kind="limits"), c([1, 2]), Constant(v(t, 9, kind="limits")[-1])]
)

# ---- products
ROWS["MatMul"] = row(lambda t: [v(t, 3, 5), v(t, 5, 4)])
ROWS["Gemm"] = row(lambda t: [v(t, 3, 5), v(t, 4, 5), v(t, 4)], transB=1)
ROWS["Einsum"] = row(lambda t: [v(t, 3, 5), v(t, 5, 4)], equation="ij,jk->ik")
ROWS["MatMulInteger"] = row(lambda t: [v(t, 3, 5), v("uint8", 5, 4)])
ROWS["MatMulInteger:T2"] = row(lambda t: [v("uint8", 3, 5), v(t, 5, 4)])
ROWS["ConvInteger"] = row(lambda t: [v(t, *IMAGE), v("uint8", 3, 2, 3, 3)])
ROWS["ConvInteger:T2"] = row(lambda t: [v("uint8", *IMAGE), v(t, 3, 2, 3, 3)])
ROWS["Conv"] = row(lambda t: [v(t, *IMAGE), v(t, 3, 2, 3, 3), v(t, 3)])
ROWS["ConvTranspose"] = row(lambda t: [v(t, *IMAGE), v(t, 2, 3, 3, 3), v(t, 3)])
ROWS["DeformConv"] = row(
    lambda t: [v(t, *IMAGE), v(t, 3, 2, 2, 2), v(t, 1, 8, 4, 5, kind="unit"), v(t, 3)], kernel_shape=[2, 2]
)
ROWS["Det"] = of_one("any", 2, 3, 3)
ROWS["CausalConvWithState"] = row(lambda t: [v(t, 2, 3, 6), v(t, 3, 1, 4)])
for name, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    ROWS[name] = row(
        lambda t, gates=gates: [
            v(t, 3, 2, 4, kind="unit"), v(t, 1, gates * 5, 4, kind="unit"), v(t, 1, gates * 5, 5, kind="unit"),
        ],
        outputs=2, hidden_size=5,
    )  # fmt: skip

# ---- pictures and windows
for name in ("AveragePool", "MaxPool"):
    ROWS[name] = of_one("any", *IMAGE, kernel_shape=[2, 3])
ROWS["LpPool"] = of_one("positive", *IMAGE, kernel_shape=[2, 3])
for name in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
    ROWS[name] = of_one("any", *IMAGE)
ROWS["MaxUnpool"] = row(
    lambda t: [v(t, 1, 1, 2, 2), c([[[[0, 3], [8, 10]]]])], kernel_shape=[2, 2], strides=[2, 2]
)
ROWS["MaxRoiPool"] = row(lambda t: [v(t, *IMAGE), c([[0, 0, 0, 4, 3]], t)], pooled_shape=[2, 2])
ROWS["RoiAlign"] = row(
    lambda t: [v(t, *IMAGE), c([[0, 0, 4, 3]], t), c([0])], output_height=2, output_width=3
)
ROWS["LRN"] = of_one("any", *IMAGE, size=3)
ROWS["DepthToSpace"] = moved(lambda t: [v(t, 1, 8, 2, 3)], blocksize=2)
ROWS["SpaceToDepth"] = moved(lambda t: [v(t, 1, 2, 4, 6)], blocksize=2)
ROWS["Col2Im"] = row(lambda t: [v(t, 1, 5, 5), c([5, 5]), c([1, 5])])
ROWS["CenterCropPad"] = moved(lambda t: [v(t), c([4, 3])])
ROWS["CenterCropPad:Tind"] = moved(lambda t: [v("float32"), c([4, 3], t)])
ROWS["GridSample"] = row(lambda t: [v(t, *IMAGE), v("float32", 1, 3, 2, 2, kind="unit")], mode="nearest")
ROWS["GridSample:T2"] = row(lambda t: [v("float32", *IMAGE), v(t, 1, 3, 2, 2, kind="unit")])
ROWS["AffineGrid"] = row(lambda t: [v(t, 1, 2, 3, kind="unit"), c([1, 2, 3, 4])])
ROWS["Resize"] = moved(lambda t: [v(t, *IMAGE), None, None, c([1, 2, 9, 4])], mode="nearest")
ROWS["Resize:linear"] = row(lambda t: [v(t, *IMAGE), None, None, c([1, 2, 9, 4])], step=1, mode="linear")

# ---- normalisation
ROWS["BatchNormalization"] = row(
    lambda t: [v(t, *IMAGE), *[v("float32", 2, kind="positive") for _ in range(4)]]
)
ROWS["BatchNormalization:T1"] = row(
    lambda t: [v("float32", *IMAGE), *[v(t if n < 2 else "float32", 2, kind="positive") for n in range(4)]]
)
ROWS["BatchNormalization:T2"] = row(
    lambda t: [v("float32", *IMAGE), *[v("float32" if n < 2 else t, 2, kind="positive") for n in range(4)]]
)
ROWS["InstanceNormalization"] = row(lambda t: [v(t, *IMAGE), v(t, 2), v(t, 2)])
ROWS["GroupNormalization"] = row(lambda t: [v(t, 1, 4, 5), v(t, 4), v(t, 4)], num_groups=2)
ROWS["LayerNormalization"] = row(lambda t: [v(t), v(t, 5), v(t, 5)])
ROWS["RMSNormalization"] = row(lambda t: [v(t), v("float32", 5)])
ROWS["RMSNormalization:V"] = row(lambda t: [v("float32"), v(t, 5)])
ROWS["MeanVarianceNormalization"] = of_one("any", *IMAGE)

# ---- elements that are only moved
ROWS["Concat"] = moved(lambda t: [v(t), v(t, 2, 5)], axis=0)
ROWS["Compress"] = moved(lambda t: [v(t), c([1, 0, 1], "bool")], axis=0)
ROWS["Expand"] = moved(lambda t: [v(t, 3, 1), c([2, 3, 4])])
for name in ("Flatten", "Transpose"):
    ROWS[name] = moved(lambda t: [v(t, 3, 4, 5)])
for name in ("Shape", "Size"):
    ROWS[name] = of_one()
ROWS["Reshape"] = moved(lambda t: [v(t), c([5, 3])])
ROWS["Squeeze"] = moved(lambda t: [v(t, 3, 1, 5), c([1])])
ROWS["Unsqueeze"] = moved(lambda t: [v(t), c([1])])
ROWS["Gather"] = moved(lambda t: [v(t), c([[0, 2], [1, -1]])])
ROWS["Gather:Tind"] = moved(lambda t: [v("float32"), c([[0, 2], [1, -1]], t)])
ROWS["GatherElements"] = moved(lambda t: [v(t), c([[0, 2, 1, 0, 1]])])
ROWS["GatherElements:Tind"] = moved(lambda t: [v("float32"), c([[0, 2, 1, 0, 1]], t)])
ROWS["GatherND"] = moved(lambda t: [v(t), c([[0, 2], [1, 4]])])
for name in ("Scatter", "ScatterElements"):
    ROWS[name] = moved(lambda t: [v(t), c([[0, 2, 1, 0, 1]]), v(t, 1, 5)])
    ROWS[name + ":Tind"] = moved(lambda t: [v("float32"), c([[0, 2, 1, 0, 1]], t), v("float32", 1, 5)])
ROWS["ScatterElements:add"] = row(lambda t: [v(t), c([[0, 2, 1, 0, 1]]), v(t, 1, 5)], reduction="add")
ROWS["ScatterND"] = moved(lambda t: [v(t), c([[0], [2]]), v(t, 2, 5)])
ROWS["ScatterND:max"] = row(lambda t: [v(t), c([[0], [2]]), v(t, 2, 5)], reduction="max")
ROWS["Pad"] = moved(lambda t: [v(t), c([1, 0, 0, 2]), c(1, t)])
ROWS["Pad:reflect"] = moved(lambda t: [v(t), c([1, 0, 0, 2])], mode="reflect")
ROWS["Pad:Tind"] = moved(lambda t: [v("float32"), c([1, 2]), c(1, "float32"), c([1], t)])
ROWS["ReverseSequence"] = moved(lambda t: [v(t, 4, 3), c([1, 2, 4])])
ROWS["Slice"] = moved(lambda t: [v(t), c([1, 4]), c([3, 0]), c([0, 1]), c([1, -2])])
ROWS["Slice:Tind"] = moved(lambda t: [v("float32"), c([1], t), c([3], t), c([1], t), c([1], t)])
ROWS["Split"] = moved(lambda t: [v(t), c([2, 3])], outputs=2, axis=1)
ROWS["TensorScatter"] = moved(lambda t: [v(t, 2, 1, 5, 3), v(t, 2, 1, 2, 3), c([1, 3])])
ROWS["Tile"] = moved(lambda t: [v(t), c([2, 3])])
ROWS["TopK"] = moved(lambda t: [v(t, 15), c([4])], outputs=2)
ROWS["Trilu"] = moved(lambda t: [v(t, 4, 5), c(1)])
ROWS["Unique"] = moved(lambda t: [v(t, 15)])
ROWS["Upsample"] = moved(lambda t: [v(t, *IMAGE), c([1, 1, 2, 3], "float32")])
ROWS["Where:T"] = moved(lambda t: [v("bool"), v(t), v(t, 5)])
ROWS["NonZero"] = of_one()
ROWS["OneHot"] = row(lambda t: [np.array([1, 5, 2, 7]).astype(known(t)), c(11), v("float32", 2)])
ROWS["OneHot:T2"] = row(lambda t: [c([1, 5, 2]), c(11, t), v("float32", 2)])
ROWS["OneHot:T3"] = moved(lambda t: [v("int64", 4, kind="positive"), c(11), v(t, 2)])

# ---- made from shapes, ranges and random numbers
ROWS["ConstantOfShape"] = row(lambda t: [c([2, 3])], typed=("value",))
ROWS["Constant"] = row(lambda t: [], typed=("value",))
ROWS["EyeLike"] = of_one()
ROWS["EyeLike:T2"] = row(lambda t: [v("float32")], typed=("dtype",))
ROWS["Range"] = row(lambda t: [c(1, t), c(9, t), c(2, t)])
for name in ("RandomNormal", "RandomUniform"):
    ROWS[name] = row(lambda t: [], typed=("dtype",), compares=False, shape=[3, 5], seed=1.0)
    ROWS[name + "Like"] = row(lambda t: [v(t)], compares=False, dtype=1, seed=1.0)
    ROWS[name + "Like:T2"] = row(lambda t: [v("float32")], typed=("dtype",), compares=False, seed=1.0)
ROWS["Bernoulli"] = row(lambda t: [np.ones((3, 5)).astype(known(t))], seed=1.0)
ROWS["Bernoulli:T2"] = row(lambda t: [np.ones((3, 5), "float32")], typed=("dtype",), seed=1.0)
ROWS["Multinomial"] = row(lambda t: [v(t)], compares=False, sample_size=4, seed=1.0)
ROWS["Multinomial:T2"] = row(
    lambda t: [v("float32")], typed=("dtype",), compares=False, sample_size=4, seed=1.0
)
for name in ("BlackmanWindow", "HammingWindow", "HannWindow"):
    ROWS[name] = row(lambda t: [c(7, t)])
    ROWS[name + ":T2"] = row(lambda t: [c(7)], typed=("output_datatype",))
ROWS["MelWeightMatrix"] = row(
    lambda t: [c(8, t), c(16, t), c(8192, t), c(0.0, "float32"), c(4096.0, "float32")]
)
ROWS["MelWeightMatrix:T2"] = row(lambda t: [c(8), c(16), c(8192), c(0.0, t), c(4096.0, t)])
ROWS["MelWeightMatrix:T3"] = row(
    lambda t: [c(8), c(16), c(8192), c(0.0, "float32"), c(4096.0, "float32")], typed=("output_datatype",)
)
ROWS["Dropout"] = moved(lambda t: [v(t)])
ROWS["Dropout:T1"] = moved(lambda t: [v("float32"), c(0.5, t)])

# ---- signals, attention, losses
ROWS["DFT"] = row(lambda t: [v(t, 1, 6, 1)])
ROWS["DFT:T2"] = row(lambda t: [v("float32", 1, 6, 1), c(8, t)])
ROWS["STFT"] = row(lambda t: [v(t, 1, 12, 1), c(4), None, c(6)])
ROWS["STFT:T2"] = row(lambda t: [v("float32", 1, 12, 1), c(4, t), None, c(6, t)])
ROWS["Attention"] = row(
    lambda t: [v(t, 1, 2, 3, 4), v(t, 1, 2, 5, 4), v("float32" if t == "float64" else t, 1, 2, 5, 4)]
)
ROWS["Attention:U"] = row(
    lambda t: [v("float32", 1, 2, 3, 4), v("float32", 1, 2, 5, 4), v("float32", 1, 2, 5, 4), v(t, 3, 5)]
)
ROWS["LinearAttention"] = row(
    lambda t: [v(t, 1, 3, 8), v(t, 1, 3, 8), v(t, 1, 3, 8)], outputs=2, q_num_heads=2, kv_num_heads=2,
    update_rule="linear",
)  # fmt: skip
ROWS["RotaryEmbedding"] = row(lambda t: [v(t, 1, 2, 3, 4), v(t, 1, 3, 2), v(t, 1, 3, 2)])
for name in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
    ROWS[name] = row(lambda t: [v(t), c([0, 4, 2])])
    ROWS[name + ":Tind"] = row(lambda t: [v("float32"), c([0, 4, 2], t)])

# ---- casts and quantization
ROWS["Cast"] = kept(lambda t: [v(t)], to=1)
ROWS["Cast:T2"] = kept(lambda t: [v("float32", kind="positive")], typed=("to",))
ROWS["CastLike"] = kept(lambda t: [v(t), c([0], "float32")])
ROWS["CastLike:T2"] = kept(lambda t: [v("float32", kind="positive"), np.ones(1).astype(known(t))])
ROWS["BitCast"] = None  # tests/frontend/onnx/converters/test_math.py
ROWS["QuantizeLinear"] = kept(lambda t: [v(t), c(0.5, "float32"), c(1, "uint8")])
ROWS["QuantizeLinear:T2"] = kept(lambda t: [v("float32"), c(2, t), c(1, "uint8")])
ROWS["QuantizeLinear:T3"] = kept(lambda t: [v("float32", kind="positive"), c(2, "float32"), c(0, t)])
ROWS["DequantizeLinear"] = kept(lambda t: [v(t), c(0.5, "float32")])
ROWS["DequantizeLinear:T2"] = kept(lambda t: [v("int8"), c(2, t)], output_dtype=1)
ROWS["DequantizeLinear:T3"] = kept(lambda t: [v("int8"), c(2, "float32")], typed=("output_dtype",))
for place, param in ((0, "T1"), (3, "T2"), (7, "T3")):
    ROWS[f"QLinearMatMul:{param}"] = row(
        lambda t, place=place: [
            v(t if place == 0 else "uint8", 3, 5), c(0.5, "float32"), c(0, t if place == 0 else "uint8"),
            v(t if place == 3 else "uint8", 5, 4), c(0.5, "float32"), c(0, t if place == 3 else "uint8"),
            c(4, "float32"), c(0, t if place == 7 else "uint8"),
        ]
    )  # fmt: skip
    ROWS[f"QLinearConv:{param}"] = row(
        lambda t, place=place: [
            v(t if place == 0 else "uint8", *IMAGE), c(0.5, "float32"), c(0, t if place == 0 else "uint8"),
            v(t if place == 3 else "uint8", 3, 2, 3, 3), c(0.5, "float32"), c(0, t if place == 3 else "uint8"),
            c(16, "float32"), c(0, t if place == 7 else "uint8"),
        ]
    )  # fmt: skip
ROWS["QLinearMatMul:TS"] = row(
    lambda t: [
        v("uint8", 3, 5), c(0.5, t), c(0, "uint8"), v("uint8", 5, 4), c(0.5, t), c(0, "uint8"), c(4, t), c(0, "uint8")
    ]
)  # fmt: skip

ROWS["Attention:T2"] = row(lambda t: [v("float32", 1, 2, 3, 4), v("float32", 1, 2, 5, 4), v(t, 1, 2, 5, 4)])
ROWS["LinearAttention:S"] = row(
    lambda t: [*[v("float32", 1, 3, 8) for _ in range(3)], v(t, 1, 2, 4, 4)], outputs=2, q_num_heads=2,
    kv_num_heads=2, update_rule="linear",
)  # fmt: skip
ROWS["Resize:T2"] = row(
    lambda t: [v("float32", *IMAGE), c([0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75], t), None, c([1, 2, 9, 4])],
    mode="linear", coordinate_transformation_mode="tf_crop_and_resize",
)  # fmt: skip

#: the newest opset that has the operator
OPSETS = {"Upsample": 9, "Scatter": 10}

#: the dtype in which the reference computes instead: onnx's own fails in this one
REFERENCE = {
    ("MaxPool", "int8"): "float32",
    ("MaxPool", "uint8"): "float32",
    ("MeanVarianceNormalization", "float64"): "float32",
    ("OneHot:T3", "bool"): "uint8",
    ("Resize", "bool"): "uint8",
    ("Resize:linear", "bool"): "float32",
}


def by_numpy_lrn(x):
    """The definition; onnx's reference leaves out the last channel of a window."""
    x = x.astype("float64")
    windows = [(x[:, max(0, n - 1) : n + 2] ** 2).sum(1) for n in range(x.shape[1])]
    return [x / (1 + 1e-4 / 3 * np.stack(windows, 1)) ** 0.75]


def by_numpy_scatter(data, indices, updates):
    result = data.copy()
    np.put_along_axis(result, indices.astype("int64"), updates, 0)
    return [result]


def by_numpy_products(a, a_scale, a_zero, b, b_scale, b_zero, scale, zero):
    """QLinearMatMul by its formula."""
    numbers = [each.astype("float64") for each in (a, a_scale, a_zero, b, b_scale, b_zero, scale, zero)]
    a, a_scale, a_zero, b, b_scale, b_zero, scale, zero_point = numbers
    steps = ((a - a_zero) * a_scale) @ ((b - b_zero) * b_scale) / scale
    if zero.dtype.kind in "iu":
        info = np.iinfo(zero.dtype)
        return [(np.rint(steps) + zero_point).clip(info.min, info.max).astype(zero.dtype)]
    largest = float(ml_dtypes.finfo(zero.dtype).max)
    return [(steps + zero_point).clip(-largest, largest).astype("float32").astype(zero.dtype)]


#: operators that onnx's reference does not have, or gets wrong
BY_NUMPY = {
    "GlobalLpPool": lambda x: [np.sqrt((x.astype("float64") ** 2).sum((2, 3), keepdims=True))],
    "LRN": by_numpy_lrn,
    # bins of 2 rows and 2.5 columns of the region of 4 rows and 5 columns
    "MaxRoiPool": lambda x, _: [
        np.stack([[x[0, :, r : r + 2, w : w + 3].max((1, 2)) for w in (0, 2)] for r in (0, 2)]).transpose(
            2, 0, 1
        )[None]
    ],
    "Multinomial": lambda x: [np.zeros((3, 4))],
    "Multinomial:T2": lambda x: [np.zeros((3, 4))],
    "Scatter": by_numpy_scatter,
    "Scatter:Tind": by_numpy_scatter,
    **{f"QLinearMatMul:{param}": by_numpy_products for param in ("T1", "T2", "T3", "TS")},
}

#: operators whose tests are elsewhere, with the reason
NOT_HERE = {
    **dict.fromkeys(("If", "Loop", "Scan"), "has the types of its graphs"),
    **dict.fromkeys(
        (
            "ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
            "SequenceLength", "SequenceMap", "SplitToSequence",
        ),
        "sequences",
    ),
    **dict.fromkeys(("Optional", "OptionalGetElement", "OptionalHasElement"), "optional values"),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"), "strings"),
    **dict.fromkeys(("DynamicQuantizeLinear", "ImageDecoder", "NonMaxSuppression"), "has one element type"),
}  # fmt: skip

NO_MEMORY = "elements of 6 bits have no form in memory here"
FLOATS_OF_6_BITS = {"float6_e2m3fn": NO_MEMORY, "float6_e3m2fn": NO_MEMORY}
#: element types that are refused, with the reason
REFUSED = dict.fromkeys(
    ("Cast", "Cast:T2", "Cast:limits", "DequantizeLinear", "QuantizeLinear:T3"), FLOATS_OF_6_BITS
)
