"""Attention, MultiHeadAttention and RotaryEmbedding of com.microsoft against onnxruntime."""

import numpy as np
import pytest
from onnx_peer import by_onnxruntime, by_us, check, feeds, model_of, refusal

import tilewright


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, **attrs):
    return check(op, inputs, domain="com.microsoft", **attrs)


LENGTHS = np.array([3, 5], "int32")
FLAGS = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32")


@pytest.mark.parametrize("mask", [None, LENGTHS, FLAGS, np.tril(np.ones((2, 5, 5), "int32"))])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_of_input(mask, unidirectional):
    inputs = [rand(2, 5, 12), rand(12, 48) / 3, rand(48), mask]
    run("Attention", inputs, num_heads=4, unidirectional=unidirectional)


def test_attention_with_past():
    inputs = [rand(2, 3, 12), rand(12, 48) / 3, rand(48), None, rand(2, 2, 4, 5, 4)]
    run("Attention", inputs, outputs=2, num_heads=4, unidirectional=1)


def test_attention_of_other_sizes():
    inputs = [rand(2, 5, 12), rand(12, 40) / 3, rand(40)]
    run("Attention", inputs, num_heads=4, qkv_hidden_sizes=[16, 16, 8])


def operands(t=7):
    return [rand(2, 5, 24), rand(2, t, 24, seed=1), rand(2, t, 32, seed=2)]


def test_heads():
    run("MultiHeadAttention", operands(), num_heads=4)
    run("MultiHeadAttention", [*operands(), rand(80)], num_heads=4, scale=0.2)
    run("MultiHeadAttention", [*operands(5), None, FLAGS], num_heads=4)
    run("MultiHeadAttention", [*operands(5), None, LENGTHS], num_heads=4)
    run("MultiHeadAttention", [*operands(), None, None, rand(1, 4, 5, 7)], num_heads=4)
    run("MultiHeadAttention", operands(5), num_heads=4, unidirectional=1)


def test_packed_heads():
    """onnxruntime's processor takes none: against the same apart."""
    whole = rand(2, 5, 4, 3, 6)
    apart = [np.ascontiguousarray(whole[:, :, :, n]).reshape(2, 5, 24) for n in range(3)]
    expected = run("MultiHeadAttention", apart, num_heads=4)[0]
    for inputs in ([whole], [apart[0], np.ascontiguousarray(whole[:, :, :, 1:])]):
        model = model_of("MultiHeadAttention", inputs, domain="com.microsoft", num_heads=4)
        np.testing.assert_allclose(by_us(model, feeds(inputs, ()))[0], expected, rtol=1e-4, atol=1e-5)


def test_keys_of_a_cache():
    inputs = [rand(2, 5, 24), rand(2, 4, 7, 6), rand(2, 4, 7, 6, seed=1)]
    run("MultiHeadAttention", inputs, num_heads=4)
    past = [rand(2, 4, 3, 6), rand(2, 4, 3, 6, seed=1)]
    now = [*operands(5)[:2], rand(2, 5, 24, seed=2)]
    run("MultiHeadAttention", [*now, None, None, None, *past], num_heads=4, outputs=3)


def test_open_extents():
    shapes = {0: ["b", "s", 12]}
    inputs = [rand(1, 1, 12), rand(12, 48) / 3, rand(48)]
    model = model_of(
        "Attention", inputs, domain="com.microsoft", constants=[1, 2], shapes=shapes, num_heads=4
    )
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for shape in [(1, 1, 12), (3, 17, 12)]:
        x = rand(*shape)
        expected = by_onnxruntime(model, {"x0": x})[0]
        np.testing.assert_allclose(main(tilewright.tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary(interleaved):
    caches = [rand(10, 4), rand(10, 4) + 1]
    positions = np.array([[0, 3, 1, 9, 4], [2, 2, 0, 5, 7]])
    run("RotaryEmbedding", [rand(2, 5, 24), positions, *caches], interleaved=interleaved)
    run("RotaryEmbedding", [rand(2, 3, 5, 8), np.array([2]), *caches], interleaved=interleaved)


def test_refusals():
    q, k, v = operands()
    for op, inputs, attrs, text in [
        (
            "Attention",
            [rand(2, 5, 12), rand(12, 48)],
            {"do_rotary": 1},
            'attribute "do_rotary" is 1, supported is 0',
        ),
        (
            "Attention",
            [rand(2, 5, 12), rand(12, 48)],
            {"qkv_hidden_sizes": [8, 8, 8]},
            "weights have 48 columns, which are not those of query, key and value",
        ),
        ("MultiHeadAttention", [q], {}, "input 1 (key) is left out, but query is not packed"),
        ("MultiHeadAttention", [q, k], {}, "input 2 (value) is left out, but is required"),
        (
            "MultiHeadAttention",
            [q, k, v, None, None, None, None, None, LENGTHS],
            {},
            "input 8 (past_sequence_length) is given, which is not supported",
        ),
        (
            "MultiHeadAttention",
            [q, k, v, None, np.zeros(8, "int32")],
            {},
            "a mask of shape [8] is none of [batch], [batch, keys] and [batch, queries, keys]",
        ),
        (
            "MultiHeadAttention",
            [q, k, v, None, np.array(1, "int32")],
            {},
            "the mask has 0 dimensions, expected 1 to 4",
        ),
        (
            "MultiHeadAttention",
            [q, k, v, None, None, None, rand(2, 4, 3, 6)],
            {},
            "past_key and past_value are not given together",
        ),
    ]:
        assert text in refusal(op, inputs, domain="com.microsoft", num_heads=4, **attrs)
    assert "the extents of the weights are known only at run time" in refusal(
        "Attention",
        [rand(2, 5, 12), rand(12, 48)],
        domain="com.microsoft",
        num_heads=4,
        shapes={1: [12, "w"]},
    )
    assert "the head size is known only at run time, and there is a bias" in refusal(
        "MultiHeadAttention",
        [q, k, v, rand(80)],
        domain="com.microsoft",
        num_heads=4,
        shapes={0: [2, 5, "d"]},
    )
