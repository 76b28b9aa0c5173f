"""DynamicQuantizeLSTM of com.microsoft: near onnxruntime, which quantizes inputs and states, and as LSTM of the same weights."""

import numpy as np
import pytest
from onnx_peer import by_us, check, feeds, model_of

STEPS, BATCH, INPUT, HIDDEN = 4, 2, 6, 5


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def weights(dtype, directions, of_columns):
    """Integers, scales and zero points of W and R; as real numbers in the order of LSTM, too."""
    rng = np.random.default_rng(directions)
    made, real = [], []
    for rows in (INPUT, HIDDEN):
        shape = (directions, 4 * HIDDEN) if of_columns else (directions,)
        scales = rng.uniform(0.002, 0.006, shape).astype("float32")
        zeros = np.full(shape, 0 if dtype == "int8" else 128, dtype)
        low = -100 if dtype == "int8" else 20
        numbers = rng.integers(low, low + 200, (directions, rows, 4 * HIDDEN)).astype(dtype)
        wide = [each.reshape(directions, 1, -1).astype("float32") for each in (zeros, scales)]
        made.append([numbers, scales, zeros])
        real.append(np.ascontiguousarray(((numbers - wide[0]) * wide[1]).transpose(0, 2, 1)))
    return made, real


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("of_columns", [False, True])
def test_weights_of_integers(dtype, directions, of_columns):
    (one, two), real = weights(dtype, directions, of_columns)
    x, bias = rand(STEPS, BATCH, INPUT), rand(directions, 8 * HIDDEN)
    states = [rand(directions, BATCH, HIDDEN, seed=n) for n in range(2)]
    attrs = {
        "hidden_size": HIDDEN,
        "direction": "bidirectional" if directions == 2 else "forward",
        "outputs": 3,
    }
    inputs = [x, one[0], two[0], bias, None, *states, None, *one[1:], *two[1:]]
    shared = {"domain": "com.microsoft", "constants": [1, 2, 8, 9, 10, 11]}
    found = check("DynamicQuantizeLSTM", inputs, rtol=0.1, atol=0.1, **shared, **attrs)
    plain = [x, *real, bias, None, *states]
    expected = by_us(model_of("LSTM", plain, **attrs), feeds(plain, ()))
    for got, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)


def test_open_extents():
    (one, two), _ = weights("int8", 1, False)
    inputs = [rand(STEPS, BATCH, INPUT), one[0], two[0], None, None, None, None, None, *one[1:], *two[1:]]
    attrs = {"domain": "com.microsoft", "constants": [1, 2, 8, 9, 10, 11], "hidden_size": HIDDEN}
    check(
        "DynamicQuantizeLSTM",
        inputs,
        outputs=["y0", "y1"],
        shapes={0: ["t", "b", INPUT]},
        rtol=0.1,
        atol=0.1,
        **attrs,
    )
