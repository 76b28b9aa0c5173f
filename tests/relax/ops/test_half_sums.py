"""float16 and bfloat16: sums are float32 until the result is there, in graphs, tensor expressions and ONNX models."""

import ml_dtypes
import numpy as np
import pytest
from op_testing import LEVELS, build, run_op

import tilewright
from tilewright import te, topi

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
# one rounding of the result, of inputs that are rounded already
TOLERANCE = {"float16": 2**-11, "bfloat16": 2**-8}
each_dtype = pytest.mark.parametrize("dtype", DTYPES)
each_target = pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64", "c"])


def rounded(values, dtype):
    return np.asarray(values).astype(DTYPES[dtype])


def normal(shape, deviation=1.0, mean=0.0):
    return np.random.default_rng(3).standard_normal(shape) * deviation + mean


def check(got, expected, dtype, slack=1.5, atol=0.0):
    """`got` is `expected`, of float64, rounded once; near 0 `atol` times the distance of numbers near 1."""
    assert got.dtype == DTYPES[dtype]
    np.testing.assert_allclose(
        got.astype("float64"), expected, rtol=slack * TOLERANCE[dtype], atol=atol * TOLERANCE[dtype]
    )


def check_op(dtype, name, args, expected, slack=1.5, atol=0.0, **attrs):
    """The operator on `args`, rounded to dtype, gives what `expected` makes of them in float64."""
    inputs = [rounded(arg, dtype) for arg in args]
    wanted = expected(*[each.astype("float64") for each in inputs])
    for level in LEVELS:
        check(run_op(name, *inputs, opt_level=level, **attrs), wanted, dtype, slack, atol)


REDUCTIONS = {
    "sum": lambda x, axis: x.sum(axis),
    "mean": lambda x, axis: x.mean(axis),
    "variance": lambda x, axis: x.var(axis),
    "std": lambda x, axis: x.std(axis),
}


@each_dtype
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op, axis, dtype):
    shape = [3, 5, 7]
    shape[axis] = 3001
    x = normal(shape, 200.0 if op == "std" else 2.0, 3.0)
    check_op(dtype, op, [x], lambda v: REDUCTIONS[op](v, axis), axis=[axis])


@each_dtype
def test_reduction_of_all_axes(dtype):
    check_op(dtype, "sum", [np.ones((5, 127, 7))], lambda v: v.sum(), axis=[])
    check_op(dtype, "mean", [normal((5, 127, 7), 1.0, 300.0)], lambda v: v.mean(keepdims=True), keepdims=True)


@each_dtype
def test_products_that_leave_the_dtype_on_the_way(dtype):
    x = np.tile([1000.0, 0.001], (5, 6))
    check_op(dtype, "prod", [x], lambda v: v.prod(1), axis=[1])


@each_dtype
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
@pytest.mark.parametrize("axis", [0, 1])
def test_cumulative(op, axis, dtype):
    x = np.ones((5000, 3)) if op == "cumsum" else np.full((5000, 3), 1 + 2**-7)
    x = x if op == "cumsum" else x[:600]
    x = x if axis == 0 else x.T
    check_op(dtype, op, [x], lambda v: getattr(v, op)(axis), axis=axis)
    check_op(dtype, op, [x.reshape(-1)[:300]], lambda v: getattr(v, op)(0), axis=0)


@each_dtype
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("op", ["nn.softmax", "nn.log_softmax"])
def test_softmax(op, axis, dtype):
    def expected(x):
        shifted = x - x.max(axis, keepdims=True)
        total = np.exp(shifted).sum(axis, keepdims=True)
        return np.exp(shifted) / total if op == "nn.softmax" else shifted - np.log(total)

    check_op(dtype, op, [np.ones((5000, 3, 5))], expected, axis=axis)
    check_op(dtype, op, [normal((7, 127, 5), 4.0)], expected, axis=axis, slack=2, atol=2**-9)


def normed(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@each_dtype
def test_layer_and_rms_norm(dtype):
    x, scale, shift = normal((3, 4096), 12.0, 5.0), normal(4096), normal(4096)
    check_op(
        dtype, "nn.layer_norm", [x, scale, shift], lambda v, s, b: normed(v, -1) * s + b, atol=1, axes=[-1]
    )
    check_op(
        dtype,
        "nn.rms_norm",
        [x * 30, scale],
        lambda v, s: v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-5) * s,
        atol=2**-12,
        axes=[-1],
    )


@each_dtype
def test_norms_of_channels(dtype):
    x, four = normal((2, 4, 40, 40), 300.0, 20.0), [normal(4), normal(4)]
    by = (slice(None), None, None)

    def groups(v, s, b):
        return normed(v.reshape(2, 2, -1), -1).reshape(v.shape) * s[by] + b[by]

    check_op(dtype, "nn.group_norm", [x, *four], groups, atol=1, num_groups=2, channel_axis=1, axes=[2, 3])
    check_op(
        dtype,
        "nn.instance_norm",
        [x, *four],
        lambda v, s, b: normed(v, (2, 3)) * s[by] + b[by],
        atol=1,
        channel_axis=1,
        axes=[2, 3],
    )


@each_dtype
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(training, dtype):
    x = rounded(normal((5, 4, 7, 7), 200.0, 5.0), dtype)
    scale, shift, mean = (rounded(normal(4), dtype) for _ in range(3))
    variance = rounded(np.abs(normal(4)) * 15000, dtype)
    wide = [each.astype("float64") for each in (x, scale, shift, mean, variance)]
    own_mean, own_variance = wide[0].mean((0, 2, 3)), wide[0].var((0, 2, 3))
    by = (slice(None), None, None)
    used = (own_mean, own_variance) if training else (wide[3], wide[4])
    expected = (wide[0] - used[0][by]) / np.sqrt(used[1][by] + 1e-5) * wide[1][by] + wide[2][by]
    for level in LEVELS:
        result = run_op(
            "nn.batch_norm", x, scale, shift, mean, variance, axis=1, training=training, opt_level=level
        )
        check(result[0], expected, dtype, atol=1)
        if training:
            check(result[1], wide[3] * 0.9 + own_mean * 0.1, dtype, atol=1)
            check(result[2], wide[4] * 0.9 + own_variance * 0.1, dtype)


@each_dtype
def test_pools(dtype):
    x = np.abs(normal((1, 5, 32, 32))) * 1000 + 300
    check_op(
        dtype,
        "nn.avg_pool2d",
        [x],
        lambda v: v.reshape(1, 5, 4, 8, 4, 8).mean((3, 5)),
        pool_size=[8, 8],
        strides=[8, 8],
    )
    check_op(
        dtype,
        "nn.adaptive_avg_pool2d",
        [x],
        lambda v: v.mean((2, 3), keepdims=True),
        output_size=[1, 1],
    )
    grad = np.full((1, 5, 25, 25), 1.0)
    ones = np.ones((32, 32))

    def spread(g, v):
        result = np.zeros(v.shape)
        for row in range(25):
            for column in range(25):
                result[:, :, row : row + 8, column : column + 8] += g[
                    :, :, row : row + 1, column : column + 1
                ]
        return result / 64

    assert ones.shape == x.shape[2:]
    check_op(dtype, "grad.avg_pool2d_backward", [grad, x], spread, pool_size=[8, 8])


@each_dtype
@pytest.mark.parametrize("subscripts", ["ij,jk->ik", "ij,kj->ki", "ij,jk->", "ij->i"])
def test_einsum(subscripts, dtype):
    args = {"ij,jk->ik": [(3, 5000), (5000, 2)], "ij,kj->ki": [(3, 5000), (2, 5000)]}
    shapes = args.get(subscripts, [(3, 2000), (2000, 2)])[: subscripts.count(",") + 1]
    inputs = [rounded(np.ones(shape), dtype) for shape in shapes]
    expected = np.einsum(subscripts, *[each.astype("float64") for each in inputs])
    for level in LEVELS:
        check(run_op("einsum", inputs, subscripts=subscripts, opt_level=level), expected, dtype)


@each_dtype
@pytest.mark.parametrize("queries", [1, 3, 7])
@pytest.mark.parametrize("masked", [False, True])
def test_attention(queries, masked, dtype):
    """Scores of some hundreds, and a thousand keys of equal weight."""
    q, k = normal((2, queries, 2, 64), 8.0), normal((2, 1001, 2, 64), 8.0)
    k[0] = 0.0
    v = np.abs(normal((2, 1001, 2, 5))) + 1

    def expected(q, k, v):
        scores = np.einsum("bshd,bthd->bhst", q, k) / 8
        if masked:
            scores = np.where(np.tril(np.ones((queries, 1001)), 1001 - queries), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bhst,bthe->bshe", weights / weights.sum(-1, keepdims=True), v)

    attrs = {"causal_mask": "BottomRight"} if masked else {}
    check_op(dtype, "nn.attention", [q, k, v], expected, slack=2, **attrs)


@each_dtype
def test_losses(dtype):
    rng = np.random.default_rng(0)
    predictions = -np.abs(normal((5000, 7))) - 1
    targets = rng.integers(0, 7, 5000)
    inputs = rounded(predictions, dtype)
    chosen = inputs.astype("float64")[np.arange(5000), targets]
    for level in LEVELS:
        check(run_op("nn.nll_loss", inputs, targets, opt_level=level), -chosen.mean(), dtype)
    labels = np.eye(7)[targets]
    check_op(
        dtype,
        "nn.cross_entropy_with_logits",
        [predictions, labels],
        lambda p, t: -(p * t).sum() / len(p),
    )


def run_te(x, make, expected, dtype, target):
    """Runs `make` of a placeholder."""
    data = rounded(x, dtype)
    given = te.placeholder(data.shape, dtype, "x")
    func = te.create_prim_func([given, make(given)])
    found = np.zeros_like(rounded(expected(data.astype("float64")), dtype))
    tensor = tilewright.tensor(found)
    tilewright.build(func, target)["main"](tilewright.tensor(data), tensor)
    check(tensor.numpy(), expected(data.astype("float64")), dtype, slack=2)


@each_dtype
@each_target
def test_tensor_expressions(target, dtype):
    ones = np.ones((5000, 3))
    run_te(ones, lambda x: topi.sum(x, axis=0), lambda v: v.sum(0), dtype, target)
    run_te(ones.T, lambda x: topi.mean(x, axis=1), lambda v: v.mean(1), dtype, target)
    run_te(ones, lambda x: topi.nn.softmax(x, axis=0), lambda v: v / 5000, dtype, target)
    run_te(ones, lambda x: topi.cumsum(x, 0), lambda v: v.cumsum(0), dtype, target)
    run_te(ones, lambda x: topi.matmul(topi.transpose(x, [1, 0]), x), lambda v: v.T @ v, dtype, target)


@each_dtype
def test_open_extents(dtype):
    x = rounded(normal((3001, 7), 2.0, 3.0), dtype)
    wide = x.astype("float64")
    check(run_op("sum", x, axis=[0], symbols=(3001,)), wide.sum(0), dtype)
    check(run_op("variance", x, axis=[0], symbols=(3001,)), wide.var(0), dtype)
    check(
        run_op("nn.softmax", rounded(np.ones((3001, 7)), dtype), axis=0, symbols=(3001,)),
        np.full((3001, 7), 1 / 3001),
        dtype,
    )


def test_float32_and_integers_are_as_before():
    """No copies of other dtypes come into sums that need none."""
    for dtype in ("float32", "float64", "int32"):
        given = te.placeholder((5, 7), dtype, "x")
        assert "Cast" not in te.create_prim_func([given, topi.sum(given, axis=1)]).script()


@each_dtype
@pytest.mark.parametrize("name", ["rms_norm", "layer_norm", "batch_norm", "softmax", "log_softmax"])
def test_decomposed_operators(name, dtype):
    """The operators that decompose_ops makes of them are as exact."""
    x = rounded(normal((7, 1024), 300.0, 5.0) / (100 if "softmax" in name else 1), dtype)
    scale, shift = rounded(normal(1024), dtype), rounded(normal(1024), dtype)
    variance = rounded(np.abs(normal(1024)) * 15000, dtype)
    args = {
        "rms_norm": [x, scale],
        "layer_norm": [x, scale, shift],
        "batch_norm": [x, scale, shift, shift, variance],
    }.get(name, [x])
    axes = {"axes": [-1]} if name in ("rms_norm", "layer_norm") else {}
    whole = build(f"nn.{name}", args, {"axis": 1, **axes} if name == "batch_norm" else axes)
    parts = tilewright.relax.transform.decompose_ops()(whole)
    assert f"R.nn.{name}" not in parts.script()
    results = []
    for module in (whole, parts):
        main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
        result = main(*[tilewright.tensor(each) for each in args])
        results.append((result[0] if name == "batch_norm" else result).numpy().astype("float64"))
    np.testing.assert_allclose(results[1], results[0], rtol=2 * TOLERANCE[dtype], atol=TOLERANCE[dtype])
