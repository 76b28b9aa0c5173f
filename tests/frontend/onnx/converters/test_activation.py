"""Activations are the formulas of ONNX."""

import numpy as np
import pytest
from onnx_testing import run_node

import tilewright

X = np.linspace(-4, 4, 35, dtype="float32").reshape(5, 7)
SIGMOID = 1 / (1 + np.exp(-X))
CASES = {
    "Celu": ({"alpha": 2.0}, np.maximum(X, 0) + np.minimum(2 * (np.exp(X / 2) - 1), 0)),
    "Elu": ({"alpha": 0.5}, np.where(X < 0, 0.5 * (np.exp(X) - 1), X)),
    "HardSigmoid": ({"alpha": 0.3, "beta": 0.4}, np.clip(0.3 * X + 0.4, 0, 1)),
    "HardSwish": ({}, X * np.clip(X / 6 + 0.5, 0, 1)),
    "IsInf": ({}, np.isinf(X)),
    "LeakyRelu": ({"alpha": 0.1}, np.where(X < 0, 0.1 * X, X)),
    "Mish": ({}, X * np.tanh(np.log1p(np.exp(X)))),
    "Reciprocal": ({}, 1 / (X + 9)),
    "Selu": ({"alpha": 1.5, "gamma": 2.0}, 2 * np.where(X < 0, 1.5 * (np.exp(X) - 1), X)),
    "Shrink": ({"lambd": 1.0, "bias": 0.5}, np.where(X < -1, X + 0.5, np.where(X > 1, X - 0.5, 0))),
    "Softplus": ({}, np.log1p(np.exp(X))),
    "Softsign": ({}, X / (1 + np.abs(X))),
    "ThresholdedRelu": ({"alpha": 1.5}, np.where(X > 1.5, X, 0)),
}


@pytest.mark.parametrize("op", CASES)
def test_numbers(op):
    attributes, expected = CASES[op]
    found = run_node(op, [X + 9 if op == "Reciprocal" else X], **attributes)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_swish():
    np.testing.assert_allclose(run_node("Swish", [X], opset=24), X * SIGMOID, rtol=1e-5, atol=1e-6)


def test_slopes_are_broadcast():
    slope = np.array([[0.5], [1], [2], [0], [-1]], "float32")
    np.testing.assert_allclose(run_node("PRelu", [X, slope]), np.where(X < 0, X * slope, X), rtol=1e-6)


def test_bounds_may_be_left_out():
    low = np.array(-1, "float32")
    np.testing.assert_array_equal(run_node("Clip", [X, low]), np.maximum(X, low))
    np.testing.assert_array_equal(run_node("Clip", [X], opset=10, max=1.0), np.minimum(X, 1))


def test_gelu_has_two_forms():
    tanh = 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))
    np.testing.assert_allclose(run_node("Gelu", [X], approximate="tanh"), tanh, rtol=1e-4, atol=1e-6)
    with pytest.raises(tilewright.UserError, match='approximate is "fast"'):
        run_node("Gelu", [X], approximate="fast")


def test_gated_by_another_tensor():
    other = X[::-1].copy()
    expected = X / (1 + np.exp(-2 * X)) * other
    np.testing.assert_allclose(run_node("SwiGLU", [X, other], opset=28, alpha=2.0), expected, rtol=1e-5)
    with pytest.raises(tilewright.UserError) as refused:
        run_node("SwiGLU", [X, X[0]], opset=28)
    assert "A is [5, 7], but B is [7]: their shapes differ" in str(refused.value)
