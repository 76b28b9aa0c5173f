"""GroupQueryAttention of com.microsoft against onnxruntime: prompts, single tokens, caches."""

import numpy as np
import pytest
from onnx_peer import by_onnxruntime, by_us, check, feeds, model_of, refusal

import tilewright


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


CACHES = [rand(32, 8), rand(32, 8) + 1]


def inputs(b=1, s=5, past=0, total=None, lengths=None, caches=(None, None)):
    total = past + s if total is None else total
    lengths = [total - 1] * b if lengths is None else lengths
    return [
        rand(b, s, 96),
        rand(b, s, 32, seed=1),
        rand(b, s, 32, seed=2),
        rand(b, 2, past, 16, seed=3),
        rand(b, 2, past, 16, seed=4),
        np.array(lengths, "int32"),
        np.array(total, "int32"),
        *caches,
    ]


def run(arrays, **attrs):
    arrays = list(arrays)
    while arrays[-1] is None:
        arrays.pop()
    attrs = {"num_heads": 6, "kv_num_heads": 2, "outputs": 3, "constants": [6]} | attrs
    return check("GroupQueryAttention", arrays, domain="com.microsoft", **attrs)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize(("tokens", "past"), [(5, 0), (1, 7)])
@pytest.mark.parametrize("turns", [0, 1])
def test_prompts_and_tokens(batch, tokens, past, turns):
    caches = CACHES if turns else (None, None)
    run(inputs(batch, tokens, past, caches=caches), do_rotary=turns)


def test_options():
    run(inputs(1, 9, 0), local_window_size=3)
    run(inputs(2, 9, 0), local_window_size=3)
    run(inputs(1, 5, 0), softcap=0.8, scale=0.2)
    run(inputs(1, 5, 0, caches=CACHES), do_rotary=1, rotary_interleaved=1)


def test_smooth_softmax():
    """A score of 0, or that of each head, takes its share of the weights."""
    run(inputs(1, 9, 0), smooth_softmax=1)
    run(inputs(2, 1, 7), smooth_softmax=1, local_window_size=3)
    sink = [None, None, None, None, rand(6)]
    run([*inputs(1, 9, 0)[:7], *sink])
    run([*inputs(2, 1, 7)[:7], *sink])


@pytest.mark.parametrize("shown", [1, 2])
@pytest.mark.parametrize("options", [{}, {"softcap": 0.8}, {"smooth_softmax": 1}])
def test_scores_are_an_output(shown, options):
    run(inputs(1, 5, 0), outputs=4, qk_output=shown, **options)
    bias = [None, None, None, rand(1, 1, 5, 5)]
    run([*inputs(1, 5, 0)[:7], *bias], outputs=4, qk_output=shown, **options)


def test_packed():
    given = inputs(1, 5, 0)
    packed = np.concatenate(given[:3], -1)
    run([packed, None, None, *given[3:]])


def test_cache_longer_than_its_tokens():
    """The cache has room for 12 tokens, of which 4 and 6 are there before this one; the rest is not compared."""
    lengths = [4, 6]
    arrays = inputs(2, 1, 12, total=7, lengths=lengths)[:7]
    model = model_of(
        "GroupQueryAttention",
        arrays,
        domain="com.microsoft",
        outputs=3,
        num_heads=6,
        kv_num_heads=2,
        constants=[6],
    )
    given = feeds(arrays, [6])
    found, expected = by_us(model, given), by_onnxruntime(model, given)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)
    for got, right in zip(found[1:], expected[1:], strict=True):
        assert got.shape == right.shape
        for n, length in enumerate(lengths):
            np.testing.assert_array_equal(got[n, :, : length + 1], right[n, :, : length + 1])


def test_open_cache():
    example = inputs(1, 1, 1)
    shapes = {
        0: ["b", "s", 96],
        1: ["b", "s", 32],
        2: ["b", "s", 32],
        3: ["b", 2, "p", 16],
        4: ["b", 2, "p", 16],
        5: ["b"],
        6: [],
    }
    model = model_of(
        "GroupQueryAttention",
        example,
        domain="com.microsoft",
        shapes=shapes,
        outputs=3,
        num_heads=6,
        kv_num_heads=2,
    )
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for b, s, past in [(1, 4, 0), (1, 1, 9), (2, 1, 3)]:
        arrays = inputs(b, s, past)[:7]
        expected = by_onnxruntime(model, {f"x{n}": each for n, each in enumerate(arrays)})
        for got, right in zip(main(*map(tilewright.tensor, arrays)), expected, strict=True):
            np.testing.assert_allclose(got.numpy(), right, rtol=1e-4, atol=1e-5)


def test_refusals():
    given = inputs(1, 1, 3)[:7]
    attrs = {"domain": "com.microsoft", "num_heads": 6, "kv_num_heads": 2, "constants": [6]}
    text = refusal("GroupQueryAttention", given, sliding_window_cache=1, local_window_size=2, **attrs)
    assert "sliding_window_cache is 1: the cache drops keys, and moves those that it keeps" in text
    scales = [*given, None, None, None, None, None, rand(1), rand(1)]
    text = refusal("GroupQueryAttention", scales, **attrs)
    assert "k_scale or v_scale is given: caches of quantized keys and values are not supported" in text
    text = refusal("GroupQueryAttention", given, outputs=4, **attrs)
    assert 'output 3 is wanted, but attribute "qk_output" is 0' in text
    one_cache = [*given[:4], None, *given[5:]]
    assert "past_key and past_value are not given together" in refusal(
        "GroupQueryAttention", one_cache, **attrs
    )
    two = [*given[:6], np.array([4, 4], "int32")]
    assert "total_sequence_length has 2 elements, expected 1" in refusal("GroupQueryAttention", two, **attrs)
