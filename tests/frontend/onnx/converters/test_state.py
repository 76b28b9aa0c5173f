"""TensorScatter, CausalConvWithState and LinearAttention against onnx's reference."""

import numpy as np
import pytest
from onnx_peer import by_reference, check, model_of, refusal

import tilewright


def rand(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype(dtype)


# ---- TensorScatter


@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_writes(mode):
    cache, update = rand(2, 3, 7, 5), rand(2, 3, 4, 5, seed=1)
    starts = np.array([3, 0]) if mode == "linear" else np.array([6, 9])
    check("TensorScatter", [cache, update, starts], by_reference, opset=24, mode=mode)
    check("TensorScatter", [cache, update], by_reference, opset=24, mode=mode)
    check("TensorScatter", [rand(2, 7, 5), rand(2, 4, 5), starts], by_reference, opset=24, mode=mode, axis=1)
    check("TensorScatter", [cache, rand(2, 3, 7, 2), starts * 0], by_reference, opset=24, mode=mode, axis=3)


def test_writes_of_open_extents():
    shapes = {0: ["b", 3, "m", 5], 1: ["b", 3, "s", 5], 2: ["b"]}
    example = [rand(1, 3, 1, 5), rand(1, 3, 1, 5), np.array([0])]
    model = model_of("TensorScatter", example, opset=24, shapes=shapes)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for b, m, s, starts in [(2, 7, 1, [6, 2]), (1, 5, 5, [0]), (2, 4, 0, [1, 4])]:
        arrays = [rand(b, 3, m, 5), rand(b, 3, s, 5, seed=2), np.array(starts)]
        expected = by_reference(model, {f"x{n}": each for n, each in enumerate(arrays)})[0]
        np.testing.assert_array_equal(main(*map(tilewright.tensor, arrays)).numpy(), expected)
    arrays = [rand(1, 3, 5, 5), rand(1, 3, 2, 5), np.array([4])]
    with pytest.raises(tilewright.UserError) as refused:
        main(*map(tilewright.tensor, arrays))
    assert 'TensorScatter node that makes "y0": write_indices' in str(refused.value)


# ---- CausalConvWithState


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("length", [1, 2, 9])
def test_convolution(dtype, length):
    x, weight, bias, past = (
        rand(2, 3, length, dtype=dtype),
        rand(3, 1, 4, dtype=dtype),
        rand(3, dtype=dtype),
        rand(2, 3, 3, dtype=dtype),
    )
    close = {"opset": 27, "outputs": 2, "rtol": 1e-4 if dtype == "float32" else 2e-2, "atol": 1e-2}
    if dtype == "float32":
        close["atol"] = 1e-5
    check("CausalConvWithState", [x, weight], by_reference, **close)
    check("CausalConvWithState", [x, weight, bias, past], by_reference, activation="silu", **close)
    check("CausalConvWithState", [x, rand(3, 1, 1, dtype=dtype), bias], by_reference, **close)


# ---- LinearAttention

RULES = {"linear": (), "gated": (4,), "delta": (5,), "gated_delta": (4, 5)}


def tokens(b=2, t=5, heads=6, shared=3, d=4, e=7, dtype="float32", by_head=True):
    decay = -np.abs(rand(b, t, shared if by_head else shared * d)).astype(dtype)
    return [
        rand(b, t, heads * d, dtype=dtype),
        (rand(b, t, shared * d, seed=1) / 2).astype(dtype),
        rand(b, t, shared * e, dtype=dtype, seed=2),
        rand(b, shared, d, e, dtype=dtype, seed=3),
        decay,
        (np.abs(rand(b, t, shared, seed=4)) % 1).astype(dtype),
    ]


def for_rule(inputs, rule, has_past=True):
    kept = [
        each if n < 3 or (n == 3 and has_past) or n in RULES[rule] else None for n, each in enumerate(inputs)
    ]
    while kept[-1] is None:
        kept.pop()
    return kept


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("by_head", [True, False])
def test_linear_attention(rule, by_head):
    attrs = {"q_num_heads": 6, "kv_num_heads": 3, "update_rule": rule, "opset": 27, "outputs": 2}
    check("LinearAttention", for_rule(tokens(by_head=by_head), rule), by_reference, **attrs)
    check("LinearAttention", for_rule(tokens(t=1), rule, False), by_reference, scale=0.5, **attrs)
    check(
        "LinearAttention",
        for_rule(tokens(dtype="float16"), rule),
        by_reference,
        rtol=2e-2,
        atol=5e-3,
        **attrs,
    )


def test_linear_attention_of_open_extents():
    inputs = tokens()
    shapes = {n: ["b", "t", inputs[n].shape[2]] for n in (0, 1, 2, 4, 5)} | {3: ["b", 3, 4, 7]}
    attrs = {"q_num_heads": 6, "kv_num_heads": 3}
    model = model_of("LinearAttention", inputs, opset=27, outputs=2, shapes=shapes, **attrs)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for b, t in [(1, 1), (3, 9), (2, 0)]:
        arrays = tokens(b=b, t=t)
        expected = by_reference(model, {f"x{n}": each for n, each in enumerate(arrays)})
        for got, right in zip(main(*map(tilewright.tensor, arrays)), expected, strict=True):
            np.testing.assert_allclose(got.numpy(), right, rtol=1e-4, atol=1e-5)


def test_refusals():
    cache = rand(2, 3, 7, 5)
    for op, inputs, attrs, text in [
        ("TensorScatter", [cache, cache], {"axis": 0}, "axis is the first one, of the batch"),
        ("TensorScatter", [cache, rand(2, 3, 7, 4)], {}, "update is [2, 3, 7, 4], expected [2, 3, 7, 5]"),
        (
            "TensorScatter",
            [cache, rand(2, 3, 8, 5)],
            {},
            "update is [2, 3, 8, 5], longer than past_cache [2, 3, 7, 5]",
        ),
        (
            "CausalConvWithState",
            [rand(2, 3, 5), rand(3, 1, 4), None, rand(2, 3, 4)],
            {},
            "past_state is [2, 3, 4], expected [2, 3, 3]",
        ),
        (
            "LinearAttention",
            tokens()[:4],
            {"q_num_heads": 6, "kv_num_heads": 3},
            'update_rule is "gated_delta", but decay is left out',
        ),
        (
            "LinearAttention",
            tokens()[:5],
            {"q_num_heads": 6, "kv_num_heads": 3, "update_rule": "linear"},
            'update_rule is "linear", which does not read decay',
        ),
    ]:
        assert text in refusal(op, inputs, opset=27, **attrs)
    assert "the extents of the weight are known only at run time" in refusal(
        "CausalConvWithState", [rand(2, 3, 5), rand(3, 1, 4)], opset=27, shapes={1: [3, 1, "k"]}
    )
