"""Positions in attention of com.microsoft, against onnxruntime and numpy."""

import numpy as np
import pytest
from onnx_peer import check, refusal


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def run(op, inputs, **attrs):
    return check(op, inputs, domain="com.microsoft", **attrs)


CACHES = [rand(10, 4), rand(10, 4) + 1]
POSITIONS = np.array([[0, 3, 1, 9, 4], [2, 2, 0, 5, 7]])


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary(interleaved):
    run("RotaryEmbedding", [rand(2, 5, 24), POSITIONS, *CACHES], interleaved=interleaved)
    run("RotaryEmbedding", [rand(2, 3, 5, 8), np.array([2]), *CACHES], interleaved=interleaved)


THREE = np.stack([POSITIONS, POSITIONS[:, ::-1], (POSITIONS + 1) % 10])


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("interleaved", [0, 1])
def test_positions_in_time_height_and_width(layout, interleaved):
    attrs = {"mrope_layout": layout, "interleaved": interleaved, "num_heads": 3, "rotary_embedding_dim": 8}
    for section in ([2, 1, 1], [4, 0, 0], [1, 2, 1]):
        run("MRotaryEmbedding", [rand(2, 5, 24), THREE, *CACHES], mrope_section=section, **attrs)
    run("MRotaryEmbedding", [rand(2, 3, 5, 8), THREE, *CACHES], mrope_section=[2, 1, 1], **attrs)
    shapes = {0: ["b", "s", 24], 1: [3, "b", "s"]}
    run("MRotaryEmbedding", [rand(2, 5, 24), THREE, *CACHES], mrope_section=[2, 1, 1], shapes=shapes, **attrs)


def buckets(queries, keys, count, most, has_sides):
    """As transformers has them for T5."""
    ahead = np.arange(keys)[None] - np.arange(queries)[:, None]
    near = count // 2 if has_sides else count
    place = (ahead > 0) * near if has_sides else np.zeros_like(ahead)
    distance = np.abs(ahead) if has_sides else -np.minimum(ahead, 0)
    exact = near // 2
    far = np.log(np.maximum(distance, 1).astype("float32") / exact) / np.log(most / exact) * (near - exact)
    far = np.minimum(exact + far.astype("int64"), near - 1)
    return place + np.where(distance < exact, distance, far)


@pytest.mark.parametrize("has_sides", [0, 1])
@pytest.mark.parametrize("is_constant", [True, False])
def test_distances(has_sides, is_constant):
    """The table is kept column by column, as onnxruntime's optimizer writes it; its processor has no kernel."""
    table = rand(32, 3)
    turned = np.ascontiguousarray(table.T).reshape(32, 3)
    for length in (5, 200):
        inputs = [turned, np.array([length]), np.array([length])]
        places = buckets(length, length, 32, 128, has_sides)
        expected = table[places].transpose(2, 0, 1)[None]
        run(
            "RelativePositionBias",
            inputs,
            peer=lambda model, arrays, expected=expected: [expected],
            constants=[1, 2] if is_constant else [],
            is_bidirectional=has_sides,
            max_distance=128,
        )


def test_distances_that_are_refused():
    inputs = [rand(2, 3), np.array([5]), np.array([5])]
    attrs = {"domain": "com.microsoft", "constants": [1, 2]}
    text = refusal("RelativePositionBias", inputs, max_distance=128, is_bidirectional=1, **attrs)
    assert (
        "bias_table has 2 distances for max_distance 128, expected at least 4, and fewer than half of it"
        in text
    )
    text = refusal("RelativePositionBias", inputs, max_distance=128, shapes={0: ["n", 3]}, **attrs)
    assert "the extents of bias_table are known only at run time" in text


def test_refusals():
    attrs = {"domain": "com.microsoft"}
    packed = refusal("RotaryEmbedding", [rand(2, 5, 24), POSITIONS, *CACHES], is_packed_batching=1, **attrs)
    assert 'attribute "is_packed_batching" is 1, supported is 0' in packed
    inputs = [rand(2, 5, 24), THREE, *CACHES]
    for section, text in [
        ([2, 2], 'attribute "mrope_section" has 2 numbers, expected 3'),
        ([2, 2, 1], "mrope_section is 2, 2 and 1, expected a sum of 4, the pairs of a head"),
    ]:
        assert text in refusal("MRotaryEmbedding", inputs, mrope_section=section, **attrs)
    inputs[1] = THREE[:2]
    text = refusal("MRotaryEmbedding", inputs, mrope_section=[2, 1, 1], **attrs)
    assert "position_ids is [2, 2, 5], expected [3, 2, 5]" in text
    inputs[1] = THREE
    text = refusal(
        "MRotaryEmbedding", inputs, mrope_section=[2, 1, 1], num_heads=3, shapes={2: [10, "r"]}, **attrs
    )
    assert "the extents of the caches are known only at run time" in text
