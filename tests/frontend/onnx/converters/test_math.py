"""Arithmetic, comparisons and casts."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx_testing import run_node

import tilewright

X = np.linspace(0.1, 0.9, 35, dtype="float32").reshape(5, 7)
WHOLE = np.arange(-3, 4, dtype="int32")
OF_ONE = {
    "Abs": np.abs, "Acos": np.arccos, "Asinh": np.arcsinh, "Ceil": np.ceil, "Cos": np.cos, "Exp": np.exp, "Floor": np.floor,
    "Log": np.log, "Neg": np.negative, "Round": np.round, "Sign": np.sign, "Sin": np.sin, "Sqrt": np.sqrt, "Tanh": np.tanh,
}  # fmt: skip
OF_TWO = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Less": np.less,
}


@pytest.mark.parametrize("op", OF_ONE)
def test_of_one(op):
    np.testing.assert_allclose(run_node(op, [X]), OF_ONE[op](X), rtol=1e-5)


@pytest.mark.parametrize("op", OF_TWO)
def test_of_two_with_broadcast(op):
    np.testing.assert_allclose(run_node(op, [X, X[2]]), OF_TWO[op](X, X[2]), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_constant_powers(shape, dtype):
    """Of negative numbers, too; a constant of one element is as good as a scalar."""
    x = np.linspace(-3, 3, 35).reshape(5, 7).astype(dtype)
    for power in (2, 3, -1):
        y = np.full(shape, power, dtype)
        found = run_node("Pow", [x, y], constants=[1])
        assert found.dtype == dtype
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(found, x**y, rtol=2e-3 if dtype == "float16" else 1e-6)
    column = run_node("Pow", [X[0], np.full((1, 1), 2, "float32")], constants=[1])
    np.testing.assert_allclose(column, X[:1] ** 2, rtol=1e-6)


def test_several_inputs():
    rows = [X, X[1], X[:, :1]]
    np.testing.assert_allclose(run_node("Sum", rows), sum(rows), rtol=1e-6)
    np.testing.assert_allclose(run_node("Mean", rows), sum(rows) / 3, rtol=1e-6)
    np.testing.assert_array_equal(run_node("Max", rows), np.maximum(np.maximum(*rows[:2]), rows[2]))


def test_remainders_have_the_sign_that_fmod_says():
    by = np.array(3, "int32")
    np.testing.assert_array_equal(run_node("Mod", [WHOLE, by]), np.mod(WHOLE, by))
    np.testing.assert_array_equal(run_node("Mod", [WHOLE, by], fmod=1), np.fmod(WHOLE, by))


def test_shifts():
    numbers = np.array([1, 6, 200], "uint8")
    np.testing.assert_array_equal(
        run_node("BitShift", [numbers, np.array(2, "uint8")], direction="RIGHT"), numbers >> 2
    )


def test_casts():
    to = onnx.TensorProto.INT64
    np.testing.assert_array_equal(run_node("Cast", [X * 9], to=to), (X * 9).astype("int64"))
    assert run_node("CastLike", [WHOLE, X]).dtype == np.float32


def test_an_integer_is_not_divided_by_a_constant_zero():
    with pytest.raises(tilewright.UserError, match="an integer is divided by 0"):
        run_node("Div", [WHOLE, np.array(0, "int32")], constants=[1])


def test_bits_as_another_dtype():
    for x, to in [
        (X, onnx.TensorProto.INT32),
        (X.astype("float16"), onnx.TensorProto.UINT16),
        (X.astype("float64"), onnx.TensorProto.INT64),
        (WHOLE, onnx.TensorProto.FLOAT),
        (X > 0, onnx.TensorProto.UINT8),
        (X, onnx.TensorProto.FLOAT),
    ]:
        expected = x.view(onnx.helper.tensor_dtype_to_np_dtype(to))
        np.testing.assert_array_equal(run_node("BitCast", [x], opset=26, to=to), expected)
    with pytest.raises(tilewright.UserError, match="the input is float32, which has another size than int64"):
        run_node("BitCast", [X], opset=26, to=onnx.TensorProto.INT64)


@pytest.mark.parametrize("kinds", [("int4", "uint4", "float4_e2m1fn"), ("int2", "uint2")])
def test_bits_of_elements_that_share_bytes(kinds):
    for start in kinds:
        num_bits = ml_dtypes.finfo(start).bits if "float" in start else ml_dtypes.iinfo(start).bits
        bits = np.resize(np.arange(2**num_bits), 27).astype("uint8")
        for end in kinds:
            x, right = (of_bits(bits, kind, num_bits) for kind in (start, end))
            to = onnx.helper.np_dtype_to_tensor_dtype(right.dtype)
            found = run_node("BitCast", [x], opset=26, to=to)
            assert found.dtype == right.dtype
            np.testing.assert_array_equal(found.astype("float32"), right.astype("float32"))


def of_bits(bits, kind, num_bits):
    """The elements of `kind` with these bits, in the form of ml_dtypes."""
    known = np.dtype(getattr(ml_dtypes, kind))
    if "float" in kind:
        return bits.view(known)
    is_negative = kind.startswith("int") & (bits >> (num_bits - 1)).astype("bool")
    return (bits.astype("int32") - is_negative * 2**num_bits).astype(known)
