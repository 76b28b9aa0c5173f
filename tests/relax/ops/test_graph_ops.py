"""Graph operators on tensors against numpy: elements, reductions, order, indices, shapes, creation."""

import ml_dtypes
import numpy as np
import pytest
from op_testing import check_op, run_op

RNG = np.random.default_rng(5)
X = RNG.standard_normal((5, 7), dtype="float32")
Y = RNG.standard_normal((5, 7), dtype="float32")
ROW = RNG.standard_normal(7, dtype="float32")
CUBE = RNG.standard_normal((3, 5, 7), dtype="float32")
WHOLE = RNG.integers(-9, 9, (5, 7)).astype("int32")
OTHER = RNG.integers(1, 5, (5, 7)).astype("int32")
BYTES = RNG.integers(0, 255, (127,)).astype("uint8")
MASK = RNG.integers(0, 2, (5, 7)).astype("bool")
UNIT = np.linspace(-0.9, 0.9, 127, dtype="float32")
LONG = RNG.permutation(127).astype("float32")
TIES = RNG.integers(0, 4, (3, 5, 7)).astype("float32")

erf = np.vectorize(__import__("math").erf)
f32, i32, i64 = np.float32, np.int32, np.int64


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "sigmoid": sigmoid,
    "erf": lambda x: erf(x).astype(f32),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "trunc": np.trunc,
    "abs": np.abs,
    "negative": np.negative,
    "sign": np.sign,
    "square": np.square,
    "logical_not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.relu6": lambda x: np.clip(x, 0, 6),
    "nn.silu": lambda x: x * sigmoid(x),
    "nn.gelu": lambda x: (x * 0.5 * (1 + erf(x / np.sqrt(2)))).astype(f32),
    "nn.gelu_tanh": lambda x: (
        x * f32(0.5) * (1 + np.tanh(f32(np.sqrt(2 / np.pi)) * (x + f32(0.044715) * x**3)))
    ),
    "nn.selu": lambda x: f32(1.0507009873554805) * np.where(x > 0, x, f32(1.6732632423543772) * np.expm1(x)),
    "nn.softplus": lambda x: np.log1p(np.exp(x)),
    "wrap_param": lambda x: x,
}
POSITIVE = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
OF_INTEGERS = ["abs", "negative", "sign", "square", "floor", "round", "logical_not", "isnan", "isfinite"]


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    check_op(name, [UNIT], {}, UNARY[name](UNIT))


@pytest.mark.parametrize("name", POSITIVE)
def test_unary_of_positive(name):
    x = np.abs(X) + f32(0.25)
    check_op(name, [x], {}, POSITIVE[name](x))
    check_op("acosh", [x + 1], {}, np.arccosh(x + 1))


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_unary_of_integers(name):
    check_op(
        name,
        [WHOLE],
        {},
        UNARY[name](WHOLE).astype(WHOLE.dtype) if name in OF_INTEGERS[:6] else UNARY[name](WHOLE),
    )


def test_bits_and_casts():
    check_op("bitwise_not", [WHOLE], {}, ~WHOLE)
    check_op("bitwise_not", [MASK], {}, ~MASK)
    check_op("astype", [X], {"dtype": "int64"}, X.astype("int64"))
    check_op("clip", [X, -0.5, 0.25], {}, np.clip(X, f32(-0.5), f32(0.25)))
    check_op("clip", [WHOLE, -3, 4], {}, np.clip(WHOLE, -3, 4))
    check_op("nn.leakyrelu", [X], {"alpha": 0.5}, np.where(X > 0, X, X / 2))
    check_op("nn.softplus", [X * 9], {"beta": 3.0, "threshold": 5.0}, np.log1p(np.exp(X * 27)) / 3, rtol=1e-2)
    slope = np.abs(ROW)
    check_op("nn.prelu", [X, slope], {"axis": 1}, np.where(X > 0, X, X * slope))


BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.floor_divide,
    "mod": np.fmod,
    "floor_mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
BITS = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}
LOGIC = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    check_op(name, [X, ROW], {}, BINARY[name](X, ROW), atol=1e-5)
    check_op(name, [WHOLE, OTHER], {}, BINARY[name](WHOLE, OTHER))


@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    check_op(name, [WHOLE, OTHER], {}, BITS[name](WHOLE, OTHER))


@pytest.mark.parametrize("name", LOGIC)
def test_logic(name):
    check_op(name, [MASK, MASK[::-1].copy()], {}, LOGIC[name](MASK, MASK[::-1]))


def test_binary_of_floats():
    check_op("divide", [X, Y], {}, X / Y)
    check_op("power", [np.abs(X), Y], {}, np.abs(X) ** Y)
    check_op("log_add_exp", [X * 50, Y * 50], {}, np.logaddexp(X * 50, Y * 50))
    same = np.array([np.inf, -np.inf, 3], "float32")
    check_op("log_add_exp", [same, same], {}, np.logaddexp(same, same))
    check_op("where", [MASK, X, ROW], {}, np.where(MASK, X, ROW))
    check_op("ewise_fma", [X, Y, ROW], {}, X * Y + ROW)


REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "variance": np.var,
    "std": np.std,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    check_op(name, [CUBE], {}, REDUCTIONS[name](CUBE), atol=1e-5)
    check_op(
        name,
        [CUBE],
        {"axis": [0, -1], "keepdims": True},
        REDUCTIONS[name](CUBE, axis=(0, 2), keepdims=True),
        atol=1e-5,
    )


def test_reductions_of_other_dtypes():
    check_op("sum", [WHOLE], {"axis": [1]}, WHOLE.sum(1, dtype="int32"))
    check_op("max", [BYTES], {}, BYTES.max())
    check_op("any", [MASK], {"axis": [0]}, MASK.any(0))
    check_op("all", [MASK], {"axis": [1]}, MASK.all(1))
    check_op("argmax", [X], {"axis": 1}, X.argmax(1))
    check_op("argmin", [TIES], {"axis": 0, "keepdims": True}, TIES.argmin(0, keepdims=True))
    check_op("argmax", [X], {}, X.argmax())


def test_cumulative():
    check_op("cumsum", [X], {"axis": 1}, X.cumsum(1))
    check_op("cumsum", [WHOLE], {"dtype": "int64"}, WHOLE.cumsum(dtype="int64"))
    check_op("cumprod", [X], {"axis": 0}, X.cumprod(0))
    check_op(
        "cumprod",
        [X],
        {"axis": -1, "exclusive": True},
        np.hstack([np.ones((5, 1), "float32"), X.cumprod(1)[:, :-1]]),
    )


def test_order():
    check_op("sort", [CUBE], {"axis": 1}, np.sort(CUBE, 1))
    check_op("sort", [WHOLE], {"descending": True}, -np.sort(-WHOLE))
    check_op("argsort", [TIES], {"axis": 0}, TIES.argsort(0, kind="stable").astype(i32))
    check_op("argsort", [LONG], {"descending": True, "dtype": "int64"}, (-LONG).argsort())
    nan = np.array([2, np.nan, 1], "float32")
    check_op("sort", [nan], {}, np.sort(nan))
    order = (-CUBE).argsort(1, kind="stable")[:, :2]
    check_op("topk", [CUBE], {"k": 2, "axis": 1}, [np.take_along_axis(CUBE, order, 1), order.astype(i32)])
    check_op("topk", [LONG], {"k": 5, "ret_type": "values", "largest": False}, np.sort(LONG)[:5])
    check_op("topk", [LONG], {"k": 3, "ret_type": "indices", "dtype": "int64"}, (-LONG).argsort()[:3])


def test_median():
    check_op("median", [CUBE], {}, np.median(CUBE))
    check_op("median", [CUBE], {"axis": [0, 2], "keepdims": True}, np.median(CUBE, (0, 2), keepdims=True))
    values, places = run_op("median", CUBE, axis=[1])
    np.testing.assert_array_equal(values, np.median(CUBE, 1))
    np.testing.assert_array_equal(np.take_along_axis(CUBE, places[:, None], 1)[:, 0], values)


def test_sets():
    values = np.array([[3, 1, 3], [2, 1, 3]], "int32")
    check_op("unique", [values], {}, np.unique(values))
    check_op("unique", [values], {"sorted": False}, np.array([3, 1, 2], "int32"))
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    wanted = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    check_op("unique", [values], flags, [w.reshape(-1) for w in wanted])
    columns = np.array([[1, 2, 1], [5, 0, 5]], "float32")
    check_op("unique", [columns], {"axis": 1}, np.unique(columns, axis=1))
    check_op("nonzero", [MASK], {}, np.array(np.nonzero(MASK)))
    check_op("nonzero", [np.zeros((2, 3), "float32")], {}, np.zeros((2, 0), "int64"))


def test_bucketize():
    bounds = np.array([-1, 0, 0.5, 2], "float32")
    check_op("bucketize", [X, bounds], {}, np.searchsorted(bounds, X))
    check_op(
        "bucketize",
        [np.append(bounds, f32("nan")), bounds],
        {"right": True, "out_int32": True},
        np.searchsorted(bounds, np.append(bounds, f32("nan")), "right").astype(i32),
    )


def test_searchsorted():
    lines = np.sort(RNG.integers(0, 9, (3, 5, 7)), -1).astype("float32")
    values = RNG.integers(0, 9, (3, 5, 2)).astype("float32")
    rows = zip(lines.reshape(15, 7), values.reshape(15, 2), strict=True)
    wanted = np.stack([np.searchsorted(line, row) for line, row in rows]).reshape(3, 5, 2)
    check_op("searchsorted", [lines, values], {}, wanted)
    check_op(
        "searchsorted",
        [lines[0, 0], values],
        {"right": True, "out_int32": True},
        np.searchsorted(lines[0, 0], values, "right").astype(i32),
    )


def test_layout_transform():
    check_op("layout_transform", [X], {"index_map": lambda i, j: (j, i)}, X.T.copy())
    padded = np.full((5, 3, 3), 7, "float32")
    for j in range(7):
        padded[:, j // 3, j % 3] = X[:, j]
    split = {"index_map": lambda i, j: (i, j // 3, j % 3), "pad_value": 7.0}
    check_op("layout_transform", [X], split, padded)
    blocked = np.zeros((2, 7, 4), "float32")
    for i in range(5):
        blocked[i // 4, :, i % 4] = X[i]
    rows = {"index_map": lambda i, j: (i // 4, j, i % 4)}
    check_op("layout_transform", [X], rows, blocked, symbols=(5,))
    numbers = np.arange(10, dtype="int32")
    check_op(
        "layout_transform",
        [numbers],
        {"index_map": lambda i: (i % 5, i // 5)},
        numbers.reshape(2, 5).T.copy(),
    )


def test_bytes_as_another_tensor():
    check_op("memory.view", [X, (7, 5)], {}, X.reshape(7, 5))
    check_op("memory.view", [X], {"dtype": "int32"}, X.view("int32"))
    check_op("memory.view", [X, (4,)], {"relative_byte_offset": 8}, X.reshape(-1)[2:6])
    check_op("memory.view", [X, (5, 14)], {"dtype": "int16"}, X.view("int16"))
    check_op("memory.view", [X, (4,)], {}, X.reshape(-1)[:4], symbols=(5, 7))
    check_op("memory.ensure_zero_offset", [X], {}, X)


def test_bytes_as_integers_narrower_than_a_byte():
    packed = np.array([0x21, 0x43, 0x65, 0x87], "uint8")
    numbers = np.array([1, 2, 3, 4, 5, 6, 7, -8], "int8").astype(ml_dtypes.int4)
    check_op("memory.view", [packed, (8,)], {"dtype": "int4"}, numbers)
    check_op("memory.view", [packed, (7,)], {"dtype": "int4"}, numbers[:7])
    check_op("memory.view", [numbers, (4,)], {"dtype": "uint8"}, packed)
    check_op("memory.view", [numbers, (4,)], {"relative_byte_offset": 2}, numbers[4:])


def test_batch_flatten():
    check_op("nn.batch_flatten", [CUBE], {}, CUBE.reshape(len(CUBE), -1))
    check_op("nn.batch_flatten", [X[0]], {}, X[0][:, None])


def test_indexing():
    at = RNG.integers(-7, 7, (5, 3))
    check_op("gather_elements", [X, at], {"axis": 1}, np.take_along_axis(X, at, 1))
    pairs = np.array([[0, 1], [-1, 2], [2, -2]])
    check_op("gather_nd", [CUBE, pairs], {}, CUBE[pairs[:, 0], pairs[:, 1]])
    rows = np.array([[1], [4], [0]])
    check_op("gather_nd", [CUBE, rows], {"batch_dims": 1}, CUBE[np.arange(3), rows[:, 0]])
    first, second = np.array([[0], [2]]), np.array([1, -1, 3])
    check_op("index_tensor", [CUBE, [first, second]], {}, CUBE[first, second])
    check_op("take", [X, np.array([0, -1, 3])], {"axis": 1}, X[:, [0, -1, 3]])
    check_op(
        "one_hot",
        [np.array([0, 3, 9]), 2.0, -1.0],
        {"depth": 5},
        np.where(np.eye(10)[[0, 3, 9], :5] > 0, f32(2), f32(-1)),
    )
    check_op(
        "one_hot", [np.array([[1], [0]]), 1, 0], {"depth": 2, "axis": 0}, np.array([[[0], [1]], [[1], [0]]])
    )
    wanted = CUBE.copy()
    wanted[:, 1:5:2] = CUBE[:, :2]
    check_op("slice_scatter", [CUBE, CUBE[:, :2].copy(), 1, 5, 2], {"axis": 1}, wanted)
    begin, end, step = np.array([1, -1]), np.array([100, -8]), np.array([2, -3])
    check_op("dynamic_strided_slice", [X, begin, end, step], {}, X[1:100:2, -1:-8:-3])
    check_op("strided_slice", [X, [1], [-1], [-100], [-2]], {}, X[:, -1:-100:-2])


REDUCE = {"update": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("reduction", REDUCE)
def test_scatter(reduction):
    at = np.array([[0, 6, -1], [2, 2, 2]])
    updates = RNG.standard_normal((2, 3), dtype="float32")
    if reduction == "update":
        at[1] = [2, 3, 4]
    wanted = X.copy()
    for i in range(2):
        for j in range(3):
            old = wanted[i, at[i, j]]
            wanted[i, at[i, j]] = (
                updates[i, j] if reduction == "update" else REDUCE[reduction](old, updates[i, j])
            )
    check_op("scatter_elements", [X, at, updates], {"axis": 1, "reduction": reduction}, wanted)
    rows = np.array([[4], [0]])
    values = RNG.standard_normal((2, 7), dtype="float32")
    wanted = X.copy()
    wanted[rows[:, 0]] = values if reduction == "update" else REDUCE[reduction](X[rows[:, 0]], values)
    check_op("scatter_nd", [X, rows, values], {"reduction": reduction}, wanted)


def test_index_put():
    first, second = np.array([[0], [2]]), np.array([1, 3])
    wanted = CUBE.copy()
    wanted[first, second] = ROW
    check_op("index_put", [CUBE, [first, second], ROW], {}, wanted)
    twice, wanted = np.array([1, 1, -1]), X.copy()
    np.add.at(wanted, twice, ROW)
    check_op("index_put", [X, [twice], ROW], {"accumulate": True}, wanted)


def test_shapes():
    check_op("reshape", [X, (7, -1)], {}, X.reshape(7, -1))
    check_op("expand_dims", [X], {"axis": [0, -1]}, X[None, ..., None])
    check_op("squeeze", [X[None]], {"axis": [0]}, X)
    check_op("flatten", [CUBE], {}, CUBE.ravel())
    check_op("permute_dims", [CUBE], {"axes": [2, 0, 1]}, CUBE.transpose(2, 0, 1))
    check_op("concat", [[X, Y]], {"axis": -1}, np.concatenate([X, Y], -1))
    check_op("stack", [[X, Y, X]], {"axis": 1}, np.stack([X, Y, X], 1))
    check_op("split", [X], {"indices_or_sections": [2, 3], "axis": 1}, np.split(X, [2, 3], 1))
    check_op("tile", [X], {"repeats": [2, 1, 3]}, np.tile(X, (2, 1, 3)))
    check_op("repeat", [X], {"repeats": 3, "axis": 1}, np.repeat(X, 3, 1))
    check_op("repeat", [X], {"repeats": 2}, np.repeat(X, 2))
    check_op("flip", [X], {"axis": 1}, X[:, ::-1])
    check_op("broadcast_to", [ROW, (3, 5, 7)], {}, np.broadcast_to(ROW, (3, 5, 7)))
    check_op("collapse_sum_to", [CUBE, (5, 1)], {}, CUBE.sum((0, 2))[:, None])
    check_op("collapse_sum_like", [CUBE, ROW], {}, CUBE.sum((0, 1)), atol=1e-5)
    check_op("meshgrid", [[ROW, X[:, 0].copy()]], {}, list(np.meshgrid(ROW, X[:, 0], indexing="ij")))
    check_op("meshgrid", [[ROW, X[:, 0].copy()]], {"indexing": "xy"}, list(np.meshgrid(ROW, X[:, 0])))


def test_creation():
    one = np.array(3, "int32")
    check_op("full", [(5, 7), one], {"dtype": "float32"}, np.full((5, 7), 3, "float32"))
    check_op("full_like", [X, one], {"dtype": "int32"}, np.full((5, 7), 3, "int32"))
    check_op("zeros_like", [X], {}, np.zeros_like(X))
    check_op("ones_like", [WHOLE], {"dtype": "float64"}, np.ones((5, 7)))
    check_op("tril", [CUBE], {"k": -1}, np.tril(CUBE, -1))
    check_op("triu", [CUBE], {"k": 2}, np.triu(CUBE, 2))
    check_op("eye_like", [X], {"k": 1}, np.eye(5, 7, 1, "float32"))


def test_creation_from_nothing():
    check_op("zeros", [(5,)], {"dtype": "int32"}, np.zeros(5, "int32"))
    check_op("ones", [(5, 7)], {"dtype": "float32"}, np.ones((5, 7), "float32"))
    check_op("arange", [2, 127, 5], {"dtype": "int64"}, np.arange(2, 127, 5))
    check_op("eye", [5, 7], {"k": -2, "dtype": "int32"}, np.eye(5, 7, -2, "int32"))
    check_op("eye", [5], {}, np.eye(5, dtype="float32"))
    check_op("hamming_window", [127], {"periodic": False}, np.hamming(127).astype("float32"))
    check_op("hamming_window", [7], {}, np.hamming(8)[:7].astype("float32"))


def test_einsum():
    check_op("einsum", [[X, Y]], {"subscripts": "ij,kj->ik"}, X @ Y.T, atol=1e-5)
    check_op("einsum", [[CUBE, ROW]], {"subscripts": "abc,c"}, np.einsum("abc,c", CUBE, ROW), atol=1e-5)
    check_op("einsum", [[X[:, :5].copy()]], {"subscripts": "ii->"}, np.einsum("ii->", X[:, :5]))
    check_op("outer", [ROW, LONG], {}, np.outer(ROW, LONG))
    check_op("linear", [CUBE, X, X[:, 0].copy()], {}, CUBE @ X.T + X[:, 0], atol=1e-5)
    check_op("linear", [CUBE, X], {}, CUBE @ X.T, atol=1e-5)


def test_sampling():
    prob = np.array([[0.25, 0.5, 0.25], [1, 0, 0]], "float32")
    uniform, rows = np.array([[0.1], [0.3], [0.99], [0.7]], "float32"), np.array([[0], [0], [0], [1]])
    check_op("multinomial_from_uniform", [prob, uniform, rows], {}, np.array([[0], [1], [2], [0]]))


def test_atan2():
    y, x = RNG.standard_normal((2, 3, 1, 7))
    points = [[0, 0], [1, 0], [-1, 0], [0, -1], [-0.0, -1], [0, 1], [np.inf, -np.inf], [-2, np.inf], [3, -4]]
    for dtype in ("float32", "float64", "float16"):
        row = ROW.astype(dtype)
        given = y.astype(dtype), np.concatenate([x, x], 1).astype(dtype)
        check_op("atan2", list(given), {}, np.arctan2(*given), rtol=2e-3 if dtype == "float16" else 1e-5)
        check_op("atan2", [row, row], {}, np.arctan2(row, row), rtol=1e-3)
    corners = np.array(points, "float32").T.copy()
    check_op("atan2", [corners[0], corners[1]], {}, np.arctan2(corners[0], corners[1]))


@pytest.mark.parametrize(
    ("shape", "seq_axis", "batch_axis"), [((3, 5), 1, 0), ((5, 2, 3), 0, -1), ((2, 7, 3, 2), -2, 1)]
)
def test_reverse_sequence(shape, seq_axis, batch_axis):
    x = RNG.standard_normal(shape).astype("float32")
    batch = shape[batch_axis]
    lengths = np.resize([0, 1, 3, 9, 2, -4, 5], batch).astype("int32")  # some outside: the nearest length
    rows, wanted = np.moveaxis(x, [batch_axis, seq_axis], [0, 1]), x.copy()
    out = np.moveaxis(wanted, [batch_axis, seq_axis], [0, 1])
    for n, length in enumerate(np.clip(lengths, 0, shape[seq_axis])):
        out[n, :length] = rows[n, :length][::-1]
    attrs = {"seq_axis": seq_axis, "batch_axis": batch_axis}
    check_op("reverse_sequence", [x, lengths], attrs, wanted)
    check_op("reverse_sequence", [x, lengths.astype("int64")], attrs, wanted, symbols=(shape[seq_axis],))


def test_targets_outside_are_brought_inside():
    predictions = RNG.standard_normal((4, 5)).astype("float32")
    targets, classes = np.array([-7, 99, 2, np.iinfo("int64").max]), [0, 4, 2, 4]
    weights = np.arange(1, 6, dtype="float32")
    wanted = -predictions[np.arange(4), classes] * weights[classes]
    check_op("nn.nll_loss", [predictions, targets, weights], {"reduction": "none"}, wanted)


def test_rows_outside_are_brought_inside():
    probabilities = np.array([[1, 0, 0], [0, 0, 1]], "float32")
    rows = np.array([[-9], [1], [99]])
    uniform = np.full((3, 1), 0.5, "float32")
    wanted = np.array([[0], [2], [2]])
    check_op("multinomial_from_uniform", [probabilities, uniform, rows], {}, wanted)
