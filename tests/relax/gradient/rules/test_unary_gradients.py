"""Gradients of elementwise operators of one tensor, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, op, positive, rand

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
