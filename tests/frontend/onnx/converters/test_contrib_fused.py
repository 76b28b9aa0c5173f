"""Products, convolutions and activations that onnxruntime joins, against onnxruntime."""

import numpy as np
import pytest
from onnx_peer import by_us, check, feeds, model_of, refusal


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, **attrs):
    return check(op, inputs, domain="com.microsoft", **attrs)


def test_activations():
    x, bias = rand(2, 5, 7), rand(7)
    run("Gelu", [x])
    run("BiasGelu", [x, bias])
    run("FastGelu", [x])
    run("FastGelu", [x, bias])
    run("QuickGelu", [x], alpha=0.9)
    run("Gelu", [np.zeros((0, 7), "float32")])


@pytest.mark.parametrize(
    "attrs", [{}, {"transA": 1}, {"transB": 1}, {"transA": 1, "transB": 1, "alpha": 0.3}]
)
def test_products(attrs):
    a = rand(3, 7, 5) if attrs.get("transA") else rand(3, 5, 7)
    b = rand(3, 9, 7, seed=1) if attrs.get("transB") else rand(3, 7, 9, seed=1)
    run("FusedMatMul", [a, b], **attrs)
    run("FusedGemm", [a[0], b[0], rand(9)], activation="Relu", beta=0.5, **attrs)


@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_leaky_product(alpha):
    """onnxruntime reads the slope from alpha or from activation_alpha, as its hash table has it."""
    a, b, c = rand(5, 7), rand(7, 9), rand(9)

    def by_numpy(model, arrays):
        y = alpha * (a @ b) + c
        return [np.where(y < 0, np.float32(0.2) * y, y)]

    run("FusedGemm", [a, b, c], activation="LeakyRelu", activation_alpha=0.2, alpha=alpha, peer=by_numpy)


def test_batch_is_not_first():
    run("FusedMatMul", [rand(5, 3, 7), rand(3, 7, 9)], transBatchA=1)
    run("FusedMatMul", [rand(3, 5, 7), rand(7, 3, 9)], transBatchB=1)


def test_convolution():
    x, w, b = rand(2, 3, 9, 9), rand(6, 3, 3, 3), rand(6)
    attrs = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}
    run("FusedConv", [x, w, b], activation="Relu", **attrs)
    run("FusedConv", [x, w, b, rand(2, 6, 9, 9)], activation="Relu", **attrs)
    run("FusedConv", [x, w], activation="Clip", activation_params=[0.0, 0.5], **attrs)
    run("FusedConv", [x, w], activation="HardSigmoid", activation_params=[0.3, 0.4], **attrs)
    text = refusal("FusedConv", [x, w], domain="com.microsoft", activation="Rely")
    assert 'activation is "Rely"' in text


def test_channels_last():
    """onnxruntime's processor has no float kernel of them: against the same with channels first."""
    x, w, b = rand(2, 3, 9, 9), rand(6, 3, 3, 3), rand(6)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    expected = by_us(model_of("Conv", [x, w, b], strides=[2, 2]), feeds([x, w, b], ()))[0]
    model = model_of("NhwcConv", [last, w, b], domain="com.microsoft", strides=[2, 2])
    found = by_us(model, feeds([last, w, b], ()))[0]
    np.testing.assert_allclose(found, expected.transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-5)
    bytes_last = (last * 20).astype("int8")
    model = model_of("NhwcMaxPool", [bytes_last], domain="com.microsoft", kernel_shape=[2, 3])
    windows = np.lib.stride_tricks.sliding_window_view(bytes_last, (2, 3), (1, 2))
    np.testing.assert_array_equal(by_us(model, feeds([bytes_last], ()))[0], windows.max((-2, -1)))
