"""Operators that onnxruntime makes of diffusion models, against numpy: its processor has no kernels of them.  Crops."""

import math

import numpy as np
import pytest
from onnx_peer import by_us, check, feeds, kinds_of, model_of, refusal

import tilewright


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


# ---- crops, which onnxruntime has

BOXES = np.array(
    [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [-0.3, 0, 0.5, 1.4], [0.9, 0.8, 0.1, 0.2], [0.3, 0.3, 0.3, 0.3]],
    "float32",
)
IMAGES = np.array([0, 1, 1, 0, 1], "int32")


@pytest.mark.parametrize("size", [(4, 5), (1, 3), (1, 1)])
@pytest.mark.parametrize("shapes", [None, {0: ["n", "c", "h", "w"], 1: ["r", 4], 2: ["r"]}])
def test_crops(size, shapes):
    inputs = [rand(2, 3, 6, 7), BOXES, IMAGES, np.array(size, "int32")]
    attrs = {"domain": "com.microsoft", "constants": [3], "extrapolation_value": 9.0, "shapes": shapes}
    check("CropAndResize", inputs, rtol=1e-4, atol=1e-4, **attrs)


def test_crops_that_are_refused():
    inputs = [rand(2, 3, 6, 7), BOXES, IMAGES, np.array([4, 5], "int32")]
    attrs = {"domain": "com.microsoft", "constants": [3]}
    text = refusal("CropAndResize", inputs, mode="nearest", **attrs)
    assert 'attribute "mode" is "nearest", supported is "bilinear"' in text
    text = refusal("CropAndResize", [*inputs[:3], np.array([4, 0], "int32")], **attrs)
    assert "crop_size is not two positive numbers" in text
    with pytest.raises(tilewright.UserError, match="batch_indices: element 1 is 2, expected 0 to 1"):
        by_us(
            model_of("CropAndResize", [*inputs[:2], IMAGES * 2, inputs[3]], **attrs),
            feeds([*inputs[:2], IMAGES * 2], ()),
        )


def test_pads_that_are_an_input():
    inputs = [rand(2, 4, 5, 7), rand(4, 3, 3, 3), np.array([1, 0, 1, 1]), rand(3)]
    attrs = {"domain": "com.microsoft", "strides": [2, 1]}
    check("ConvTransposeWithDynamicPads", inputs, constants=[2], **attrs)
    text = refusal("ConvTransposeWithDynamicPads", inputs, **attrs)
    assert 'input "x2" is known only at run time' in text


def test_refusals():
    attrs = {"domain": "com.microsoft", "groups": 3, "activation": 0}
    inputs = [rand(2, 5, 7, 6), rand(6), rand(6), rand(2, 5, 6)]
    assert "skip has 3 dimensions, expected 2 or 4" in refusal("SkipGroupNorm", inputs, **attrs)
    assert "X has 3 dimensions, expected 4" in refusal(
        "GroupNorm", [rand(2, 5, 6), rand(6), rand(6)], **attrs
    )
