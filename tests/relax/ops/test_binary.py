"""Elementwise operators of several tensors, against numpy."""

import numpy as np
import pytest
from op_data import MASK, ROW, WHOLE, X, Y
from op_testing import check_op

RNG = np.random.default_rng(5)
OTHER = RNG.integers(1, 5, (5, 7)).astype("int32")
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.floor_divide,
    "mod": np.fmod,
    "floor_mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
BITS = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}
LOGIC = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    check_op(name, [X, ROW], {}, BINARY[name](X, ROW), atol=1e-5)
    check_op(name, [WHOLE, OTHER], {}, BINARY[name](WHOLE, OTHER))


@pytest.mark.parametrize("name", BITS)
def test_bits(name):
    check_op(name, [WHOLE, OTHER], {}, BITS[name](WHOLE, OTHER))


@pytest.mark.parametrize("name", LOGIC)
def test_logic(name):
    check_op(name, [MASK, MASK[::-1].copy()], {}, LOGIC[name](MASK, MASK[::-1]))


def test_binary_of_floats():
    check_op("divide", [X, Y], {}, X / Y)
    check_op("power", [np.abs(X), Y], {}, np.abs(X) ** Y)
    check_op("log_add_exp", [X * 50, Y * 50], {}, np.logaddexp(X * 50, Y * 50))
    same = np.array([np.inf, -np.inf, 3], "float32")
    check_op("log_add_exp", [same, same], {}, np.logaddexp(same, same))
    check_op("where", [MASK, X, ROW], {}, np.where(MASK, X, ROW))
    check_op("ewise_fma", [X, Y, ROW], {}, X * Y + ROW)


def test_atan2():
    y, x = RNG.standard_normal((2, 3, 1, 7))
    points = [[0, 0], [1, 0], [-1, 0], [0, -1], [-0.0, -1], [0, 1], [np.inf, -np.inf], [-2, np.inf], [3, -4]]
    for dtype in ("float32", "float64", "float16"):
        row = ROW.astype(dtype)
        given = y.astype(dtype), np.concatenate([x, x], 1).astype(dtype)
        check_op("atan2", list(given), {}, np.arctan2(*given), rtol=2e-3 if dtype == "float16" else 1e-5)
        check_op("atan2", [row, row], {}, np.arctan2(row, row), rtol=1e-3)
    corners = np.array(points, "float32").T.copy()
    check_op("atan2", [corners[0], corners[1]], {}, np.arctan2(corners[0], corners[1]))
