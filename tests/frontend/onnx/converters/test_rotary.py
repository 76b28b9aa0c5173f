"""RotaryEmbedding: halves and neighbours, parts of heads, positions from data."""

import numpy as np
import pytest
from onnx_peer import by_reference, check, model_of, refusal

import tilewright


def rand(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def run(inputs, **attrs):
    check("RotaryEmbedding", inputs, by_reference, opset=23, **attrs)


POSITIONS = np.array([[0, 3, 1, 9, 4], [2, 2, 0, 5, 7]])


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("turned", [0, 4])
def test_turns(interleaved, turned):
    attrs = {"interleaved": interleaved, "rotary_embedding_dim": turned}
    half = (turned or 8) // 2
    caches = [rand(10, half), rand(10, half) + 1]
    run([rand(2, 3, 5, 8), *caches, POSITIONS], **attrs)
    run([rand(2, 5, 24), *caches, POSITIONS], num_heads=3, **attrs)
    run([rand(2, 3, 5, 8), rand(2, 5, half), rand(2, 5, half) + 1], **attrs)
    half_floats = [rand(2, 3, 5, 8, dtype="float16"), *[each.astype("float16") for each in caches], POSITIONS]
    run(half_floats, rtol=1e-2, atol=1e-2, **attrs)


def test_open_extents():
    inputs = [rand(2, 3, 5, 8), rand(10, 4), rand(10, 4), POSITIONS]
    shapes = {0: ["b", 3, "s", 8], 1: ["m", 4], 2: ["m", 4], 3: ["b", "s"]}
    model = model_of("RotaryEmbedding", inputs, opset=23, shapes=shapes)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    for b, s in [(2, 5), (1, 1), (2, 0)]:
        arrays = [inputs[0][:b, :, :s], inputs[1], inputs[2], inputs[3][:b, :s]]
        arrays = [np.ascontiguousarray(each) for each in arrays]
        expected = by_reference(model, {f"x{n}": each for n, each in enumerate(arrays)})[0]
        np.testing.assert_allclose(main(*map(tilewright.tensor, arrays)).numpy(), expected, rtol=1e-5)
    arrays[3] = np.array([[10]])
    arrays[0] = inputs[0][:1, :, :1].copy()
    with pytest.raises(tilewright.UserError) as refused:
        main(*map(tilewright.tensor, arrays))
    assert 'RotaryEmbedding node that makes "y0": position_ids' in str(refused.value)


def test_refusals():
    x, cache = rand(2, 3, 5, 8), rand(10, 4)
    for inputs, attrs, text in [
        ([x, rand(10, 3), cache, POSITIONS], {}, "cos_cache has 3 numbers for a position, expected 4"),
        ([x, cache, rand(10, 3), POSITIONS], {}, "sin_cache has 3 numbers for a position, expected 4"),
        (
            [x, cache, cache, POSITIONS],
            {"rotary_embedding_dim": 3},
            "3 of 8 elements of a head are turned, expected an even number of them",
        ),
        ([x, cache, cache], {}, "cos_cache has 2 dimensions, expected 3"),
    ]:
        assert text in refusal("RotaryEmbedding", inputs, opset=23, **attrs)
    assert "the head size is known only at run time" in refusal(
        "RotaryEmbedding", [x, cache, cache, POSITIONS], opset=23, shapes={0: [2, 3, 5, "d"]}
    )
