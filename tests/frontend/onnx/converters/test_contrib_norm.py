"""Normalisations of sums, and of embeddings, against onnxruntime."""

import numpy as np
import pytest
from onnx_peer import by_us, check, feeds, kinds_of, model_of, refusal


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, domain="com.microsoft", **attrs):
    return check(op, inputs, domain=domain, **attrs)


X, SKIP, GAMMA, BETA, BIAS = rand(2, 5, 8), rand(2, 5, 8, seed=1), rand(8), rand(8, seed=1), rand(8, seed=2)


@pytest.mark.parametrize("skip", [SKIP, SKIP[:1], SKIP[0]])
def test_skip(skip):
    wanted = ["y0", "", "", "y3"]
    run("SkipLayerNormalization", [X, skip, GAMMA, BETA, BIAS], outputs=wanted)
    run("SkipLayerNormalization", [X, skip, GAMMA], epsilon=1e-3)
    run("SkipSimplifiedLayerNormalization", [X, skip, GAMMA, BIAS], outputs=wanted)
    run("SimplifiedLayerNormalization", [X, GAMMA], domain="", axis=-1, epsilon=1e-6)


def test_statistics():
    inputs = [X, SKIP, GAMMA, BETA]
    for op, given in [("SkipLayerNormalization", inputs), ("SkipSimplifiedLayerNormalization", inputs[:3])]:
        model = model_of(op, given, outputs=3, domain="com.microsoft", epsilon=1e-3)
        _, mean, inverse = by_us(model, feeds(given, ()))
        total = X + SKIP
        spread = total.var(-1) if op == "SkipLayerNormalization" else (total**2).mean(-1)
        np.testing.assert_allclose(mean[..., 0], total.mean(-1), atol=1e-6)
        np.testing.assert_allclose(inverse[..., 0], 1 / np.sqrt(spread + 1e-3), rtol=1e-5)


def test_embeddings():
    rng = np.random.default_rng(0)
    ids, segments = rng.integers(0, 11, (2, 5)).astype("int32"), rng.integers(0, 2, (2, 5)).astype("int32")
    tables = [rand(11, 8), rand(9, 8), rand(2, 8)]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32")
    kinds = kinds_of(["y1"], ["int32"])
    run("EmbedLayerNormalization", [ids, segments, *tables, GAMMA, BETA, mask], outputs=2, kinds=kinds)
    run("EmbedLayerNormalization", [ids, None, *tables[:2], None, GAMMA, BETA], outputs=2, kinds=kinds)
    places = rng.integers(0, 9, (2, 5)).astype("int32")
    run(
        "EmbedLayerNormalization",
        [ids, segments, *tables, GAMMA, BETA, None, places],
        outputs=["y0", "", "y2"],
    )
    text = refusal("EmbedLayerNormalization", [ids, segments, *tables, None, BETA], domain="com.microsoft")
    assert "input 5 (gamma) is left out, but is required" in text


@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_skip_has_no_more_rows_than_x(op):
    """The sum would broadcast x instead."""
    assert "skip is [2, 5, 8], which does not broadcast to [1, 5, 8]" in refusal(
        op, [X[:1], SKIP, GAMMA], domain="com.microsoft"
    )


def test_embeddings_of_integers():
    rng = np.random.default_rng(4)
    ids, segments = rng.integers(0, 9, (2, 5)).astype("int32"), rng.integers(0, 2, (2, 5)).astype("int32")
    tables = [rng.integers(0, 256, shape).astype("uint8") for shape in ((9, 8), (6, 8), (2, 8), 8, 8)]
    scales = [np.float32(each) for each in (0.01, 0.02, 0.03, 0.01, 0.02)]
    zeros = [np.array(each, "uint8") for each in (120, 130, 125, 100, 128)]
    mask = np.array([[1, 1, 1, 0, 0], [1] * 5], "int32")
    inputs = [ids, segments, *tables, mask, *scales, *zeros]
    run("QEmbedLayerNormalization", inputs, outputs=2, kinds={"y1": 6}, epsilon=1e-3)
    without = [
        ids,
        None,
        *tables[:2],
        None,
        *tables[3:],
        None,
        *scales[:2],
        None,
        *scales[3:],
        *zeros[:2],
        None,
        *zeros[3:],
    ]
    run("QEmbedLayerNormalization", without, outputs=2, kinds={"y1": 6}, shapes={0: ["b", "s"]})
    signed = [each.astype("int8") for each in zeros]
    inputs = [ids, segments, *[each.astype("int8") for each in tables], mask, *scales, *signed]
    run("QEmbedLayerNormalization", inputs, outputs=2, kinds={"y1": 6})
