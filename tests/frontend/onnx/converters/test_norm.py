"""Normalisations and softmax."""

import numpy as np
import pytest
from onnx_testing import run_node

X = np.random.default_rng(0).standard_normal((2, 6, 5, 7)).astype("float32")
SCALE, BIAS = np.linspace(0.5, 2, 6, dtype="float32"), np.linspace(-1, 1, 6, dtype="float32")


def normal(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def channels(values):
    return values[:, None, None]


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_batch_norm():
    mean, variance = BIAS / 2, SCALE * 2
    expected = (X - channels(mean)) / np.sqrt(channels(variance) + 1e-5) * channels(SCALE) + channels(BIAS)
    close(run_node("BatchNormalization", [X, SCALE, BIAS, mean, variance]), expected)


def test_instance_and_group_norm():
    close(
        run_node("InstanceNormalization", [X, SCALE, BIAS]),
        normal(X, (2, 3)) * channels(SCALE) + channels(BIAS),
    )
    groups = normal(X.reshape(2, 3, 2, 5, 7), (2, 3, 4)).reshape(X.shape)
    close(
        run_node("GroupNormalization", [X, SCALE, BIAS], num_groups=3),
        groups * channels(SCALE) + channels(BIAS),
    )


def test_layer_norm():
    scale = np.linspace(1, 2, 7, dtype="float32")
    close(run_node("LayerNormalization", [X, scale]), normal(X, -1) * scale)
    root = np.sqrt((X**2).mean(-1, keepdims=True) + 1e-5)
    close(run_node("RMSNormalization", [X, scale], opset=23), X / root * scale)


def test_mean_variance_and_lp_norm():
    close(run_node("MeanVarianceNormalization", [X]), normal(X, (0, 2, 3), 0))
    close(run_node("LpNormalization", [X], axis=1, p=1), X / np.abs(X).sum(1, keepdims=True))


@pytest.mark.parametrize("opset", [12, 13])
def test_softmax(opset):
    """Before opset 13 all dimensions from the axis on are one."""
    axes = (2, 3) if opset < 13 else 2
    powers = np.exp(X)
    close(run_node("Softmax", [X], axis=2, opset=opset), powers / powers.sum(axes, keepdims=True))
    close(run_node("LogSoftmax", [X], axis=2, opset=opset), X - np.log(powers.sum(axes, keepdims=True)))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_hardmax(axis):
    x = np.random.default_rng(1).integers(0, 4, (5, 1, 7)).astype("float32")  # with equal elements
    first = np.argmax(x, axis, keepdims=True)
    places = np.arange(x.shape[axis]).reshape([-1] + [1] * ((x.ndim - 1 - axis) % x.ndim))
    expected = (first == places).astype("float32")
    np.testing.assert_array_equal(run_node("Hardmax", [x], axis=axis), expected)
    np.testing.assert_array_equal(run_node("Hardmax", [x.astype("float16")], axis=axis), expected)


def test_hardmax_as_it_was():
    """Before opset 13 dimensions from axis on are one."""
    x = np.array([[[1, 3], [3, 2]]], "float32")
    np.testing.assert_array_equal(run_node("Hardmax", [x], opset=11, axis=1), [[[0, 1], [0, 0]]])
