"""Operators of quantized tensors of com.microsoft against onnxruntime: within one step."""

import numpy as np
import pytest
from onnx_peer import check, kinds_of, refusal

rng = np.random.default_rng(0)


def numbers(dtype, *shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def weights(dtype, *shape):
    """Numbers whose products onnxruntime's kernels for older processors do not saturate."""
    return (numbers(dtype, *shape) // 4).astype(dtype)


def scale(value):
    return np.array(value, "float32")


def run(op, inputs, dtype, steps=1, **attrs):
    return check(op, inputs, domain="com.microsoft", kinds=kinds_of(["y0"], [dtype]), steps=steps, **attrs)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_of_two(dtype):
    zero = np.array(3, dtype)
    a, b = [numbers(dtype, 3, 5, 7), scale(0.1), zero], [numbers(dtype, 5, 7), scale(0.2), np.array(5, dtype)]
    run("QLinearAdd", [*a, *b, scale(0.3), zero], dtype)
    run("QLinearMul", [*a, *b, scale(2.5), zero], dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_of_one(dtype):
    x = [numbers(dtype, 3, 5, 7), scale(0.03), np.array(7, dtype)]
    run("QLinearSigmoid", [*x, scale(1 / 256), np.array(0 if dtype == "uint8" else -128, dtype)], dtype)
    run("QLinearLeakyRelu", [*x, scale(0.02), np.array(9, dtype)], dtype, alpha=0.1)
    low = np.array(0 if dtype == "uint8" else -128, dtype)
    run("QLinearSoftmax", [*x, scale(1 / 256), low], dtype, axis=-1, attributes={"opset": 13})
    run("QLinearSoftmax", [*x, scale(1 / 256), low], dtype, axis=1, attributes={"opset": 12})


def test_concat_and_where():
    parts = []
    for n, size in enumerate((2, 3)):
        parts += [numbers("uint8", 3, size), scale(0.1 * (n + 1)), np.array(4 * n, "uint8")]
    run("QLinearConcat", [scale(0.2), np.array(2, "uint8"), *parts], "uint8", axis=1)
    first, second = numbers("uint8", 3, 5), numbers("uint8", 3, 5)
    zero = np.array(2, "uint8")
    run(
        "QLinearWhere",
        [first > second, first, scale(0.1), zero, second, scale(0.2), zero, scale(0.3), zero],
        "uint8",
    )


@pytest.mark.parametrize("last", [0, 1])
def test_pools(last):
    shape = (2, 9, 9, 3) if last else (2, 3, 9, 9)
    x = [numbers("uint8", *shape), scale(0.1), np.array(7, "uint8"), scale(0.08), np.array(3, "uint8")]
    run("QLinearGlobalAveragePool", x, "uint8", channels_last=last)
    for count in (0, 1):
        run(
            "QLinearAveragePool",
            x,
            "uint8",
            channels_last=last,
            kernel_shape=[3, 3],
            strides=[2, 2],
            pads=[1, 1, 1, 1],
            count_include_pad=count,
        )


def test_convolution():
    x, w = numbers("uint8", 2, 9, 9, 3), weights("int8", 6, 3, 3, 3)
    zero = np.array(0, "int8")
    inputs = [x, scale(0.1), np.array(7, "uint8"), w, scale(0.05), zero, scale(1.5), np.array(100, "uint8")]
    run("QLinearConv", inputs, "uint8", channels_last=1, constants=[3, 4, 5])


@pytest.mark.parametrize("attrs", [{}, {"transA": 1}, {"transB": 1, "alpha": 0.5}])
def test_gemm(attrs):
    a = numbers("uint8", 7, 5) if attrs.get("transA") else numbers("uint8", 5, 7)
    b = weights("int8", 9, 7) if attrs.get("transB") else weights("int8", 7, 9)
    bias = rng.integers(-5000, 5000, 9).astype("int32")
    for scales in (scale(0.05), np.linspace(0.01, 0.1, 9, dtype="float32")):
        zeros = np.zeros(scales.shape, "int8")
        given = [a, scale(0.02), np.array(120, "uint8"), b, scales, zeros, bias]
        run("QGemm", given, "float32", **attrs)
        run("QGemm", [*given, scale(0.7), np.array(128, "uint8")], "uint8", **attrs)


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_products_as_floats(dtype):
    a, b = numbers("uint8", 5, 7), weights(dtype, 7, 9)
    zero, bias = np.array(3, dtype), rng.standard_normal(9).astype("float32")
    scales = np.linspace(0.01, 0.1, 9, dtype="float32")
    run("MatMulIntegerToFloat", [a, b, scale(0.1), scales, np.array(120, "uint8"), None, bias], "float32")
    x = rng.standard_normal((5, 7)).astype("float32")
    run("DynamicQuantizeMatMul", [x, b, scale(0.05), zero, bias], "float32", rtol=1e-3, atol=1e-3)


def test_refusals():
    part = [numbers("uint8", 3), scale(1), np.array(0, "uint8")]
    inputs = [scale(1), np.array(0, "uint8"), *part, part[0]]
    text = refusal("QLinearConcat", inputs, domain="com.microsoft", axis=0)
    assert "6 inputs, expected 2 and 3 for each part" in text
    text = refusal("QLinearAdd", [part[0], None, None, *part, scale(1)], domain="com.microsoft")
    assert "input 1 is left out, but is required" in text


def test_refuses_lists_as_matrices():
    inputs = [
        numbers("uint8", 4),
        scale(0.1),
        np.array(3, "uint8"),
        numbers("uint8", 4, 5),
        scale(0.1),
        np.array(3, "uint8"),
    ]
    text = refusal("QGemm", inputs, domain="com.microsoft", transA=1)
    assert "an operand of a matrix product has 1 dimension, expected at least 2" in text
