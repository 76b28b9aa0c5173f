"""Operators that onnxruntime makes of diffusion models.  Its processor has no kernels of them: against numpy."""

import math

import numpy as np
import pytest
from onnx_peer import by_us, feeds, kinds_of, model_of, refusal


def rand(*shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


def ours(op, inputs, dtype="float32", outputs=1, **attrs):
    kinds = kinds_of([f"y{n}" for n in range(outputs)], [dtype] * outputs)
    model = model_of(op, inputs, domain="com.microsoft", kinds=kinds, outputs=outputs, **attrs)
    return by_us(model, feeds(inputs, ()))


def near(found, expected, rtol=1e-4):
    np.testing.assert_allclose(found.astype("float64"), expected, rtol=rtol, atol=rtol)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def group_norm(x, gamma, beta, groups, channels_last=1, epsilon=1e-5, activation=0):
    x = x.astype("float64")
    first = x.transpose(0, 3, 1, 2) if channels_last else x
    parts = first.reshape(first.shape[0], groups, -1)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(parts.var(-1, keepdims=True) + epsilon)
    y = parts.reshape(first.shape) * gamma[:, None, None] + beta[:, None, None]
    if activation:
        y = y / (1 + np.exp(-y))
    return y.transpose(0, 2, 3, 1) if channels_last else y


@pytest.mark.parametrize("shapes", [None, {0: ["n", "s", "c"], 2: ["n", "s", "c"]}])
def test_bias_and_skip(shapes):
    x, bias, skip = rand(2, 5, 7), rand(7), rand(2, 5, 7, seed=1)
    near(ours("BiasAdd", [x, bias, skip], shapes=shapes)[0], x + bias + skip)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_split_gelu(dtype):
    x, bias = rand(2, 5, 14, dtype=dtype), rand(14, dtype=dtype)
    h = x.astype("float64") + bias
    found = ours("BiasSplitGelu", [x, bias], dtype)[0]
    near(found, h[..., :7] * gelu(h[..., 7:]), rtol=1e-4 if dtype == "float32" else 1e-2)
    text = refusal("BiasSplitGelu", [rand(2, 5, 7), rand(7)], domain="com.microsoft")
    assert "X is [2, 5, 7], whose last dimension has no halves" in text


@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("activation", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_group_norm(channels_last, activation, dtype):
    x, gamma, beta = rand(2, 5, 7, 6, dtype=dtype), rand(6), rand(6, seed=1)
    if not channels_last:
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    attrs = {"channels_last": channels_last, "activation": activation, "groups": 3, "epsilon": 1e-3}
    found = ours("GroupNorm", [x, gamma, beta], dtype, **attrs)[0]
    near(found, group_norm(x, gamma, beta, **attrs), rtol=1e-4 if dtype == "float32" else 1e-2)


@pytest.mark.parametrize("channels_last", [0, 1])
@pytest.mark.parametrize("form", ["whole", "ones", "pairs"])
def test_skip_group_norm(channels_last, form):
    x, gamma, beta, bias = rand(2, 5, 7, 6), rand(6), rand(6, seed=1), rand(6, seed=2)
    skip = {"whole": rand(2, 5, 7, 6, seed=3), "ones": rand(2, 1, 1, 6), "pairs": rand(2, 6)}[form]
    wide = skip[:, None, None] if form == "pairs" else skip
    sums = x + wide + bias
    attrs = {"channels_last": channels_last, "activation": 1, "groups": 2}
    expected = [group_norm(sums, gamma, beta, 2, activation=1), sums]
    if not channels_last:
        x, expected = x.transpose(0, 3, 1, 2).copy(), [each.transpose(0, 3, 1, 2) for each in expected]
        skip = skip if form == "pairs" else skip.transpose(0, 3, 1, 2).copy()
    for got, right in zip(
        ours("SkipGroupNorm", [x, gamma, beta, skip, bias], outputs=2, **attrs), expected, strict=True
    ):
        near(got, right)
    without = ours("SkipGroupNorm", [x, gamma, beta, skip], **attrs)[0]
    plain = expected[1] - (bias if channels_last else bias[:, None, None])
    near(without, group_norm(plain, gamma, beta, 2, channels_last, activation=1))


def test_open_extents():
    x, gamma, beta = rand(2, 5, 7, 6), rand(6), rand(6, seed=1)
    shapes = {0: ["n", "h", "w", 6]}
    found = ours("GroupNorm", [x, gamma, beta], shapes=shapes, groups=3, activation=0)[0]
    near(found, group_norm(x, gamma, beta, 3))


def test_refusals():
    attrs = {"domain": "com.microsoft", "groups": 3, "activation": 0}
    inputs = [rand(2, 5, 7, 6), rand(6), rand(6), rand(2, 5, 6)]
    assert "skip has 3 dimensions, expected 2 or 4" in refusal("SkipGroupNorm", inputs, **attrs)
    assert "X has 3 dimensions, expected 4" in refusal(
        "GroupNorm", [rand(2, 5, 6), rand(6), rand(6)], **attrs
    )
