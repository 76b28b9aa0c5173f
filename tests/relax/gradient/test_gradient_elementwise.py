"""Gradients of elementwise operators, reductions and losses, against torch's."""

import numpy as np
import pytest
from gradient_testing import call, check, check_by_differences, differentiated, op, positive, rand

from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import parse

torch = pytest.importorskip("torch")
F = torch.nn.functional


def away_from_steps(*shape):
    """Nothing near whole numbers, where steps and corners are."""
    x = rand(*shape) * 3
    return (np.floor(x) + 0.2 + 0.6 * (x - np.floor(x))).astype("float32")


UNARY = {
    "exp": (torch.exp, rand),
    "log": (torch.log, positive),
    "log2": (torch.log2, positive),
    "log10": (torch.log10, positive),
    "sqrt": (torch.sqrt, positive),
    "rsqrt": (torch.rsqrt, positive),
    "square": (torch.square, rand),
    "sin": (torch.sin, rand),
    "cos": (torch.cos, rand),
    "tan": (torch.tan, lambda *shape: rand(*shape) * 0.4),
    "asin": (torch.asin, lambda *shape: np.tanh(rand(*shape)) * 0.9),
    "acos": (torch.acos, lambda *shape: np.tanh(rand(*shape)) * 0.9),
    "atan": (torch.atan, rand),
    "sinh": (torch.sinh, rand),
    "cosh": (torch.cosh, rand),
    "tanh": (torch.tanh, rand),
    "asinh": (torch.asinh, rand),
    "acosh": (torch.acosh, lambda *shape: positive(*shape) + 1),
    "atanh": (torch.atanh, lambda *shape: np.tanh(rand(*shape)) * 0.9),
    "sigmoid": (torch.sigmoid, rand),
    "erf": (torch.erf, rand),
    "negative": (torch.neg, rand),
    "abs": (torch.abs, rand),
    "sign": (torch.sign, away_from_steps),
    "floor": (torch.floor, away_from_steps),
    "ceil": (torch.ceil, away_from_steps),
    "trunc": (torch.trunc, away_from_steps),
    "round": (torch.round, away_from_steps),
    "nn.relu": (F.relu, rand),
    "nn.relu6": (F.relu6, lambda *shape: rand(*shape) * 5),
    "nn.gelu": (F.gelu, rand),
    "nn.gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), rand),
    "nn.silu": (F.silu, rand),
    "nn.selu": (F.selu, rand),
}


def operator(name):
    found = op
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    function, values = UNARY[name]
    check(operator(name), function, values(5, 7))


def test_unary_with_attributes():
    check(
        lambda x: op.nn.leakyrelu(op.nn.softplus(x, beta=2.0, threshold=1.5), alpha=0.2),
        lambda x: F.leaky_relu(F.softplus(x, beta=2.0, threshold=1.5), 0.2),
        rand(127),
    )
    check(lambda x: op.clip(x, -0.5, 0.7), lambda x: torch.clamp(x, -0.5, 0.7), rand(5, 7))


def test_conversions_bring_gradients_back():
    check(
        lambda x: op.astype(op.exp(op.astype(x, "float64")), "float32"),
        lambda x: torch.exp(x.double()).float(),
        rand(5, 7),
    )


BINARY = {
    "add": torch.add,
    "subtract": torch.subtract,
    "multiply": torch.multiply,
    "divide": torch.divide,
    "power": torch.pow,
    "floor_mod": torch.remainder,
    "mod": torch.fmod,
    "log_add_exp": torch.logaddexp,
    "atan2": torch.atan2,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_broadcasts_and_sums_back(name):
    check(getattr(op, name), BINARY[name], positive(5, 1, 7), positive(3, 1, seed=6))


def test_ties_share_and_zeros_have_no_logarithm():
    x = np.array([1, 2, 3, 0], "float32")
    check(op.maximum, torch.maximum, x, np.array([1, 3, 2, 0], "float32"))
    check(op.power, torch.pow, x, np.array([0, 2, 1.5, 2], "float32"))


def test_three_arguments():
    condition = rand(5, 7) > 0
    check(op.where, torch.where, condition, rand(5, 7), rand(7, seed=4))
    check(op.ewise_fma, lambda a, b, c: a * b + c, rand(5, 7), rand(7, seed=4), rand(1, seed=8))


def test_prelu():
    check(op.nn.prelu, F.prelu, rand(2, 3, 5), rand(3, seed=4))
    check(op.nn.prelu, F.prelu, rand(2, 3, 5), rand(1, seed=4))


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [[1], [0, 2], None])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "variance", "std", "prod"])
def test_reductions(name, axis, keepdims):
    def reference(x):
        dims = tuple(range(3)) if axis is None else tuple(axis)
        if name == "prod":
            for dim in sorted(dims, reverse=True):
                x = x.prod(dim, keepdim=keepdims)
            return x
        function = {"max": "amax", "min": "amin", "variance": "var"}.get(name, name)
        more = {"correction": 0} if name in ("variance", "std") else {}
        return getattr(torch, function)(x, dim=dims, keepdim=keepdims, **more)

    check(lambda x: getattr(op, name)(x, axis=axis, keepdims=keepdims), reference, rand(3, 5, 4))


def test_reductions_of_everything_have_the_shape_of_scalars():
    """Also of a tensor whose number of dimensions is not known; a tensor of no dimensions has the shape ()."""
    scalar = relax.TensorType([], "float32")
    x = relax.Var("x", relax.TensorType(None, "float32", -1))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        for name in ("sum", "mean", "max", "prod", "std"):
            assert_structural_equal(bb.emit(getattr(op, name)(x)).type, scalar)
        bb.emit_func_output(x)
    assert_structural_equal(relax.TensorType(None, "float32", 0), scalar)


LOSS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 5), "float32"), w: TYPE):
        with R.dataflow():
            loss = R.multiply(R.sum(R.multiply(x, x)), R.sum(w))
            R.output(loss)
        return loss
"""


def test_a_sum_of_unknown_rank_is_a_target():
    adjoint = differentiated(parse(LOSS.replace("TYPE", 'R.Tensor("float32")')), require_grads=["x"])
    assert relax.analysis.well_formed(adjoint)
    x, w = rand(3, 5), np.array(1.5, "float32")
    adjoint = differentiated(parse(LOSS.replace("TYPE", 'R.Tensor("float32", ndim=0)')))
    loss, (grad_x, grad_w) = call(adjoint, "main_adjoint", [x, w])
    np.testing.assert_allclose(loss.numpy(), (x * x).sum() * w, rtol=1e-5)
    np.testing.assert_allclose(grad_x.numpy(), 2 * x * w, rtol=1e-5)
    np.testing.assert_allclose(grad_w.numpy(), (x * x).sum(), rtol=1e-5)


def test_product_with_zeros():
    x = rand(3, 5)
    x[0, 1] = x[2, 0] = x[2, 3] = 0
    check(lambda x: op.prod(x, axis=[1]), lambda x: torch.prod(x, 1), x)


def test_equal_largest_ones_share():
    check(
        lambda x: op.max(x, axis=[1]), lambda x: torch.amax(x, 1), np.array([[1, 3, 3], [2, 2, 2]], "float32")
    )


def test_cumulative_sums():
    check(lambda x: op.cumsum(x, axis=1), lambda x: torch.cumsum(x, 1), rand(5, 7))
    check(op.cumsum, lambda x: torch.cumsum(x.reshape(-1), 0), rand(3, 5))
    check(
        lambda x: op.cumsum(x, axis=0, exclusive=True, reverse=True),
        lambda x: torch.flip(torch.cumsum(torch.flip(x, [0]), 0), [0]) - x,
        rand(5),
    )


def test_cumulative_products():
    x = rand(3, 5)
    x[1, 2] = x[2, 1] = x[2, 3] = 0
    check(lambda x: op.cumprod(x, axis=1), lambda x: torch.cumprod(x, 1), x)
    check(lambda x: op.cumprod(x, axis=0), lambda x: torch.cumprod(x, 0), x)
    check(lambda x: op.cumprod(x), lambda x: torch.cumprod(x.reshape(-1), 0), rand(3, 5))
    check(lambda x: op.cumprod(x, axis=1), lambda x: torch.cumprod(x, 1), x, symbols=(5,))
    check(
        lambda x: op.cumprod(x, axis=1, reverse=True),
        lambda x: torch.cumprod(x.flip(1), 1).flip(1),
        x,
    )
    check_by_differences(lambda x: op.cumprod(x, axis=1, exclusive=True), x)
    check_by_differences(lambda x: op.cumprod(x, axis=1, reverse=True, exclusive=True), x)


def test_median():
    x = rand(3, 5, 7)
    check(lambda x: op.median(x, axis=[1]), lambda x: torch.median(x, 1).values, x)
    check(
        lambda x: op.median(x, axis=[0], keepdims=True), lambda x: torch.median(x, 0, keepdim=True).values, x
    )
    check(op.median, torch.median, x)


def test_order():
    check(lambda x: op.sort(x, axis=0, descending=True), lambda x: torch.sort(x, 0, True)[0], rand(5, 7))
    check(lambda x: op.topk(x, k=3), lambda x: torch.topk(x, 3)[0], rand(5, 7))
    check(lambda x: op.topk(x, k=2, axis=0, ret_type="values"), lambda x: torch.topk(x, 2, 0)[0], rand(5, 7))


@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax(axis):
    check(lambda x: op.nn.softmax(x, axis=axis), lambda x: F.softmax(x, axis), rand(5, 7, 3))
    check(lambda x: op.nn.log_softmax(x, axis=axis), lambda x: F.log_softmax(x, axis), rand(5, 7, 3))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_nll_loss(reduction):
    targets = np.array([0, 6, 3, -100, 3], "int64")
    weights = positive(7)

    def graph(x, t):
        return op.nn.nll_loss(x, t, relax.const(weights), reduction=reduction)

    check(
        graph,
        lambda x, t: F.nll_loss(x, t, torch.tensor(weights), reduction=reduction),
        rand(5, 7),
        targets,
    )
    many = np.random.default_rng(1).integers(0, 7, (2, 5, 3))
    check(
        lambda x, t: op.nn.nll_loss(x, t, reduction=reduction),
        lambda x, t: F.nll_loss(x, t, reduction=reduction),
        rand(2, 7, 5, 3),
        many,
    )


def test_cross_entropy():
    check(
        op.nn.cross_entropy_with_logits,
        lambda p, t: -(p * t).sum() / 5,
        rand(5, 7),
        positive(5, 7),
    )


def test_dropout_is_the_identity():
    check(lambda x: op.nn.dropout(x, rate=0.3)[0], lambda x: x * 1, rand(5, 7))


@pytest.mark.parametrize(
    "graph",
    [
        lambda x, y: op.nn.gelu_tanh(op.multiply(x, y)),
        lambda x, y: op.variance(op.nn.selu(x) / (y * y + y), axis=[0]),
        lambda x, y: op.nn.softmax(op.maximum(x, y) - op.tanh(x)),
    ],
)
def test_differences(graph):
    check_by_differences(graph, rand(5, 7), positive(7))


@pytest.mark.parametrize(("x", "y"), [((2, 5), (5,)), ((2, 5), (1,)), ((2, 1), (5,)), ((2, 1), (1,))])
def test_extents_that_are_one_when_the_graph_runs(x, y):
    check(lambda x, y: op.multiply(x, y), lambda x, y: x * y, rand(*x), rand(*y), symbols=(1, 5))
