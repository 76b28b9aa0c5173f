"""Normalisations and softmax."""

import numpy as np
import pytest
from node_testing import model_of, refusal_of, run, run_op
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


MEAN, VARIANCE = BIAS / 2, SCALE * 2


def of_training(momentum=0.9, epsilon=1e-5):
    """All results of BatchNormalization in training, in float64."""
    x = X.astype("float64")
    mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
    y = normal(x, (0, 2, 3), epsilon) * channels(SCALE) + channels(BIAS)
    moved = [old * momentum + new * (1 - momentum) for old, new in ((MEAN, mean), (VARIANCE, variance))]
    return [y, *moved, mean, variance]


@pytest.mark.parametrize(("opset", "outputs", "attrs"), [
    (15, 3, {"training_mode": 1}), (14, 1, {"training_mode": 1, "momentum": 0.5}), (9, 5, {"epsilon": 1e-2}), (7, 3, {}),
    (6, 5, {"is_test": 0}),
])  # fmt: skip
def test_batch_norm_in_training(opset, outputs, attrs):
    more = {name: value for name, value in attrs.items() if name in ("momentum", "epsilon")}
    found = run_op("BatchNormalization", [X, SCALE, BIAS, MEAN, VARIANCE], outputs, opset=opset, **attrs)
    for one, right in zip(found, of_training(**more), strict=False):
        assert one.dtype == np.float32
        close(one, right)


def test_batch_norm_of_halves_has_statistics_of_their_own_dtype():
    inputs = [X.astype("float16"), SCALE, BIAS, MEAN, VARIANCE]
    found = run_op("BatchNormalization", inputs, 3, opset=15, training_mode=1)
    assert [each.dtype for each in found] == [np.float16, np.float32, np.float32]
    for one, right in zip(found, of_training(), strict=False):
        np.testing.assert_allclose(one.astype("float32"), right, atol=5e-3)


def test_batch_norm_in_training_with_an_open_batch():
    shapes = [["n", 6, 5, 7], [6], [6], [6], [6]]
    model = model_of(
        "BatchNormalization", [X, SCALE, BIAS, MEAN, VARIANCE], 3, opset=15, training_mode=1, shapes=shapes
    )
    for one, right in zip(run(model, [X, SCALE, BIAS, MEAN, VARIANCE]), of_training(), strict=False):
        close(one, right)


@pytest.mark.parametrize("outputs", [1, 5])
def test_batch_norm_of_single_elements(outputs):
    """Each element of an image has a mean of its own: spatial is 0."""
    generator = np.random.default_rng(1)
    scale, bias, mean, variance = (generator.uniform(0.5, 2, (6, 5, 7)).astype("float32") for _ in range(4))
    found = run_op("BatchNormalization", [X, scale, bias, mean, variance], outputs, opset=8, spatial=0)
    if outputs == 1:
        return close(found[0], (X - mean) / np.sqrt(variance + 1e-5) * scale + bias)
    own = [X.mean(0), X.var(0)]
    moved = [old * 0.9 + new * 0.1 for old, new in zip((mean, variance), own, strict=True)]
    y = (X - own[0]) / np.sqrt(own[1] + 1e-5) * scale + bias
    for one, right in zip(found, [y, *moved, *own], strict=True):
        close(one, right)


def test_results_that_only_training_gives():
    assert refusal_of("BatchNormalization", [X, SCALE, BIAS, MEAN, VARIANCE], 3, opset=15) == (
        'error: BatchNormalization node "n": output 1 ("y1") is used, but only training gives it\n'
        "help: set the attribute training_mode, or is_test of early opsets, as in training"
    )
    assert refusal_of("BatchNormalization", [np.float32(1), SCALE, BIAS, MEAN, VARIANCE]) == (
        'error: BatchNormalization node "n": input 0 is a number, expected a batch of tensors'
    )


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
