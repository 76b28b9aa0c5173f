"""MoE and QMoE of com.microsoft against onnxruntime, and numpy where its processor has no kernel."""

import numpy as np
import pytest
from onnx_peer import by_us, check, feeds, model_of, refusal

EXPERTS, HIDDEN, INNER = 5, 32, 48


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, **attrs):
    return check(op, inputs, domain="com.microsoft", rtol=1e-3, atol=1e-4, **attrs)


def ours(op, inputs, **attrs):
    return by_us(model_of(op, inputs, domain="com.microsoft", **attrs), feeds(inputs, ()))[0]


def layers(columns=INNER, biases=True):
    first, second = rand(EXPERTS, columns, HIDDEN) / 6, rand(EXPERTS, HIDDEN, INNER) / 6
    if not biases:
        return [first, None, second]
    return [first, rand(EXPERTS, columns), second, rand(EXPERTS, HIDDEN)]


X, ROUTER = rand(2, 7, HIDDEN), rand(14, EXPERTS)


@pytest.mark.parametrize("k", [1, 2, EXPERTS])
@pytest.mark.parametrize("normalize", [0, 1])
def test_shares(k, normalize):
    attrs = {"k": k, "normalize_routing_weights": normalize}
    run("MoE", [X, ROUTER, *layers()], **attrs)
    run("MoE", [X.reshape(14, HIDDEN), ROUTER, *layers(biases=False)], **attrs)


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "identity"])
def test_activations(activation):
    run("MoE", [X, ROUTER, *layers()], k=2, activation_type=activation)


@pytest.mark.parametrize("limit", [{}, {"swiglu_limit": 0.7}])
def test_gates(limit):
    attrs = {"k": 2, "activation_type": "swiglu", "activation_alpha": 1.7, "activation_beta": 1.0} | limit
    first, bias, second, last = layers(2 * INNER)
    expected = run("MoE", [X, ROUTER, first, bias, second, last], swiglu_fusion=1, **attrs)[0]
    # apart, and one after the other: onnxruntime's processor has neither
    apart = [first[:, ::2], bias[:, ::2], second, last, first[:, 1::2], bias[:, 1::2]]
    found = ours("MoE", [X, ROUTER, *map(np.ascontiguousarray, apart)], swiglu_fusion=0, **attrs)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    halves = [np.concatenate([each[:, ::2], each[:, 1::2]], 1) for each in (first, bias)]
    found = ours("MoE", [X, ROUTER, *halves, second, last], swiglu_fusion=2, **attrs)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


def test_a_third_layer():
    """silu(x W1) * (x W3), as in Mixtral."""
    first, _, second = layers(biases=False)
    third = rand(EXPERTS, INNER, HIDDEN, seed=9)
    x = X.reshape(14, HIDDEN)
    h = np.einsum("th,eih->tei", x, first)
    h = h / (1 + np.exp(-h)) * np.einsum("th,eih->tei", x, third)
    share = np.exp(ROUTER) / np.exp(ROUTER).sum(1, keepdims=True)
    share[np.arange(14)[:, None], np.argsort(ROUTER, 1)[:, :-2]] = 0
    expected = np.einsum("te,tei,ehi->th", share, h, second)
    found = ours("MoE", [x, ROUTER, first, None, second, None, third], k=2, activation_type="silu")
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_open_extents():
    shapes = {0: ["b", "s", HIDDEN], 1: ["t", EXPERTS]}
    run("MoE", [X, ROUTER, *layers()], k=2, shapes=shapes)
    text = refusal("MoE", [X, ROUTER[:3], *layers()], domain="com.microsoft", k=2)
    assert "router_probs is [3, 5], but the input has 14 tokens" in text


# ---- weights of few bits


def packed(numbers, bits):
    per = 8 // bits
    missing = -numbers.shape[-1] % per
    wide = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], missing), numbers.dtype)], -1)
    return sum(wide[..., n::per] << bits * n for n in range(per)).astype("uint8")


def quantized(bits, block, columns=INNER):
    """Weights, scales and zero points of two layers."""
    rng = np.random.default_rng(bits + block)
    made = []
    for shape in ((EXPERTS, columns, HIDDEN), (EXPERTS, HIDDEN, INNER)):
        blocks = (*shape[:2], shape[2] // block) if block else shape[:2]
        made.append(
            [
                packed(rng.integers(0, 2**bits, shape), bits),
                rng.uniform(0.01, 0.02, blocks).astype("float32"),
                packed(rng.integers(0, 2**bits, blocks), bits),
            ]
        )
    return made


CONSTANTS = [2, 5, 11, 12]


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("block", [0, 16])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_few_bits(bits, block, has_zeros):
    one, two = quantized(bits, block)
    inputs = [X, ROUTER, one[0], one[1], rand(EXPERTS, INNER), two[0], two[1], rand(EXPERTS, HIDDEN)]
    attrs = {"k": 2, "activation_type": "silu", "expert_weight_bits": bits, "normalize_routing_weights": 1}
    if block:
        attrs["block_size"] = block
    if has_zeros:
        inputs += [None, None, None, one[2], two[2]]
    run("QMoE", inputs, constants=[n for n in CONSTANTS if n < len(inputs)], **attrs)


@pytest.mark.parametrize("normalize", [0, 1])
def test_shares_of_another_input(normalize):
    one, two = quantized(4, 16, 2 * INNER)
    shares = np.random.default_rng(5).uniform(0, 1, ROUTER.shape).astype("float32")
    inputs = [X, ROUTER, one[0], one[1], None, two[0], two[1], *[None] * 7]
    attrs = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "block_size": 16}
    attrs["normalize_routing_weights"] = normalize
    run("QMoE", [*inputs, shares], constants=[2, 5], **attrs)
    run("QMoE", inputs[:7], constants=[2, 5], **attrs)


def test_refusals():
    first = layers(biases=False)
    one, two = quantized(4, 0)
    quantized_inputs = [X, ROUTER, one[0], one[1], None, two[0], two[1]]
    for op, inputs, attrs, text in [
        (
            "MoE",
            [X, ROUTER, *first],
            {"use_sparse_mixer": 1},
            'attribute "use_sparse_mixer" is 1, supported is 0',
        ),
        ("MoE", [X, ROUTER, *first], {"activation_type": "rely"}, 'activation_type is "rely"'),
        ("MoE", [X, ROUTER, *first], {"k": 6}, "6 experts are chosen of 5"),
        (
            "MoE",
            [X, ROUTER, *first],
            {"activation_type": "swiglu"},
            "swiglu_fusion is 0, but fc3_experts_weights is left out",
        ),
        (
            "MoE",
            [X, ROUTER[:, :4], *first],
            {},
            "weights are [5, 48, 32], but the router has 4 experts",
        ),
        (
            "QMoE",
            quantized_inputs,
            {"quant_type": "fp8"},
            'attribute "quant_type" is "fp8", supported is "int"',
        ),
        (
            "QMoE",
            quantized_inputs,
            {"weights_prepacked": 1},
            "weights_prepacked is 1, a layout for other processors",
        ),
        ("QMoE", quantized_inputs, {"expert_weight_bits": 3}, "weights of 3 bits, expected 2, 4 or 8"),
        ("QMoE", quantized_inputs, {"constants": []}, 'input "x2" is known only at run time'),
        (
            "QMoE",
            quantized_inputs,
            {"constants": [], "shapes": {2: ["e", INNER, 16]}},
            "the extents of weights are known only at run time",
        ),
    ]:
        given = {"domain": "com.microsoft", "constants": [2, 5] if op == "QMoE" else []} | attrs
        assert text in refusal(op, inputs, **given)
