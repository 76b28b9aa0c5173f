"""Operators of com.microsoft that others of ai.onnx are made of, against onnxruntime and numpy."""

import numpy as np
import pytest
from onnx_peer import by_onnxruntime, check, kinds_of, refusal


def rand(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def run(op, inputs, expected=None, dtypes=(), **attrs):
    """Against onnxruntime, or `expected` where its processor has no kernel."""
    if dtypes:
        attrs["kinds"] = kinds_of([f"y{n}" for n in range(len(dtypes))], dtypes)
    peer = by_onnxruntime if expected is None else lambda model, arrays: expected
    return check(op, inputs, peer=peer, domain="com.microsoft", **attrs)


def test_ranges():
    for dtype in ("float32", "int64"):
        run("Range", [np.array(2, dtype), np.array(9, dtype), np.array(3, dtype)], dtypes=[dtype])
        run("Range", [np.array(2, dtype), np.array(9, dtype)], dtypes=[dtype])


def test_dimensions_and_rows():
    x = rand(3, 5)
    for axis in (0, 2, -1):
        run("ExpandDims", [x, np.array(axis, "int32")], constants=[1])
    at = np.array([[0, 2], [1, 1]])
    run("TorchEmbedding", [x, at], [x[at]])


def test_values_in_order():
    x = np.array([2, 1, 1, 3, 4, 3], "float32")
    run("Unique", [x], outputs=3, dtypes=["float32", "int64", "int64"])
    run(
        "Unique",
        [x[:0]],
        [x[:0], np.zeros(0, "int64"), np.zeros(0, "int64")],
        outputs=3,
        dtypes=["float32", "int64", "int64"],
    )
    assert "x has 2 dimensions, expected 1" in refusal(
        "Unique", [rand(2, 3)], domain="com.microsoft", outputs=3
    )


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_samples(mode, padding):
    inputs = [rand(2, 3, 5, 7), rand(2, 4, 6, 2)]
    run("GridSample", inputs, mode=mode, padding_mode=padding, align_corners=1, rtol=1e-3, atol=1e-4)
    run("GridSample", inputs, mode=mode, padding_mode=padding, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(5, 5), (3, 7, 7), (0, 3, 3)])
def test_inverses(shape):
    x = rand(*shape)
    run("Inverse", [x], [np.linalg.inv(x)], rtol=1e-3, atol=1e-3)
    if x.size:
        run(
            "Inverse",
            [x],
            rtol=1e-3,
            atol=1e-3,
            shapes={0: ["n"] * len(shape)} if len(set(shape)) == 1 else None,
        )


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_softmax_with_a_bias():
    x = rand(2, 3, 5, 7)
    for bias in (rand(2, 1, 1, 7), rand(5, 7), rand(1, 1, 5, 7)):
        run("BiasSoftmax", [x, bias], [softmax(x + bias)], axis=3, is_inner_broadcast=1)
    whole = softmax((x + bias).reshape(6, 35)).reshape(x.shape)
    run("BiasSoftmax", [x, bias], [whole], axis=2, is_inner_broadcast=0)


def test_dropout_without_training():
    x, bias, residual = rand(2, 5, 7), rand(7), rand(2, 5, 7, seed=1)
    ratio, no = np.float32(0.5), np.array(False)
    everything = np.ones((2, 5, 7), bool)
    run(
        "BiasDropout",
        [x, bias, residual, ratio],
        [x + bias + residual, everything],
        outputs=2,
        dtypes=["float32", "bool"],
    )
    run("BiasDropout", [x, bias, None, ratio, no], [x + bias], constants=[4])
    text = refusal(
        "BiasDropout", [x, bias, None, ratio, np.array(True)], domain="com.microsoft", constants=[4]
    )
    assert "training_mode is true, only inference is supported" in text


def test_activations():
    x, weight, bias = rand(2, 5, 7), rand(7, 9), rand(9)
    h = x @ weight + bias
    gelu = 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
    run("GemmFastGelu", [x, weight, bias], [gelu.astype("float32")])
    run("ScaledSiLU", [x], alpha=0.7)
    run("ScaledSiLU", [x, np.float32(1.3)])


def test_integers():
    rng = np.random.default_rng(0)
    a, b = rng.integers(-300, 300, (3, 5)).astype("int16"), rng.integers(-300, 300, (5, 4)).astype("int16")
    run("MatMulInteger16", [a, b], dtypes=["int32"])
    a, b = rng.integers(0, 256, (3, 5)).astype("uint8"), rng.integers(0, 256, 5).astype("uint8")
    wide, other = a.astype("int32"), b.astype("int32")
    three, seven = np.array(3, "uint8"), np.array(7, "uint8")
    run("MulInteger", [a, three, b, seven], [(wide - 3) * (other - 7)], dtypes=["int32"])
    run("MulInteger", [a, None, b], [wide * other], dtypes=["int32"])
    run(
        "ReduceSumInteger",
        [a],
        [a.sum(1, keepdims=True, dtype="uint32")],
        dtypes=["uint32"],
        axes=[1],
        keepdims=1,
    )
    signed = (wide - 128).astype("int8")
    run(
        "ReduceSumInteger",
        [signed],
        [signed.sum((0, 1), dtype="int32")],
        dtypes=["int32"],
        axes=[0, 1],
        keepdims=0,
    )


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_distances(metric):
    run("CDist", [rand(5, 7), rand(4, 7)], metric=metric)
    run("CDist", [rand(5, 7), rand(4, 7)], metric=metric, shapes={0: ["m", "n"], 1: ["k", "n"]})
    text = refusal("CDist", [rand(5, 7), rand(4, 7)], domain="com.microsoft", metric="cosine")
    assert 'attribute "metric" is "cosine", supported are "sqeuclidean" and "euclidean"' in text


def test_complex_products():
    a, b = rand(2, 5, 2), rand(2, 5, 2, seed=1)
    x, y = a[..., 0] + 1j * a[..., 1], b[..., 0] + 1j * b[..., 1]
    for op, product in (("ComplexMul", x * y), ("ComplexMulConj", x * y.conj())):
        run(op, [a, b], [np.stack([product.real, product.imag], -1).astype("float32")])
    text = refusal("ComplexMul", [rand(2, 3), rand(2, 3)], domain="com.microsoft")
    assert "A is [2, 3], expected pairs in the last dimension" in text
