"""Operators of com.microsoft for models with recurrent states, against onnxruntime."""

import numpy as np
import pytest
from onnx_peer import check, kinds_of, refusal


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, **attrs):
    return check(op, inputs, domain="com.microsoft", **attrs)


@pytest.mark.parametrize("activation", ["none", "silu"])
@pytest.mark.parametrize("dilation", [1, 3])
@pytest.mark.parametrize("length", [1, 7])
def test_convolutions_go_on(activation, dilation, length):
    attrs = {"activation": activation, "dilation": dilation, "outputs": 2}
    x, weight, bias = rand(2, 6, length), rand(6, 1, 4), rand(6)
    run("CausalConvWithState", [x, weight, bias], **attrs)
    run("CausalConvWithState", [x, weight, None, rand(2, 6, 3 * dilation)], **attrs)
    shapes = {0: ["b", 6, "s"], 3: ["b", 6, 3 * dilation]}
    run("CausalConvWithState", [x, weight, bias, rand(2, 6, 3 * dilation)], shapes=shapes, **attrs)


def test_convolutions_with_channels_last():
    """Channels may be several dimensions."""
    weight, bias = rand(6, 1, 4), rand(6)
    attrs = {"channels_last": 1, "dilation": 2, "outputs": 2}
    run("CausalConvWithState", [rand(2, 7, 6), weight, bias, rand(2, 6, 6)], **attrs)
    run("CausalConvWithState", [rand(2, 7, 2, 3), weight, bias, rand(2, 6, 2, 3)], **attrs)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize("rates", [1, 2])
def test_linear_attention(rule, rates):
    query, key, value = rand(2, 5, 16) / 3, rand(2, 5, 16, seed=1) / 3, rand(2, 5, 12, seed=2)
    decay = -np.abs(rand(2, 5, 2)) if rule.startswith("gated") else None
    beta = np.abs(rand(2, 5, rates)) / 3 if rule.endswith("delta") else None
    inputs = [query, key, value, rand(2, 2, 8, 6), decay, beta]
    while inputs[-1] is None:
        inputs.pop()
    run(
        "LinearAttention",
        inputs,
        outputs=2,
        update_rule=rule,
        q_num_heads=2,
        kv_num_heads=2,
        rtol=1e-3,
        atol=1e-4,
    )


def test_gates():
    a, bias, scale, b = rand(2, 5, 3), rand(3), -np.abs(rand(3)), rand(2, 5, 3, seed=1)
    run("LinearAttentionGate", [a, bias, scale])
    run("LinearAttentionGate", [a * 20, bias, scale, b], outputs=2)
    run("LinearAttentionGate", [a, bias, scale, b], outputs=2, shapes={0: ["b", "s", 3], 3: ["b", "s", 3]})


@pytest.mark.parametrize("activation", ["silu", "swish", "sigmoid"])
def test_gated_norm(activation):
    x, scale, gate = rand(2, 5, 21), rand(7), rand(2, 5, 21, seed=1)
    run("GatedRMSNorm", [x, scale, gate], activation=activation, epsilon=1e-3)
    run(
        "GatedRMSNorm", [x, scale, gate], activation=activation, shapes={0: ["b", "s", 21], 2: ["b", "s", 21]}
    )
    text = refusal("GatedRMSNorm", [x, rand(5), gate], domain="com.microsoft", activation=activation)
    assert "X is [2, 5, 21], whose last dimension is not divided by rows of 5 elements" in text


def test_gated_norm_of_half_precision():
    inputs = [each.astype("float16") for each in (rand(2, 5, 21), rand(7), rand(2, 5, 21, seed=1))]
    run("GatedRMSNorm", inputs, kinds=kinds_of(["y0"], ["float16"]), rtol=1e-2, atol=1e-3)


def test_gated_add():
    run("GatedAdd", [rand(2, 5, 7), rand(2, 5, 7, seed=1), rand(2, 5, 1)])


def test_refusals():
    x, weight = rand(2, 6, 7), rand(6, 1, 4)
    for attrs, text in [
        ({"ndim": 2}, 'attribute "ndim" is 2, supported is 1'),
        ({"state_window": 2}, 'attribute "state_window" is 2, supported is 0: only the last state is kept'),
    ]:
        assert text in refusal("CausalConvWithState", [x, weight], domain="com.microsoft", outputs=2, **attrs)
    text = refusal("CausalConvWithState", [x, weight, None, rand(2, 6, 4)], domain="com.microsoft", outputs=2)
    assert "past_state holds [2, 6, 4], expected [2, 6, 3]" in text
    text = refusal("CausalConvWithState", [x, weight], domain="com.microsoft", shapes={1: ["c", 1, 4]})
    assert "the extents of the weight are known only at run time" in text
