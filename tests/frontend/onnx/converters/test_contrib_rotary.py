"""RotaryEmbedding and MRotaryEmbedding of com.microsoft against onnxruntime."""

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
