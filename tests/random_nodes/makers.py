"""One function for each family of operators: random arrays and attributes that the standard allows."""

import numpy as np

from .model import Spec

MAKERS: dict = {}
EXTENTS = [1, 1, 2, 3, 5, 7]
FLOATS = ["float32", "float32", "float32", "float16", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint32", "uint64"]


def maker(function):
    MAKERS[function.__name__] = function
    return function


def shape(pick, least=0, most=4) -> list[int]:
    made = [pick.choice(EXTENTS) for _ in range(pick.randrange(least, most + 1))]
    if made and pick.random() < 0.04:
        made[pick.randrange(len(made))] = 0
    return made


def floats(pick, rng, dims, low=-2.0, high=2.0, dtype=None):
    return rng.uniform(low, high, dims).astype(dtype or pick.choice(FLOATS))


def whole(pick, rng, dims, low=0, high=5, dtype=None):
    return rng.integers(low, high, dims).astype(dtype or pick.choice(INTEGERS))


def broadcast(pick, dims: list[int]) -> list[int]:
    """Extents that broadcast against `dims`."""
    cut = pick.randrange(len(dims) + 1) if pick.random() < 0.4 else 0
    return [1 if pick.random() < 0.3 else extent for extent in dims[cut:]]


def some_axes(pick, rank: int, least=0) -> list[int]:
    chosen = pick.sample(range(rank), pick.randrange(min(least, rank), rank + 1))
    return [axis - rank if pick.random() < 0.5 else axis for axis in chosen]


# ---- element by element


@maker
def unary(pick, rng):
    op, low, high = pick.choice(
        [
            *(
                (op, -2, 2)
                for op in ("Abs", "Neg", "Ceil", "Floor", "Sign", "Exp", "Sin", "Cos", "Tanh", "Sigmoid")
            ),
            *(
                (op, -2, 2)
                for op in ("Relu", "Erf", "Softplus", "Softsign", "Sinh", "Cosh", "Atan", "Asinh", "Round")
            ),
            *(
                (op, -2, 2)
                for op in ("Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Mish", "Celu", "Shrink")
            ),
            *((op, -2, 2) for op in ("ThresholdedRelu", "Identity", "Gelu", "IsNaN", "IsInf")),
            *((op, 0.1, 3) for op in ("Sqrt", "Log", "Reciprocal")),
            *((op, -0.9, 0.9) for op in ("Asin", "Acos", "Atanh", "Tan")),
            ("Acosh", 1.1, 3),
        ]
    )
    attrs = {}
    if op in ("Elu", "LeakyRelu", "Celu", "ThresholdedRelu", "HardSigmoid") and pick.random() < 0.5:
        attrs["alpha"] = pick.choice([0.1, 0.5, 1.5])
    dtype = "float32" if op in ("Celu", "IsInf") else None
    return Spec(op, [floats(pick, rng, shape(pick), low, high, dtype)], attrs=attrs)


@maker
def binary(pick, rng):
    dims = shape(pick, 0, 4)
    pair = [dims, broadcast(pick, dims)]
    pick.shuffle(pair)
    op = pick.choice(["Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Mod", "Min", "Max", "Sum", "Mean"])
    if op in ("PRelu",):
        pair = [dims, broadcast(pick, dims)]
    if op in ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max") and pick.random() < 0.4:
        dtype = pick.choice(INTEGERS)
        return Spec(op, [whole(pick, rng, pair[0], 0, 9, dtype), whole(pick, rng, pair[1], 1, 5, dtype)])
    dtype = pick.choice(FLOATS)
    attrs = {"fmod": 1} if op == "Mod" else {}
    return Spec(op, [floats(pick, rng, each, 0.3, 2, dtype) for each in pair], attrs=attrs)


@maker
def compare(pick, rng):
    dims = shape(pick)
    op = pick.choice(["Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual", "And", "Or", "Xor"])
    dtype = (
        "bool"
        if op in ("And", "Or", "Xor")
        else pick.choice(["float32", "float64", "int32", "int64", "float16"])
    )
    return Spec(op, [whole(pick, rng, each, 0, 2, dtype) for each in (dims, broadcast(pick, dims))])


@maker
def bits(pick, rng):
    dims, dtype = shape(pick), pick.choice(INTEGERS)
    op = pick.choice(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "BitShift"])
    if op == "BitwiseNot":
        return Spec(op, [whole(pick, rng, dims, 0, 100, dtype)])
    attrs = {}
    if op == "BitShift":
        attrs["direction"] = pick.choice(["LEFT", "RIGHT"])
        dtype = pick.choice(["uint8", "uint16", "uint32", "uint64"])
    return Spec(
        op, [whole(pick, rng, each, 0, 7, dtype) for each in (dims, broadcast(pick, dims))], attrs=attrs
    )


@maker
def cast(pick, rng):
    from onnx import helper

    names = [*FLOATS, *INTEGERS, "bool"]
    to = helper.np_dtype_to_tensor_dtype(np.dtype(pick.choice(names)))
    return Spec("Cast", [whole(pick, rng, shape(pick), 0, 100, pick.choice(names))], attrs={"to": to})


@maker
def clip(pick, rng):
    dtype = pick.choice(["float32", "float64", "int32", "int64", "int8"])
    low, high = (np.array(each, dtype) if pick.random() < 0.7 else None for each in (-1, 1))
    return Spec("Clip", [whole(pick, rng, shape(pick), -3, 4, "int64").astype(dtype), low, high], (1, 2))


@maker
def where(pick, rng):
    dims, dtype = shape(pick), pick.choice(["float32", "int64", "float16", "bool"])
    arrays = [whole(pick, rng, broadcast(pick, dims), 0, 2, "bool")]
    arrays += [whole(pick, rng, each, 0, 2, dtype) for each in (dims, broadcast(pick, dims))]
    return Spec("Where", arrays)


# ---- sums


@maker
def reduce(pick, rng):
    op = "Reduce" + pick.choice(
        ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
    )
    dims = shape(pick, 0, 4)
    attrs = {"keepdims": pick.randrange(2)}
    data = floats(pick, rng, dims, 0.2, 1.5, pick.choice(["float32", "float32", "float64"]))
    if pick.random() < 0.2 and op not in ("ReduceMean", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        data = whole(pick, rng, dims, 0, 3, pick.choice(["int32", "int64"]))
    if pick.random() < 0.3:
        return Spec(op, [data], attrs=attrs)
    axes = np.array(some_axes(pick, len(dims)), "int64")
    if pick.random() < 0.2:
        attrs["noop_with_empty_axes"] = 1
    return Spec(op, [data, axes], (1,), attrs=attrs)


@maker
def arg_reduce(pick, rng):
    dims = [max(1, extent) for extent in shape(pick, 1)]
    attrs = {"axis": pick.randrange(-len(dims), len(dims)), "keepdims": pick.randrange(2)}
    if pick.random() < 0.4:
        attrs["select_last_index"] = 1
    dtype = pick.choice(["float32", "float64", "int32", "int8"])
    return Spec(pick.choice(["ArgMax", "ArgMin"]), [whole(pick, rng, dims, 0, 5, dtype)], attrs=attrs)


@maker
def softmax(pick, rng):
    dims = shape(pick, 1)
    axis = pick.randrange(-len(dims), len(dims))
    op = pick.choice(["Softmax", "LogSoftmax"])
    return Spec(
        op,
        [floats(pick, rng, dims)],
        attrs={"axis": axis},
        opset=pick.choice([11, 13, 22]) if axis >= 0 else 22,
    )


@maker
def cumsum(pick, rng):
    dims = shape(pick, 1)
    axis = np.array(pick.randrange(-len(dims), len(dims)), pick.choice(["int32", "int64"]))
    attrs = {"exclusive": pick.randrange(2), "reverse": pick.randrange(2)}
    data = floats(pick, rng, dims, dtype=pick.choice(["float32", "float64"]))
    return Spec("CumSum", [data, axis], (1,), attrs=attrs)


@maker
def topk(pick, rng):
    dims = [max(1, extent) for extent in shape(pick, 1)]
    axis = pick.randrange(-len(dims), len(dims))
    k = np.array([pick.randrange(1, dims[axis] + 1)], "int64")
    data = (
        rng.permutation(int(np.prod(dims))).reshape(dims).astype(pick.choice(["float32", "int64", "int32"]))
    )
    attrs = {"axis": axis, "largest": pick.randrange(2)}
    return Spec("TopK", [data, k], pick.choice([(), (1,)]), 2, attrs=attrs)


@maker
def norm(pick, rng):
    op = pick.choice(
        ["LayerNormalization", "InstanceNormalization", "LpNormalization", "BatchNormalization", "LRN"]
    )
    dims = [pick.choice([1, 2, 3, 5]) for _ in range(pick.randrange(3, 5))]
    data = floats(pick, rng, dims, dtype="float32")
    if op == "LayerNormalization":
        axis = pick.randrange(-len(dims), len(dims))
        rest = dims[axis:]
        return Spec(op, [data, floats(pick, rng, rest, dtype="float32")], attrs={"axis": axis}, loose=1e-3)
    if op == "LpNormalization":
        return Spec(op, [data], attrs={"axis": pick.randrange(-1, len(dims)), "p": pick.choice([1, 2])})
    if op == "LRN":
        return Spec(op, [data], attrs={"size": pick.choice([1, 3, 5]), "alpha": 0.01, "bias": 1.5})
    count = 2 if op == "InstanceNormalization" else 4
    others = [floats(pick, rng, [dims[1]], 0.2, 1, "float32") for _ in range(count)]
    return Spec(op, [data, *others], loose=1e-3)


# ---- products


@maker
def matmul(pick, rng):
    m, n, k = (pick.choice([1, 2, 5, 7, 17]) for _ in range(3))
    batch = shape(pick, 0, 2)
    a, b = [*batch, m, k], [*broadcast(pick, batch), k, n]
    if pick.random() < 0.15:
        a = [k]
    elif pick.random() < 0.15:
        b = [k]
    dtype = pick.choice(["float32", "float32", "float64", "int32", "float16"])
    return Spec(
        "MatMul",
        [floats(pick, rng, each, -2, 2, dtype) for each in (a, b)],
        pick.choice([(), (), (1,)]),
        loose=1e-3,
    )


@maker
def gemm(pick, rng):
    m, n, k = (pick.choice([1, 2, 5, 7, 17]) for _ in range(3))
    attrs = {"transA": pick.randrange(2), "transB": pick.randrange(2), "alpha": pick.choice([1.0, 0.5])}
    a, b = [k, m] if attrs["transA"] else [m, k], [n, k] if attrs["transB"] else [k, n]
    arrays = [floats(pick, rng, each, dtype="float32") for each in (a, b)]
    bias = pick.choice([None, [n], [m, n], [1, n], [m, 1], []])
    if bias is not None:
        arrays.append(floats(pick, rng, bias, dtype="float32"))
        attrs["beta"] = pick.choice([1.0, 2.0])
    return Spec("Gemm", arrays, pick.choice([(), (1,)]), attrs=attrs, loose=1e-3)


@maker
def conv(pick, rng):
    rank = pick.choice([1, 2, 2, 3])
    group = pick.choice([1, 1, 2, 3])
    channels, filters = group * pick.choice([1, 2, 3]), group * pick.choice([1, 2, 5])
    kernel = [pick.choice([1, 2, 3]) for _ in range(rank)]
    dilations = [pick.choice([1, 1, 2]) for _ in range(rank)]
    size = [pick.randrange(5, 9) for _ in range(rank)]
    attrs = {
        "group": group,
        "dilations": dilations,
        "strides": [pick.choice([1, 1, 2, 3]) for _ in range(rank)],
    }
    if pick.random() < 0.3:
        attrs["auto_pad"] = pick.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if attrs["auto_pad"] != "VALID":
            attrs["dilations"] = [1] * rank
    else:
        attrs["pads"] = [pick.choice([0, 1, 2]) for _ in range(2 * rank)]
    arrays = [
        floats(pick, rng, [pick.choice([1, 2]), channels, *size], dtype="float32"),
        floats(pick, rng, [filters, channels // group, *kernel], dtype="float32"),
    ]
    if pick.random() < 0.5:
        arrays.append(floats(pick, rng, [filters], dtype="float32"))
    return Spec("Conv", arrays, pick.choice([(1,), (1, 2)]), attrs=attrs, loose=1e-3)


@maker
def conv_transpose(pick, rng):
    rank = pick.choice([1, 2])
    group = pick.choice([1, 1, 2])
    channels, filters = group * pick.choice([1, 2]), pick.choice([1, 2, 3])
    attrs = {"group": group, "strides": [pick.choice([1, 2, 3]) for _ in range(rank)]}
    if pick.random() < 0.5:
        attrs["pads"] = [pick.choice([0, 1]) for _ in range(2 * rank)]
    arrays = [
        floats(pick, rng, [1, channels, *[pick.randrange(3, 6) for _ in range(rank)]], dtype="float32"),
        floats(pick, rng, [channels, filters, *[pick.choice([2, 3]) for _ in range(rank)]], dtype="float32"),
    ]
    return Spec("ConvTranspose", arrays, (1,), attrs=attrs, loose=1e-3)


@maker
def pool(pick, rng):
    rank = pick.choice([1, 2, 2, 3])
    op = pick.choice(["MaxPool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"])
    data = floats(pick, rng, [1, 2, *[pick.randrange(4, 9) for _ in range(rank)]], dtype="float32")
    if op.startswith("Global"):
        return Spec(op, [data])
    kernel = [pick.choice([2, 3]) for _ in range(rank)]
    attrs = {"kernel_shape": kernel, "strides": [pick.choice([1, 2]) for _ in range(rank)]}
    if pick.random() < 0.5:
        attrs["pads"] = [pick.choice([0, 1]) for _ in range(2 * rank)]
    if pick.random() < 0.3 and op != "LpPool":
        attrs["ceil_mode"] = 1
    if op == "AveragePool" and pick.random() < 0.5:
        attrs["count_include_pad"] = 1
    return Spec(op, [data], attrs=attrs, loose=1e-3)


# ---- moves


@maker
def transpose(pick, rng):
    dims = shape(pick)
    attrs = {"perm": pick.sample(range(len(dims)), len(dims))} if dims and pick.random() < 0.8 else {}
    return Spec(
        "Transpose", [whole(pick, rng, dims, 0, 99, pick.choice([*INTEGERS, "float32"]))], attrs=attrs
    )


@maker
def reshape(pick, rng):
    dims = shape(pick)
    wanted = pick.sample(dims, len(dims))
    if wanted and 0 not in wanted and pick.random() < 0.6:
        wanted[pick.randrange(len(wanted))] = -1
    attrs = {"allowzero": 1} if 0 in wanted else {}
    return Spec(
        "Reshape", [whole(pick, rng, dims, dtype="int64"), np.array(wanted, "int64")], (1,), attrs=attrs
    )


@maker
def flatten(pick, rng):
    dims = shape(pick)
    return Spec(
        "Flatten", [floats(pick, rng, dims)], attrs={"axis": pick.randrange(-len(dims), len(dims) + 1)}
    )


@maker
def squeeze(pick, rng):
    dims = shape(pick, 1)
    if pick.random() < 0.5:
        axes = [axis for axis, extent in enumerate(dims) if extent == 1]
        return (
            Spec("Squeeze", [floats(pick, rng, dims), np.array(axes, "int64")], (1,))
            if axes
            else unary(pick, rng)
        )
    rank = len(dims) + 1
    axes = np.array([pick.randrange(-rank, rank)], "int64")
    return Spec("Unsqueeze", [floats(pick, rng, dims), axes], (1,))


@maker
def concat(pick, rng):
    dims, dtype = shape(pick, 1), pick.choice(["float32", "int64", "float16", "uint8", "bool"])
    axis = pick.randrange(len(dims))
    arrays = []
    for _ in range(pick.randrange(1, 4)):
        one = list(dims)
        one[axis] = pick.choice(EXTENTS)
        arrays.append(whole(pick, rng, one, 0, 2, dtype))
    return Spec("Concat", arrays, attrs={"axis": axis - len(dims) if pick.random() < 0.5 else axis})


@maker
def split(pick, rng):
    dims = shape(pick, 1)
    axis = pick.randrange(len(dims))
    sizes = [pick.choice(EXTENTS) for _ in range(pick.randrange(1, 4))]
    dims[axis] = sum(sizes)
    data = floats(pick, rng, dims)
    return Spec("Split", [data, np.array(sizes, "int64")], (1,), len(sizes), attrs={"axis": axis})


@maker
def slice_(pick, rng):
    dims = shape(pick, 1)
    axes = pick.sample(range(len(dims)), pick.randrange(1, len(dims) + 1))
    bounds = [[pick.choice([-100, -3, -1, 0, 1, 2, 4, 100]) for _ in axes] for _ in range(2)]
    steps = [pick.choice([1, 1, 2, -1, -2, 3]) for _ in axes]
    kind = pick.choice(["int32", "int64"])
    lists = [np.array(each, kind) for each in (*bounds, axes, steps)]
    return Spec("Slice", [floats(pick, rng, dims), *lists], pick.choice([(1, 2, 3, 4), (3, 4)]))


@maker
def pad(pick, rng):
    dims = [max(2, extent) for extent in shape(pick, 1, 3)]
    mode = pick.choice(["constant", "constant", "reflect", "edge", "wrap"])
    most = 2 if mode == "constant" else 1
    pads = np.array(
        [pick.randrange(-1 if mode == "constant" else 0, most + 1) for _ in range(2 * len(dims))], "int64"
    )
    arrays = [floats(pick, rng, dims, dtype="float32"), pads]
    if mode == "constant" and pick.random() < 0.5:
        arrays.append(np.array(1.5, "float32"))
    return Spec("Pad", arrays, tuple(range(1, len(arrays))), attrs={"mode": mode})


@maker
def expand(pick, rng):
    dims = shape(pick)
    op = pick.choice(["Expand", "Tile"])
    if op == "Tile":
        return Spec(
            op, [floats(pick, rng, dims), np.array([pick.choice([0, 1, 2, 3]) for _ in dims], "int64")], (1,)
        )
    return Spec(op, [floats(pick, rng, broadcast(pick, dims)), np.array(dims, "int64")], (1,))


@maker
def gather(pick, rng):
    dims = [max(1, extent) for extent in shape(pick, 1)]
    axis = pick.randrange(len(dims))
    kind = pick.choice(["int32", "int64"])
    data, attrs = floats(pick, rng, dims), {"axis": axis - len(dims) if pick.random() < 0.5 else axis}
    if pick.random() < 0.5:
        indices = whole(pick, rng, shape(pick, 0, 2), -dims[axis], dims[axis], kind)
        return Spec("Gather", [data, indices], pick.choice([(), (1,)]), attrs=attrs)
    inner = [pick.randrange(1, extent + 1) for extent in dims]
    return Spec("GatherElements", [data, whole(pick, rng, inner, -dims[axis], dims[axis], kind)], attrs=attrs)


@maker
def scatter(pick, rng):
    dims = [max(1, extent) for extent in shape(pick, 1, 3)]
    axis = pick.randrange(len(dims))
    inner = [pick.randrange(1, extent + 1) for extent in dims]
    reduction = pick.choice(["none", "add", "mul", "max", "min"])
    indices = np.argsort(rng.random(dims), axis=axis)[tuple(slice(0, extent) for extent in inner)]
    if reduction != "none":
        indices = rng.integers(0, dims[axis], inner)
    arrays = [
        floats(pick, rng, dims, 0.5, 1.5, "float32"),
        indices.astype("int64"),
        floats(pick, rng, inner, 0.5, 1.5, "float32"),
    ]
    return Spec("ScatterElements", arrays, attrs={"axis": axis, "reduction": reduction})


@maker
def space(pick, rng):
    block = pick.choice([2, 3])
    if pick.random() < 0.5:
        data = floats(pick, rng, [1, 2, block * pick.choice([1, 2]), block * 2], dtype="float32")
        return Spec("SpaceToDepth", [data], attrs={"blocksize": block})
    data = floats(pick, rng, [1, 2 * block * block, 2, 3], dtype="float32")
    return Spec("DepthToSpace", [data], attrs={"blocksize": block, "mode": pick.choice(["DCR", "CRD"])})


@maker
def trilu(pick, rng):
    dims = shape(pick, 2)
    return Spec(
        "Trilu",
        [floats(pick, rng, dims), np.array(pick.randrange(-3, 4), "int64")],
        (1,),
        attrs={"upper": pick.randrange(2)},
    )


@maker
def one_hot(pick, rng):
    depth = pick.choice([1, 3, 7])
    dims = shape(pick, 0, 3)
    indices = whole(pick, rng, dims, -depth, depth, pick.choice(["int32", "int64"]))
    values = np.array([pick.choice([0, -1]), 2], "float32")
    axis = pick.randrange(-len(dims) - 1, len(dims) + 1)
    return Spec("OneHot", [indices, np.array(depth, "int64"), values], (1,), attrs={"axis": axis})


@maker
def resize(pick, rng):
    dims = [1, 2, pick.randrange(3, 7), pick.randrange(3, 7)]
    mode = pick.choice(["nearest", "linear", "cubic"])
    attrs = {
        "mode": mode,
        "coordinate_transformation_mode": pick.choice(["half_pixel", "asymmetric", "align_corners"]),
    }
    if mode == "nearest":
        attrs["nearest_mode"] = pick.choice(["floor", "ceil", "round_prefer_floor"])
    sizes = np.array([1, 2, pick.randrange(2, 12), pick.randrange(2, 12)], "int64")
    data = floats(pick, rng, dims, dtype="float32")
    return Spec("Resize", [data, None, None, sizes], (3,), opset=19, attrs=attrs, loose=1e-3)


# ---- quantized


@maker
def quantize(pick, rng):
    dims, dtype = shape(pick, 1), pick.choice(["uint8", "int8"])
    axis = pick.randrange(len(dims))
    count = [dims[axis]] if pick.random() < 0.5 else []
    scale = rng.uniform(0.01, 0.1, count).astype("float32")
    zero = whole(pick, rng, count, 0, 9, dtype)
    if pick.random() < 0.5:
        data = whole(pick, rng, dims, 0, 100, dtype)
        return Spec("DequantizeLinear", [data, scale, zero], (1, 2), attrs={"axis": axis})
    return Spec(
        "QuantizeLinear",
        [floats(pick, rng, dims, dtype="float32"), scale, zero],
        (1, 2),
        attrs={"axis": axis},
    )
