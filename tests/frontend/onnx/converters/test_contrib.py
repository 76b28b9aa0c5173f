"""MatMulNBits and MatMulBnb4 of com.microsoft: blocks of numbers of few bits with a scale each; more is in test_weights."""

import numpy as np
import pytest
from onnx_peer import check, kinds_of
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


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_floats_of_four_bits(kind, dtype):
    """MatMulBnb4 against onnxruntime; blocks may begin inside of a row."""
    rng = np.random.default_rng(kind)
    for n, k, block in ((7, 48, 16), (5, 24, 32)):
        data = rng.integers(0, 256, n * k // 2).astype("uint8")
        absmax = rng.uniform(0.5, 2, (n * k - 1) // block + 1).astype(dtype)
        x = rng.standard_normal((2, 3, k)).astype(dtype)
        attrs = {"K": k, "N": n, "block_size": block, "quant_type": kind, "domain": "com.microsoft"}
        kinds = kinds_of(["y0"], [dtype])
        rtol = 1e-4 if dtype == "float32" else 3e-2
        check("MatMulBnb4", [x, data, absmax], constants=[1, 2], kinds=kinds, rtol=rtol, atol=rtol, **attrs)


def test_floats_of_four_bits_as_they_are():
    """Without transB the product with B [N, K] itself; B and absmax are constants of the right size."""
    rng = np.random.default_rng(0)
    data, absmax = rng.integers(0, 256, 7 * 24).astype("uint8"), rng.uniform(0.5, 2, 21).astype("float32")
    attrs = {"K": 48, "N": 7, "block_size": 16, "quant_type": 1, "domain": "com.microsoft"}
    one = np.eye(7, dtype="float32")
    straight = run_node("MatMulBnb4", [one, data, absmax], constants=[1, 2], transB=0, **attrs)
    turned = run_node("MatMulBnb4", [np.eye(48, dtype="float32"), data, absmax], constants=[1, 2], **attrs)
    np.testing.assert_allclose(straight, turned.T, rtol=1e-6)
    with pytest.raises(tilewright.UserError, match='input "x1" is int8, expected uint8'):
        run_node("MatMulBnb4", [one, data.astype("int8"), absmax], constants=[1, 2], transB=0, **attrs)


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
