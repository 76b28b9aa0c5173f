"""topi functions and reducers of one's own against numpy."""

import numpy as np
import pytest

import tilewright
from tilewright import te, tir, topi

X = np.random.default_rng(0).standard_normal((3, 5, 7), dtype="float32")
ROW = np.random.default_rng(1).standard_normal(7, dtype="float32")
IMAGE = np.random.default_rng(2).standard_normal((1, 2, 5, 7), dtype="float32")
KERNEL = np.random.default_rng(3).standard_normal((3, 2, 3, 3), dtype="float32")


def run(make, *arrays):
    """Runs make(placeholders...) on the arrays; returns a list if it gives several tensors."""
    inputs = [te.placeholder(array.shape, str(array.dtype), f"x{n}") for n, array in enumerate(arrays)]
    made = make(*inputs)
    outputs = made if isinstance(made, list) else [made]
    func = te.create_prim_func([*inputs, *outputs])
    results = [np.zeros([int(extent) for extent in out.shape], out.dtype) for out in outputs]
    tensors = [tilewright.tensor(array) for array in (*arrays, *results)]
    tilewright.build(func)["main"](*tensors)
    results = [tensor.numpy() for tensor in tensors[len(arrays) :]]
    return results if isinstance(made, list) else results[0]


UNARY = [
    (topi.exp, np.exp),
    (topi.tanh, np.tanh),
    (topi.negative, np.negative),
    (topi.abs, np.abs),
    (topi.sign, np.sign),
    (topi.nn.relu, lambda x: np.maximum(x, 0)),
    (lambda x: topi.nn.leaky_relu(x, 0.5), lambda x: np.where(x > 0, x, 0.5 * x)),
    (lambda x: topi.clip(x, -0.5, 0.25), lambda x: np.clip(x, -0.5, 0.25)),
    (lambda x: topi.add(x, 1.5), lambda x: x + np.float32(1.5)),
    (lambda x: topi.subtract(1, x), lambda x: 1 - x),
    (lambda x: topi.where(topi.greater(x, 0.0), x, -1.0), lambda x: np.where(x > 0, x, np.float32(-1))),
    (lambda x: topi.cast(x, "int32"), lambda x: x.astype("int32")),
    (topi.sum, np.sum),
    (lambda x: topi.sum(x, axis=-1), lambda x: x.sum(-1)),
    (lambda x: topi.max(x, axis=(0, 2), keepdims=True), lambda x: x.max((0, 2), keepdims=True)),
    (lambda x: topi.mean(x, 1), lambda x: x.mean(1)),
    (lambda x: topi.argmax(x, axis=1), lambda x: x.argmax(1).astype("int32")),
    (lambda x: topi.cumsum(x, axis=2), lambda x: np.cumsum(x, 2)),
    (topi.transpose, np.transpose),
    (lambda x: topi.transpose(x, (1, 0, -1)), lambda x: x.transpose(1, 0, 2)),
    (lambda x: topi.reshape(x, (15, 7)), lambda x: x.reshape(15, 7)),
    (lambda x: topi.expand_dims(x, -1), lambda x: x[..., None]),
    (lambda x: topi.squeeze(topi.expand_dims(x, 1)), lambda x: x),
    (lambda x: topi.concatenate([x, x], axis=-1), lambda x: np.concatenate([x, x], -1)),
    (lambda x: topi.flip(x, 1), lambda x: x[:, ::-1]),
    (lambda x: topi.tile(x, (1, 2, 1)), lambda x: np.tile(x, (1, 2, 1))),
    (lambda x: topi.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, 0)),
    (lambda x: topi.full_like(x, 3), lambda x: np.full_like(x, 3)),
    (lambda x: topi.nn.pad(x, (0, 1, 2)), lambda x: np.pad(x, ((0, 0), (1, 1), (2, 2)))),
]


@pytest.mark.parametrize(("ours", "numpys"), UNARY)
def test_of_one_tensor(ours, numpys):
    expected = numpys(X)
    result = run(ours, X)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_operands_broadcast():
    np.testing.assert_allclose(run(topi.multiply, X, ROW), X * ROW)


def test_a_position_is_looked_up():
    positions = np.array([2, 0], "int32")
    np.testing.assert_array_equal(run(lambda x, at: topi.take(x, at, axis=1), X, positions), X[:, [2, 0]])


def test_softmax_over_the_last_axis():
    exp = np.exp(X - X.max(-1, keepdims=True))
    np.testing.assert_allclose(run(topi.nn.softmax, X), exp / exp.sum(-1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "axis", "quotient"),
    [
        ("float32", -1, "T_softmax_exp[v_i0, v_i1] * (T.float32(1) / T_softmax_expsum[v_i0])"),
        (
            "float16",
            -1,
            'T.Cast("float16", T_softmax_exp[v_i0, v_i1] * (T.float32(1) / T_softmax_expsum[v_i0]))',
        ),
        # neighbours have sums of their own
        ("float32", 0, "T_softmax_exp[v_i0, v_i1] / T_softmax_expsum[v_i1]"),
    ],
)
def test_rows_of_softmax_have_one_division(dtype, axis, quotient):
    x = te.placeholder((5, 7), dtype, "x")
    func = te.create_prim_func([x, topi.nn.softmax(x, axis=axis)])
    wanted = f"T_softmax_norm[v_i0, v_i1] = {quotient}"
    assert "".join(func.script().split()).endswith("".join(wanted.split()))


@pytest.mark.parametrize(
    "row", [np.full(127, -np.inf), [0, np.inf, 1], [np.nan, 0, 1], np.full(5, -1e38), [88, -88, 0]]
)
def test_softmax_of_rows_without_a_number(row):
    x = np.array([row, np.zeros(len(row))], "float32")
    with np.errstate(invalid="ignore"):
        exp = np.exp(x - x.max(-1, keepdims=True))
        expected = exp / exp.sum(-1, keepdims=True)
    np.testing.assert_allclose(run(topi.nn.softmax, x), expected, rtol=1e-5, atol=1e-38)


def test_products_of_unlike_bytes():
    a, b = np.array([[200, 3, 5]], "uint8"), np.array([[-7], [2], [1]], "int8")
    product = run(lambda x, y: topi.matmul(x, y, "int32"), a, b)
    np.testing.assert_array_equal(product, a.astype("int32") @ b.astype("int32"))


def test_dense_takes_the_weight_transposed():
    weight, bias = X[1], X[2, 0, :5]
    result = run(topi.nn.dense, X[0], weight, bias)
    np.testing.assert_allclose(result, X[0] @ weight.T + bias, rtol=1e-4, atol=1e-5)


def test_convolution_with_padding():
    padded = np.pad(IMAGE, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    expected = np.einsum("ncyxhw,ochw->noyx", windows, KERNEL)
    result = run(lambda x, w: topi.nn.conv2d(x, w, padding=1), IMAGE, KERNEL)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_pooling():
    windows = np.lib.stride_tricks.sliding_window_view(IMAGE, (2, 2), axis=(2, 3))[:, :, ::2, ::2]
    result = run(lambda x: topi.nn.pool2d(x, 2, 2), IMAGE)
    np.testing.assert_array_equal(result, windows.max((-1, -2)))
    result = run(lambda x: topi.nn.pool2d(x, 2, 2, pool_type="avg"), IMAGE)
    np.testing.assert_allclose(result, windows.mean((-1, -2)), rtol=1e-5, atol=1e-6)


def test_a_reducer_of_ones_own():
    product = te.comm_reducer(lambda x, y: x * y, lambda dtype: tir.const(1, dtype), name="product")
    k = te.reduce_axis((0, 7), "k")
    result = run(lambda x: te.compute((3, 5), lambda i, j: product(x[i, j, k], axis=k)), X)
    np.testing.assert_allclose(result, X.prod(-1), rtol=1e-5)


def test_a_reducer_of_two_values():
    """The first largest element with its position, as the field's argmax example."""

    def combine(x, y):
        return tir.Select(x[1] >= y[1], x[0], y[0]), tir.Select(x[1] >= y[1], x[1], y[1])

    argmax = te.comm_reducer(
        combine, lambda at, value: (tir.const(-1, at), te.min_value(value)), name="argmax"
    )
    k = te.reduce_axis((0, 7), "k")
    at, value = run(
        lambda x: list(te.compute((3, 5), lambda i, j: argmax((k.var, x[i, j, k]), axis=k), name="argmax")), X
    )
    np.testing.assert_array_equal(at, X.argmax(-1))
    np.testing.assert_array_equal(value, X.max(-1))


def test_a_reducer_combines_two_values_directly():
    product = te.comm_reducer(lambda x, y: x * y, lambda dtype: tir.const(1, dtype))
    x = tir.Var("x", "float32")
    assert product(x, x).same_as(product(x, x)) or str(product(x, x)) == "x * x"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ends_of_floats_are_finite(dtype):
    limits = np.finfo(dtype)
    assert (te.min_value(dtype).value, te.max_value(dtype).value) == (float(limits.min), float(limits.max))
    assert te.infinity(dtype).value == np.inf


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_ends_of_integers(dtype):
    limits = np.iinfo(dtype)
    assert (te.min_value(dtype).value, te.max_value(dtype).value) == (limits.min, limits.max)
