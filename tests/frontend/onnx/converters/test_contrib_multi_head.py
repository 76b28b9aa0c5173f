"""MultiHeadAttention and DecoderMaskedMultiHeadAttention of com.microsoft against onnxruntime."""

import numpy as np
import pytest
from onnx_peer import by_us, check, feeds, model_of, refusal

import tilewright


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(inputs, op="MultiHeadAttention", **attrs):
    return check(op, inputs, domain="com.microsoft", num_heads=4, **attrs)


def ours(inputs, op="MultiHeadAttention", constants=(), **attrs):
    model = model_of(op, inputs, domain="com.microsoft", num_heads=4, constants=constants, **attrs)
    return by_us(model, feeds(inputs, constants))


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


LENGTHS = np.array([3, 5], "int32")
FLAGS = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32")


def operands(t=7, s=5):
    return [rand(2, s, 24), rand(2, t, 24, seed=1), rand(2, t, 32, seed=2)]


def test_heads():
    run(operands())
    run([*operands(), rand(80)], scale=0.2)
    run([*operands(5), None, FLAGS])
    run([*operands(5), None, LENGTHS])
    run([*operands(5), None, np.array([3, 5, 0, 5, 10, 0, 5, 10], "int32")])
    run([*operands(5), None, np.tril(np.ones((2, 5, 5), "int32"))])
    run([*operands(5), None, FLAGS], mask_filter_value=-3.0)
    run([*operands(), None, None, rand(1, 4, 5, 7)])
    run([*operands(), None, None, rand(2, 1, 5, 7)])
    run(operands(5), unidirectional=1)


@pytest.mark.parametrize("mask", [None, np.array([[1, 1, 1, 0, 0, 1, 1]] * 2, "int32")])
@pytest.mark.parametrize("added", [None, rand(1, 4, 5, 7)])
def test_scores_are_an_output(mask, added):
    found = ours([*operands(), None, mask, added], outputs=["y0", "", "", "y3"])
    run([*operands(), None, mask, added], outputs=["y0", "", "", "y3"], rtol=1e-3)
    assert found[1].shape == (2, 4, 5, 7)


def test_packed_heads():
    """onnxruntime's processor takes none: against the same apart."""
    whole, bias = rand(2, 5, 4, 3, 6), rand(72)
    apart = [np.ascontiguousarray(whole[:, :, :, n]).reshape(2, 5, 24) for n in range(3)]
    expected = run(apart)[0]
    near(ours([whole])[0], expected)
    near(ours([apart[0], np.ascontiguousarray(whole[:, :, :, 1:])])[0], expected)
    near(ours([whole, None, None, bias])[0], run([*apart, bias])[0])


def test_keys_of_a_cache():
    inputs = [rand(2, 5, 24), rand(2, 4, 7, 6), rand(2, 4, 7, 6, seed=1)]
    run(inputs)
    past = [rand(2, 4, 3, 6), rand(2, 4, 3, 6, seed=1)]
    now = [*operands(5)[:2], rand(2, 5, 24, seed=2)]
    run([*now, None, None, None, *past], outputs=3)
    run([*now, None, np.ones((2, 8), "int32"), rand(1, 4, 5, 8), *past], outputs=3)


@pytest.mark.parametrize("is_constant", [True, False])
def test_a_past_in_a_buffer(is_constant):
    """onnxruntime leaves the places behind the new keys as they are; so do we."""
    buffers = [rand(2, 4, 9, 6), rand(2, 4, 9, 6, seed=1)]
    now = [rand(2, 3, 24, seed=n) for n in range(3)]
    inputs = [*now, None, None, None, *buffers, np.array([5], "int32")]
    run(inputs, outputs=3, constants=[8] if is_constant else [])


def test_beams():
    """Each token of the past comes from the beam that cache_indirection names."""
    buffers = [rand(4, 4, 9, 6), rand(4, 4, 9, 6, seed=1)]
    now = [rand(4, 1, 24, seed=n) for n in range(3)]
    beams = np.random.default_rng(0).integers(0, 2, (2, 2, 9)).astype("int32")
    length = np.array([5], "int32")
    inputs = [*now, None, None, *buffers, length, np.array([2], "int32"), beams]
    decoder = {"op": "DecoderMaskedMultiHeadAttention", "outputs": 3, "past_present_share_buffer": 1}
    expected = run(inputs, **decoder)
    found = ours([*now, None, None, None, *buffers, length, beams], outputs=3)
    for got, right in zip(found, expected, strict=True):
        near(got, right)
    outside = [*now, None, None, *buffers, length, np.array([2], "int32"), beams + 1]
    with pytest.raises(tilewright.UserError, match="cache_indirection: element 0 is 2, expected 0 to 1"):
        ours([*outside[:9], np.full((2, 2, 9), 2, "int32")], **decoder)


DECODER = "DecoderMaskedMultiHeadAttention"


def test_one_token():
    past = [rand(2, 4, 8, 6), rand(2, 4, 8, 6, seed=1)]
    now = [rand(2, 1, 24, seed=n) for n in range(3)]
    run([now[0], *past], op=DECODER)
    length = np.array([5], "int32")
    shared = {"op": DECODER, "outputs": 3, "past_present_share_buffer": 1}
    expected = run([*now, None, None, *past, length], **shared)
    packed = [np.concatenate(now, -1), None, None, None, None, *past, length]
    for got, right in zip(ours(packed, **shared), expected, strict=True):
        near(got, right)  # onnxruntime fails on these
    bias = rand(72)
    run([*now, None, None, *past, length, None, None, bias], **shared)
    mask = np.array([[1, 1, 0, 1, 1, 1], [1] * 6], "int32")
    run([*now, mask, None, *past, length], **shared)
    run([*now, None, rand(1, 4, 1, 6), *past, length], **shared)


def test_one_token_without_a_buffer():
    """onnxruntime's processor takes none: as MultiHeadAttention."""
    past = [rand(2, 4, 8, 6), rand(2, 4, 8, 6, seed=1)]
    now = [rand(2, 1, 24, seed=n) for n in range(3)]
    expected = run([*now, None, None, None, *past], outputs=3)
    for got, right in zip(ours([*now, None, None, *past], op=DECODER, outputs=3), expected, strict=True):
        near(got, right)


def test_open_extents():
    past = [rand(2, 4, 3, 6), rand(2, 4, 3, 6, seed=1)]
    now = [rand(2, 5, 24, seed=n) for n in range(3)]
    shapes = dict.fromkeys(range(3), ["b", "s", 24]) | dict.fromkeys((6, 7), ["b", 4, "p", 6])
    run([*now, None, None, None, *past], outputs=3, shapes=shapes)
    run([*now, None, None, None, *past, np.array([0], "int32")][:6] + [*past], outputs=3, shapes=shapes)


def test_half_precision():
    inputs = [each.astype("float16") for each in operands(5)]
    expected = run(operands(5))[0]
    model = model_of("MultiHeadAttention", inputs, domain="com.microsoft", num_heads=4, kinds={"y0": 10})
    np.testing.assert_allclose(by_us(model, feeds(inputs, ()))[0], expected, rtol=2e-2, atol=5e-3)


def test_refusals():
    q, k, v = operands()
    for inputs, attrs, text in [
        ([q], {}, "input 1 (key) is left out, but query is not packed"),
        ([q, k], {}, "input 2 (value) is left out, but is required"),
        (
            [q, k, v, None, None, None, rand(2, 4, 3, 6)],
            {},
            "past_key and past_value are not given together",
        ),
        (
            [q, k, v, rand(80)],
            {"shapes": {0: [2, 5, "d"]}},
            "the head size is known only at run time, and there is a bias",
        ),
        (
            [
                *[rand(2, 1, 24)] * 3,
                None,
                None,
                None,
                *[rand(2, 4, 9, 6)] * 2,
                np.array([5], "int32"),
                np.zeros((2, 2, 9), "int32"),
            ],
            {},
            "past_key is [2, 4, 9, 6], which does not hold the beams of cache_indirection, [2, 2, 9]",
        ),
        (
            [
                *[rand(4, 1, 24)] * 3,
                None,
                None,
                None,
                *[rand(4, 4, 9, 6)] * 2,
                np.array([5], "int32"),
                np.zeros((2, 2, 4), "int32"),
            ],
            {"constants": [8]},
            "cache_indirection is [2, 2, 4], which does not name 5 keys",
        ),
    ]:
        assert text in refusal("MultiHeadAttention", inputs, domain="com.microsoft", num_heads=4, **attrs)
