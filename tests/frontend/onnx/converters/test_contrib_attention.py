"""Attention and QAttention of com.microsoft against onnxruntime."""

import numpy as np
import pytest
from onnx_peer import by_onnxruntime, by_us, check, feeds, model_of, refusal

import tilewright


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, **attrs):
    return check(op, inputs, domain="com.microsoft", **attrs)


def ours(op, inputs, **attrs):
    model = model_of(op, inputs, domain="com.microsoft", **attrs)
    return by_us(model, feeds(inputs, ()))


LENGTHS = np.array([3, 5], "int32")
FLAGS = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], "int32")
ENDS_AND_STARTS = np.array([4, 5, 1, 2], "int32")


@pytest.mark.parametrize(
    "mask", [None, LENGTHS, FLAGS, np.tril(np.ones((2, 5, 5), "int32")), ENDS_AND_STARTS]
)
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_attention_of_input(mask, unidirectional):
    inputs = [rand(2, 5, 12), rand(12, 48) / 3, rand(48), mask]
    run("Attention", inputs, num_heads=4, unidirectional=unidirectional)


def test_lengths_with_offsets():
    mask = np.array([3, 5, 0, 5, 10, 0, 5, 10], "int32")
    inputs = [rand(2, 5, 12), rand(12, 48) / 3, rand(48), mask]
    found = ours("Attention", inputs, num_heads=4)[0]
    expected = run("Attention", [*inputs[:3], LENGTHS], num_heads=4)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_mask_of_the_longest_sequence():
    """onnxruntime's processor takes none: against its part that belongs to the queries and keys."""
    whole = np.tril(np.ones((2, 1, 9, 9), "int32"))
    whole[:, :, 5, 2] = 0
    for past in (0, 3):
        inputs = [rand(2, 5, 12), rand(12, 48) / 3, rand(48), whole]
        part = np.ascontiguousarray(whole[:, 0, past : past + 5, : past + 5])
        if past:
            inputs.append(rand(2, 2, 4, past, 4))
        outputs = 2 if past else 1
        found = ours("Attention", inputs, num_heads=4, outputs=outputs)
        expected = run("Attention", [*inputs[:3], part, *inputs[4:]], num_heads=4, outputs=outputs)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)
    text = refusal(
        "Attention", [*inputs[:3], whole[:, :, :6, :6], *inputs[4:]], domain="com.microsoft", num_heads=4
    )
    assert "the mask is [2, 1, 6, 6], which has no room for 8 queries and 8 keys" in text


def test_attention_with_past():
    inputs = [rand(2, 3, 12), rand(12, 48) / 3, rand(48), None, rand(2, 2, 4, 5, 4)]
    run("Attention", inputs, outputs=2, num_heads=4, unidirectional=1)


@pytest.mark.parametrize("is_constant", [True, False])
def test_a_past_in_a_buffer(is_constant):
    """Of 9 places 5 are taken: as a past of 5, and the rest of the buffer stays."""
    buffer = rand(2, 2, 4, 9, 4)
    inputs = [rand(2, 3, 12), rand(12, 48) / 3, rand(48), None, buffer, None, np.array([5], "int32")]
    model = model_of(
        "Attention",
        inputs,
        outputs=2,
        domain="com.microsoft",
        num_heads=4,
        past_present_share_buffer=1,
        unidirectional=1,
        constants=[6] if is_constant else [],
    )
    y, present = by_us(model, feeds(inputs, [6] if is_constant else []))
    wanted = run(
        "Attention", [*inputs[:4], buffer[..., :5, :].copy()], outputs=2, num_heads=4, unidirectional=1
    )
    np.testing.assert_allclose(y, wanted[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(present[..., :8, :], wanted[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(present[..., 8:, :], buffer[..., 8:, :])


def test_attention_of_other_sizes():
    inputs = [rand(2, 5, 12), rand(12, 40) / 3, rand(40)]
    run("Attention", inputs, num_heads=4, qkv_hidden_sizes=[16, 16, 8])


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


def test_open_lengths():
    shapes = {0: ["b", "s", 12], 3: ["m"]}
    inputs = [rand(2, 5, 12), rand(12, 48) / 3, rand(48), LENGTHS]
    run("Attention", inputs, constants=[1, 2], shapes=shapes, num_heads=4)
    model = model_of(
        "Attention", inputs, domain="com.microsoft", constants=[1, 2], shapes=shapes, num_heads=4
    )
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    with pytest.raises(tilewright.UserError, match="the mask has m = 1 lengths for a batch of b = 2"):
        main(inputs[0], LENGTHS[:1])


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("columns", [False, True])
def test_quantized(dtype, columns):
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    x = rng.integers(0, 255, (2, 5, 12)).astype("uint8")
    weight = (rng.integers(info.min, info.max + 1, (12, 48)) // 4).astype(dtype)
    count = 48 if columns else 1
    scales = rng.uniform(0.005, 0.01, count).astype("float32")
    zeros = np.zeros(count, dtype)
    inputs = [x, weight, rand(48), np.float32(0.02), scales, LENGTHS, np.array(120, "uint8"), zeros]
    run("QAttention", inputs, num_heads=4, constants=[1, 2], rtol=1e-3, atol=1e-3)
    run("QAttention", [*inputs[:5], None, *inputs[6:]], num_heads=4, unidirectional=1, rtol=1e-3, atol=1e-3)
    past = [*inputs[:5], None, *inputs[6:], rand(2, 2, 4, 3, 4)]
    run("QAttention", past, num_heads=4, unidirectional=1, outputs=2, rtol=1e-3, atol=1e-3)


def test_refusals():
    two = [rand(2, 5, 12), rand(12, 48)]
    for inputs, attrs, text in [
        (two, {"do_rotary": 1}, 'attribute "do_rotary" is 1, supported is 0'),
        (
            two,
            {"qkv_hidden_sizes": [8, 8, 8]},
            "weights have 48 columns, which are not those of query, key and value",
        ),
        (two, {"shapes": {1: [12, "w"]}}, "the extents of the weights are known only at run time"),
        (
            [*two, None, np.zeros(9, "int32")],
            {},
            "a mask of shape [9] is none of [batch], [2 batch], [3 batch + 2], [batch, keys] and [batch, queries, keys]",
        ),
        ([*two, None, np.array(1, "int32")], {}, "the mask has 0 dimensions, expected 1 to 4"),
        (
            [*two, None, None, rand(2, 2, 4, 6, 4), None, np.array([4], "int32")],
            {"past_present_share_buffer": 1, "constants": [6], "outputs": 2},
            "past_key is [2, 4, 6, 4], which has no room for 5 keys from place 4 on",
        ),
        (
            [*two, None, None, rand(2, 2, 4, 6, 4), None, np.array([4, 4], "int32")],
            {"past_present_share_buffer": 1, "constants": [6], "outputs": 2},
            "past_sequence_length has 2 elements, expected 1",
        ),
    ]:
        assert text in refusal("Attention", inputs, domain="com.microsoft", num_heads=4, **attrs)
