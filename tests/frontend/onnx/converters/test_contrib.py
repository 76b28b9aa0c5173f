"""MatMulNBits of com.microsoft: blocks of integers of 4 bits with a scale each; more is in test_weights."""

import numpy as np
import pytest
from onnx_testing import run_node

import tilewright


def test_four_bits():
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (5, 32)).astype("float32")
    numbers = rng.integers(0, 16, (7, 32))
    scales = 2.0 ** rng.integers(-2, 2, (7, 2)).astype("float32")
    packed = (numbers[:, 0::2] | numbers[:, 1::2] << 4).astype("uint8").reshape(7, 2, 8)
    found = run_node(
        "MatMulNBits",
        [x, packed, scales.ravel()],
        constants=[1, 2],
        domain="com.microsoft",
        K=32,
        N=7,
        bits=4,
        block_size=16,
    )
    np.testing.assert_array_equal(found, x @ ((numbers - 8) * np.repeat(scales, 16, axis=1)).T)


def test_two_bits():
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (5, 32)).astype("float32")
    numbers, zeros = rng.integers(0, 4, (7, 32)), rng.integers(0, 4, (7, 2))
    scales = 2.0 ** rng.integers(-2, 2, (7, 2)).astype("float32")
    packed = sum(numbers[:, n::4] << 2 * n for n in range(4)).astype("uint8").reshape(7, 2, 4)
    points = (zeros[:, 0] | zeros[:, 1] << 2).astype("uint8")
    attrs = {"domain": "com.microsoft", "K": 32, "N": 7, "bits": 2, "block_size": 16}
    found = run_node("MatMulNBits", [x, packed, scales.ravel()], constants=[1, 2], **attrs)
    np.testing.assert_array_equal(found, x @ ((numbers - 2) * np.repeat(scales, 16, axis=1)).T)
    found = run_node("MatMulNBits", [x, packed, scales.ravel(), points], constants=[1, 2, 3], **attrs)
    weights = (numbers - np.repeat(zeros, 16, axis=1)) * np.repeat(scales, 16, axis=1)
    np.testing.assert_array_equal(found, x @ weights.T)


def test_rows_of_groups_in_any_order():
    """g_idx says which group of scales each row belongs to."""
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 4, (5, 32)).astype("float32")
    numbers, zeros = rng.integers(0, 256, (7, 32)), rng.integers(0, 256, (7, 2)).astype("uint8")
    scales, groups = 2.0 ** rng.integers(-2, 2, (7, 2)).astype("float32"), rng.permutation(32) // 16
    inputs = [
        x,
        numbers.astype("uint8").reshape(7, 2, 16),
        scales.ravel(),
        zeros.ravel(),
        groups.astype("int32"),
    ]
    attrs = {"domain": "com.microsoft", "K": 32, "N": 7, "bits": 8, "block_size": 16}
    found = run_node("MatMulNBits", inputs, constants=[1, 2, 3, 4], **attrs)
    weights = (numbers - zeros.astype("int64")[:, groups]) * scales[:, groups]
    np.testing.assert_allclose(found, x @ weights.T, rtol=1e-5)
    with pytest.raises(tilewright.UserError, match="g_idx is int64, expected int32"):
        run_node("MatMulNBits", [*inputs[:4], groups], constants=[1, 2, 3, 4], **attrs)
    inputs[4] = np.zeros(32, "int32")
    with pytest.raises(tilewright.Unsupported) as refused:
        run_node("MatMulNBits", inputs, constants=[1, 2, 3, 4], **attrs)
    assert (
        "g_idx puts row 16 into group 0, but groups of 16 rows in order have 1 there\n"
        "help: export it without act_order"
    ) in str(refused.value)
