"""One function an operator: random attributes, and inputs whose extents are sizes that they share."""

import numpy as np

from .model import Model, floats, indices_below, integers, positive

MAKERS: dict = {}


def maker(function):
    MAKERS[function.__name__] = function
    return function


def sizes_of(rank: int, letters: str = "abcdef") -> list[str]:
    return list(letters[:rank])


# ---- element by element


@maker
def binary(m: Model, pick):
    op = pick.choice(["Add", "Sub", "Mul", "Div", "Less", "PRelu", "Pow"])
    rank = pick.randrange(1, 4)
    shape = sizes_of(rank)
    m.input("x", *shape, data=positive)
    other = [pick.choice([size, size, 1]) for size in shape[pick.randrange(rank) :]]
    m.input("z", *other, data=positive)
    m.node(op, "x z")


@maker
def variadic(m: Model, pick):
    shape = sizes_of(pick.randrange(1, 4))
    names = ["x", "z", "u"][: pick.randrange(2, 4)]
    for name in names:
        m.input(name, *[pick.choice([size, size, size, 1]) for size in shape])
    m.node(pick.choice(["Sum", "Max", "Min", "Mean"]), " ".join(names))


@maker
def where(m: Model, pick):
    shape = sizes_of(pick.randrange(1, 4))
    m.input("c", *[pick.choice([size, 1]) for size in shape], data=integers(0, 2, "bool"))
    m.input("x", *shape)
    m.input("z", *shape[pick.randrange(len(shape)) :])
    m.node("Where", "c x z")


# ---- products


@maker
def matmul(m: Model, pick):
    kind = pick.choice(["plain", "plain", "batch", "vector", "row", "weights"])
    if kind == "vector":
        m.input("x", "m", "k")
        m.input("w", "k")
    elif kind == "row":
        m.input("x", "k")
        m.input("w", "b", "k", "n")
    elif kind == "batch":
        m.input("x", "b", pick.choice(["h", 1]), "m", "k")
        m.input("w", pick.choice(["b", 1]), "h", "k", "n")
    elif kind == "weights":
        m.fixed["k"] = pick.randrange(2, 9)
        m.input("x", "b", "m", "k")
        m.constants["w"] = np.random.default_rng(m.seed).standard_normal((m.fixed["k"], 5)).astype("float32")
    else:
        m.input("x", "m", "k")
        m.input("w", "k", "n")
    m.node("MatMul", "x w")


@maker
def gemm(m: Model, pick):
    trans_a, trans_b = pick.randrange(2), pick.randrange(2)
    m.input("x", *(["k", "m"] if trans_a else ["m", "k"]))
    m.input("w", *(["n", "k"] if trans_b else ["k", "n"]))
    bias = pick.choice([None, ["n"], ["m", "n"], [1, "n"], ["m", 1]])
    if bias:
        m.input("c", *bias)
    m.node("Gemm", "x w c" if bias else "x w", transA=trans_a, transB=trans_b, alpha=pick.choice([1.0, 0.5]))


@maker
def flatten_gemm(m: Model, pick):
    m.input("x", "b", "c", "h")
    m.input("w", ("c", "h"), "n")
    m.node("Flatten", "x", "f", axis=1)
    m.node("Gemm", "f w")


@maker
def einsum(m: Model, pick):
    equation = pick.choice(
        [
            "ij,jk->ik",
            "bij,bjk->bik",
            "ij,ij->",
            "bhqd,bhkd->bhqk",
            "i,i->i",
            "ij->ji",
            "bij,kj->bik",
            "ii->i",
            "i,j->ij",
        ]
    )
    terms = equation.partition("->")[0].split(",")
    for name, term in zip("xw", terms, strict=False):
        m.input(name, *term)
    m.node("Einsum", " ".join("xw"[: len(terms)]), equation=equation)


@maker
def matmul_integer(m: Model, pick):
    # onnxruntime adds pairs of products in 16 bits on processors without VNNI: 2 * 127 * 100 is a number of 16 bits
    m.input("x", "m", "k", data=integers(0, 127, "uint8"))
    m.input("w", "k", "n", data=integers(-100, 100, "int8"))
    zero = pick.random() < 0.5
    if zero:
        m.input("z", data=integers(0, 9, "uint8"))
    m.node("MatMulInteger", "x w z" if zero else "x w")


@maker
def qlinear_matmul(m: Model, pick):
    m.input("x", "m", "k", data=integers(0, 255, "uint8"))
    m.input("w", "k", "n", data=integers(0, 255, "uint8"))
    for name in ("s", "t", "r"):
        m.constant(name, 0.05, "float32")
    m.constant("z", 3, "uint8")
    m.node("QLinearMatMul", "x s z w t z r z")
    m.tolerance = 1.0


@maker
def attention(m: Model, pick):
    m.opset = 23
    m.input("q", "b", "h", "s", "d")
    m.input("k", "b", "h", "t", "d")
    m.input("v", "b", "h", "t", "e")
    if pick.random() < 0.4:
        m.input("mask", "s", "t")
        m.node("Attention", "q k v mask")
    else:
        m.node("Attention", "q k v")


# ---- images


@maker
def conv(m: Model, pick):
    dims = pick.randrange(1, 3)
    places, kernel = ["h", "w"][:dims], [pick.randrange(1, 4) for _ in range(dims)]
    groups = pick.choice([1, 1, 2])
    for place, extent in zip(places, kernel, strict=True):
        m.least[place] = extent
    m.input("x", "b", ("c", groups), *places)
    m.input("w", ("o", groups), "c", *kernel)
    bias = pick.random() < 0.5
    if bias:
        m.input("z", ("o", groups))
    attrs = {"pads": [1] * 2 * dims} if pick.random() < 0.4 else {}
    if pick.random() < 0.3:
        attrs["strides"] = [2] * dims
    m.node("Conv", "x w z" if bias else "x w", group=groups, kernel_shape=kernel, **attrs)


@maker
def conv_weights(m: Model, pick):
    channels, kernel = pick.choice([2, 4]), pick.choice([1, 3])
    groups = pick.choice([1, channels])
    m.fixed["c"] = channels
    m.least |= {"h": kernel, "w": kernel}
    m.input("x", "b", "c", "h", "w")
    shape = (channels * 2, channels // groups, kernel, kernel)
    m.constants["w"] = np.random.default_rng(m.seed).standard_normal(shape).astype("float32")
    m.node("Conv", "x w", group=groups)


@maker
def conv_transpose(m: Model, pick):
    groups, kernel = pick.choice([1, 1, 2]), pick.randrange(1, 4)
    m.input("x", "b", ("c", groups), "h", "w")
    m.input("w", ("c", groups), "o", kernel, kernel)
    bias = pick.random() < 0.5
    if bias:
        m.input("z", ("o", groups))
    m.node("ConvTranspose", "x w z" if bias else "x w", group=groups, strides=[pick.choice([1, 2])] * 2)


@maker
def pool(m: Model, pick):
    kernel = [pick.randrange(1, 4), pick.randrange(1, 4)]
    m.least |= {"h": kernel[0], "w": kernel[1]}
    m.input("x", "b", "c", "h", "w")
    attrs = {"ceil_mode": 1} if pick.random() < 0.3 else {}
    m.node(
        pick.choice(["MaxPool", "AveragePool"]),
        "x",
        kernel_shape=kernel,
        strides=[pick.choice([1, 2])] * 2,
        **attrs,
    )


@maker
def qlinear_conv(m: Model, pick):
    m.least |= {"h": 3, "w": 3}
    m.input("x", "b", "c", "h", "w", data=integers(0, 255, "uint8"))
    m.input("w", "o", "c", 3, 3, data=integers(0, 255, "uint8"))
    m.constant("s", 0.1, "float32")
    m.constant("z", 7, "uint8")
    if pick.random() < 0.5:
        m.input("t", "o", data=positive)
        m.constant("v", 0, "uint8")
        m.node("QLinearConv", "x s z w t v s z")
    else:
        m.node("QLinearConv", "x s z w s z s z")
    m.tolerance = 1.0


@maker
def depth_and_space(m: Model, pick):
    if pick.random() < 0.5:
        m.input("x", "b", (4, "c"), "h", "w")
        m.node("DepthToSpace", "x", blocksize=2, mode=pick.choice(["DCR", "CRD"]))
    else:
        m.input("x", "b", "c", (2, "b"), (2, "c"))
        m.node("SpaceToDepth", "x", blocksize=2)


# ---- norms


@maker
def layer_norm(m: Model, pick):
    shape = ["b", "s", "d"]
    axis = pick.choice([-1, -1, 1])
    m.input("x", *shape)
    m.input("g", *shape[axis:])
    bias = pick.random() < 0.6
    if bias:
        m.input("z", *shape[axis:])
    m.tolerance = 1e-2  # of few numbers that are nearly equal
    m.node("LayerNormalization", "x g z" if bias else "x g", axis=axis)


@maker
def rms_norm(m: Model, pick):
    m.opset = 23
    m.input("x", "b", "s", "d")
    m.input("g", "d")
    m.tolerance = 1e-2  # of few numbers that are nearly equal
    m.node("RMSNormalization", "x g", axis=-1)


@maker
def skip_layer_norm(m: Model, pick):
    m.input("x", "b", "s", "d")
    m.input("u", "b", "s", "d")
    m.input("g", "d")
    m.input("z", "d")
    m.tolerance = 1e-2  # of few numbers that are nearly equal
    m.node("SkipLayerNormalization", "x u g z", domain="com.microsoft")


@maker
def batch_norm(m: Model, pick):
    m.input("x", "b", "c", *pick.choice([[], ["h"], ["h", "w"]]))
    for name in ("g", "z", "e", "v"):
        m.input(name, "c", data=positive)
    m.node("BatchNormalization", "x g z e v")


@maker
def instance_norm(m: Model, pick):
    m.input("x", "b", "c", *pick.choice([["h"], ["h", "w"]]))
    m.input("g", "c")
    m.input("z", "c")
    # of two numbers that are nearly equal onnxruntime's results are up to 0.005 off (those here 2e-5): mean(x^2) - mean(x)^2
    m.tolerance = 1e-2
    m.node("InstanceNormalization", "x g z")


@maker
def group_norm(m: Model, pick):
    m.opset = 21
    m.input("x", "b", (2, "c"), "h")
    m.input("g", (2, "c"))
    m.input("z", (2, "c"))
    m.tolerance = 1e-2  # as of instance_norm
    m.node("GroupNormalization", "x g z", num_groups=2)


@maker
def softmax(m: Model, pick):
    rank = pick.randrange(1, 4)
    m.input("x", *sizes_of(rank))
    m.node(pick.choice(["Softmax", "LogSoftmax"]), "x", axis=pick.randrange(-rank, rank))


@maker
def quantize(m: Model, pick):
    m.input("x", "b", "c", "h")
    axis = pick.randrange(3)
    size = ["b", "c", "h"][axis]
    m.input("s", size, data=positive)
    m.input("z", size, data=integers(0, 9, "uint8"))
    m.node("QuantizeLinear", "x s z", axis=axis)
    m.tolerance = 1.0


@maker
def dequantize(m: Model, pick):
    m.input("x", "b", "c", data=integers(0, 255, "uint8"))
    m.input("s", "c", data=positive)
    m.input("z", "c", data=integers(0, 9, "uint8"))
    m.node("DequantizeLinear", "x s z", axis=1)


# ---- reductions


@maker
def reduce(m: Model, pick):
    rank = pick.randrange(1, 4)
    m.input("x", *sizes_of(rank))
    op = pick.choice(["ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp", "ReduceProd"])
    m.node(op, "x", axes=[pick.randrange(-rank, rank)], keepdims=pick.randrange(2))


@maker
def arg_reduce(m: Model, pick):
    rank = pick.randrange(1, 4)
    m.input("x", *sizes_of(rank))
    options = {name: pick.randrange(2) for name in ("keepdims", "select_last_index")}
    m.node(pick.choice(["ArgMax", "ArgMin"]), "x", axis=pick.randrange(rank), **options)


@maker
def cumsum(m: Model, pick):
    rank = pick.randrange(1, 4)
    m.input("x", *sizes_of(rank))
    m.constant("i", pick.randrange(-rank, rank))
    m.node("CumSum", "x i", exclusive=pick.randrange(2), reverse=pick.randrange(2))


@maker
def topk(m: Model, pick):
    rank, count = pick.randrange(1, 4), pick.randrange(1, 4)
    shape = sizes_of(rank)
    axis = pick.randrange(rank)
    m.least[shape[axis]] = count
    m.input("x", *shape)
    m.constant("k", [count])
    m.node("TopK", "x k", "y i", axis=axis, largest=pick.randrange(2))
    m.outputs = ["y", "i"]


# ---- moves


@maker
def concat(m: Model, pick):
    shape = sizes_of(pick.randrange(1, 4))
    axis = pick.randrange(len(shape))
    names = ["x", "z", "u"][: pick.randrange(2, 4)]
    for name in names:
        m.input(name, *(size if n != axis else f"{size}{name}" for n, size in enumerate(shape)))
    m.node("Concat", " ".join(names), axis=axis)


@maker
def split(m: Model, pick):
    shape = sizes_of(pick.randrange(1, 4))
    axis = pick.randrange(len(shape))
    if pick.random() < 0.5:
        parts = [pick.randrange(1, 4), pick.randrange(1, 4)]
        shape[axis] = sum(parts)
        m.constant("p", parts)
        m.node("Split", "x p", "y v", axis=axis)
    else:
        m.opset = 18  # before, onnxruntime wants parts of one size
        shape[axis] = (2, shape[axis])
        m.node("Split", "x", "y v", axis=axis, num_outputs=2)
    m.input("x", *shape)
    m.outputs = ["y", "v"]


@maker
def gather(m: Model, pick):
    shape = sizes_of(pick.randrange(1, 4))
    axis = pick.randrange(len(shape))
    m.input("x", *shape)
    m.input("i", *["p", "q"][: pick.randrange(3)], data=indices_below(shape[axis]))
    m.node("Gather", "x i", axis=axis)


@maker
def gather_elements(m: Model, pick):
    shape = sizes_of(pick.randrange(1, 4))
    axis = pick.randrange(len(shape))
    m.input("x", *shape)
    m.input(
        "i", *("p" if n == axis else size for n, size in enumerate(shape)), data=indices_below(shape[axis])
    )
    m.node("GatherElements", "x i", axis=axis)


@maker
def gather_nd(m: Model, pick):
    batch = pick.randrange(2)
    m.closed.add(("i", 1 + batch))
    m.input("x", "a", "b", "c")
    if batch:
        m.input("i", "a", "p", 1, data=indices_below("b"))
    else:
        m.input("i", "p", 1, data=indices_below("a"))
    m.node("GatherND", "x i", batch_dims=batch)


@maker
def scatter_elements(m: Model, pick):
    m.input("x", "a", "b")
    m.input("i", 1, "b", data=indices_below("a"))
    m.input("u", 1, "b")
    m.node("ScatterElements", "x i u", axis=0)


@maker
def scatter_nd(m: Model, pick):
    m.closed.add(("i", 1))
    m.input("x", "a", "b")
    m.input("i", 1, 1, data=indices_below("a"))
    m.input("u", 1, "b")
    m.node("ScatterND", "x i u")


@maker
def pad(m: Model, pick):
    mode = pick.choice(["constant", "reflect", "edge", "wrap"])
    before, after = pick.randrange(3), pick.randrange(3)
    m.opset = 19
    m.least["b"] = max(before, after) + 1
    m.input("x", "a", "b")
    m.constant("p", [0, before, 0, after])
    m.node("Pad", "x p", mode=mode)


@maker
def expand(m: Model, pick):
    shape = [pick.choice(["a", 1]), pick.choice(["b", 1])]
    m.input("x", *shape)
    m.constant("s", [pick.choice([1, 3]), *(pick.choice([1, 1, 4]) if each == 1 else 1 for each in shape)])
    m.node("Expand", "x s")


@maker
def expand_like(m: Model, pick):
    m.input("x", pick.choice(["a", 1]), pick.choice(["b", 1]))
    m.input("z", "a", "b")
    m.node("Shape", "z", "s")
    m.node("Expand", "x s")


@maker
def reshape(m: Model, pick):
    kind = pick.choice(["flat", "groups", "keep", "halves"])
    if kind == "flat":
        m.input("x", "a", "b", "c")
        m.constant("s", [-1])
    elif kind == "keep":
        m.input("x", "a", "b", "c")
        m.constant("s", [0, -1])
    elif kind == "halves":
        m.input("x", (2, "b"), "b")
        m.constant("s", [2, -1])
    else:
        m.input("x", "a", 12)
        m.constant("s", [0, 3, 4])
    m.node("Reshape", "x s")


@maker
def squeeze(m: Model, pick):
    m.input("x", "a", 1, "b")
    m.constant("i", [1])
    m.node("Squeeze", "x i")


@maker
def slice(m: Model, pick):  # noqa: A001
    m.input("x", "a", "b")
    m.constant("s", [pick.choice([0, 1, -3, 2])])
    m.constant("e", [pick.choice([1, 3, -1, 1000])])
    m.constant("i", [pick.randrange(2)])
    m.constant("t", [pick.choice([1, 1, 2])])
    m.node("Slice", "x s e i t")


@maker
def transpose(m: Model, pick):
    shape = sizes_of(3)
    m.input("x", *shape)
    m.node("Transpose", "x", perm=pick.sample(range(3), 3))


@maker
def tile(m: Model, pick):
    m.input("x", "a", "b")
    m.constant("r", [pick.randrange(1, 4), pick.randrange(1, 4)])
    m.node("Tile", "x r")


@maker
def reverse_sequence(m: Model, pick):
    m.input("x", "a", "b", "c")
    time = pick.randrange(2)
    size = ["a", "b"][time]

    def lengths(rng, shape, sizes):
        return rng.integers(1, max(2, sizes[size] + 1), shape)

    m.input("l", ["a", "b"][1 - time], data=lengths)
    m.node("ReverseSequence", "x l", time_axis=time, batch_axis=1 - time)


@maker
def trilu(m: Model, pick):
    m.input("x", "a", "b")
    m.node("Trilu", "x", upper=pick.randrange(2))


@maker
def one_hot(m: Model, pick):
    m.input("i", "a", "b", data=integers(0, 4))
    m.constant("d", 4)
    m.constant("v", [0, 1], "float32")
    m.node("OneHot", "i d v", axis=pick.choice([-1, 0, 1]))


__all__ = ["MAKERS", "floats"]
