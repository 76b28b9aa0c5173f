"""dequantize_matmul: products with weights of 8 bits or of 4 in words, in groups of rows, against numpy."""

import numpy as np
import pytest
from op_testing import run_op

import tilewright

RNG = np.random.default_rng(2)


def dequantized(data, scale, zero_point):
    """[rows, columns] in float64; scales of groups of rows."""
    size = len(data) // len(scale)
    return (data - np.repeat(zero_point, size, 0).astype("float64")) * np.repeat(scale, size, 0)


def in_words(data):
    """Numbers from -8 to 7, kept as 0 to 15, eight of a column to a word, the first in the lowest bits."""
    bits = (data + 8).astype("uint32").reshape(-1, 8, data.shape[1])
    return sum(bits[:, n] << np.uint32(4 * n) for n in range(8)).astype("uint32").view("int32")


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("shape", [(1, 32), (5, 32), (2, 3, 32)])
@pytest.mark.parametrize("bits", [4, 8])
def test_numbers(bits, shape, groups):
    x = RNG.integers(-3, 4, shape).astype("float32")
    data = RNG.integers(-(2 ** (bits - 1)), 2 ** (bits - 1), (32, 7)).astype("int8")
    scale = (2.0 ** RNG.integers(-3, 3, (groups, 7))).astype("float32")
    zero_point = RNG.integers(-3, 4, (groups, 7)).astype("int8")
    held = in_words(data) if bits == 4 else data
    result = run_op("dequantize_matmul", x, held, scale, zero_point, opt_level=2)
    np.testing.assert_array_equal(result, x @ dequantized(data, scale, zero_point).astype("float32"))


def test_without_zero_points():
    x, data = RNG.integers(-3, 4, (5, 16)).astype("float32"), RNG.integers(-128, 128, (16, 7)).astype("int8")
    scale = np.full((1, 7), 0.5, "float32")
    result = run_op("dequantize_matmul", x, data, scale)
    np.testing.assert_array_equal(result, x @ (data * np.float32(0.5)))


F, Q = np.zeros((5, 16), "float32"), np.zeros((16, 7), "int8")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (
            [F, Q.astype("int16"), np.zeros((1, 7), "float32")],
            "data is int16[16, 7], expected int8, or int32 that hold eight numbers of 4 bits",
        ),
        (
            [F, Q, np.zeros((1, 7), "float32"), np.zeros((1, 7), "int32")],
            "zero_point is int32[1, 7], expected int8",
        ),
        (
            [F, Q, np.zeros((3, 7), "float32")],
            "data is int8[16, 7], scale is float32[3, 7]: expected as many columns, and rows in groups of one size",
        ),
        (
            [F, Q, np.zeros((1, 6), "float32")],
            "data is int8[16, 7], scale is float32[1, 6]: expected as many columns, and rows in groups of one size",
        ),
        (
            [np.zeros((5, 15), "float32"), Q, np.zeros((1, 7), "float32")],
            "x is float32[5, 15], data holds 16 numbers for each column: expected at most 0 more than x has",
        ),
        ([np.zeros((), "float32"), Q, np.zeros((1, 7), "float32")], "x is a scalar; use multiply"),
    ],
)
def test_refused(args, text):
    with pytest.raises(tilewright.UserError) as error:
        run_op("dequantize_matmul", *args)
    assert str(error.value) == f"error: dequantize_matmul: {text}"
