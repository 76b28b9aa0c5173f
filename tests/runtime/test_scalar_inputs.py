"""Numbers where a graph takes a tensor without dimensions."""

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright.errors import UserError
from tilewright.script import parse


def double(dtype):
    return tw.VirtualMachine(
        tw.compile(
            parse(f"""
@R.function
def main(x: R.Tensor((), "{dtype}")):
    y = R.add(x, x)
    return y
""")
        )
    )["main"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"])
def test_a_number_is_a_tensor_without_dimensions(dtype):
    main = double(dtype)
    for number in (3, np.dtype(dtype).type(3), np.array(3, dtype)):
        result = main(number).numpy()
        assert (result.dtype, result.shape, result.item()) == (np.dtype(dtype), (), 6)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2fnuz", "float4_e2m1fn", "bfloat16"])
def test_a_number_is_rounded_to_a_small_float(dtype):
    known = np.dtype(getattr(ml_dtypes, dtype))
    for number in (1.4, 1, -2.6):
        result = double(dtype)(number).numpy()
        assert (result.dtype, result.shape) == (known, ())
        assert result == (np.float32(number).astype(known).astype("float32") * 2).astype(known)


@pytest.mark.parametrize("number", [3.5, np.float32(3.5), np.float64(3.5), np.float16(3.5)])
def test_a_real_number(number):
    assert double("float32")(number).numpy() == np.float32(7)


@pytest.mark.parametrize(
    ("dtype", "number", "kind"),
    [("int8", 200, "an int"), ("uint8", -1, "an int"), ("int32", 1.5, "a float"), ("int32", True, "a bool")],
)
def test_a_number_that_the_dtype_does_not_hold(dtype, number, kind):
    with pytest.raises(UserError) as error:
        double(dtype)(number)
    assert str(error.value).split("\n")[0] == f"error: main: x is {kind}, expected {dtype}[]"


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (3.402e39, None, "3.402e+39 is beyond the numbers of float32"),
        (1e6, "float16", "1000000.0 is beyond the numbers of float16"),
        (np.array([1.0, 1e300]), "float32", "1e+300 is beyond the numbers of float32"),
        (10**39, "float32", "1e+39 is beyond the numbers of float32"),
        (10**39, "bfloat16", "1e+39 is beyond the numbers of bfloat16"),
        ([1, 10**30], "float16", "1e+30 is beyond the numbers of float16"),
        (10**30, "float8_e5m2", "1e+30 is beyond the numbers of float8_e5m2"),
        (np.array([1, -(10**39)], object), "float32", "-1e+39 is beyond the numbers of float32"),
        ([1.5, 10**400], "float64", "an integer of 1329 bits is beyond the numbers of float64"),
        ([-(10**5000)], "float32", "an integer of 16610 bits is beyond the numbers of float32"),
    ],
)
def test_a_constant_that_its_dtype_does_not_hold(value, dtype, text):
    with pytest.raises(UserError) as error:
        tw.relax.const(value, dtype)
    assert str(error.value) == f"const: {text}\nhelp: give a wider dtype, or numpy.inf"


def test_integers_of_more_than_64_bits_are_floats_that_hold_them():
    for dtype in ("float32", "float64", "bfloat16"):
        found = tw.relax.const([1, 10**30], dtype).data.numpy()
        np.testing.assert_array_equal(found, np.array([1, 1e30]).astype(found.dtype))


def test_infinity_is_a_constant():
    assert tw.relax.const(np.inf).data.numpy() == np.inf


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1.5, "int32", "1.5 is no int32\nhelp: round it, or give a float dtype"),
        (-0.5, "int64", "-0.5 is no int64\nhelp: round it, or give a float dtype"),
        ([1, 2.5], "uint8", "2.5 is no uint8\nhelp: round it, or give a float dtype"),
        (np.float32(1.5), "int8", "1.5 is no int8\nhelp: round it, or give a float dtype"),
        (float("nan"), "int32", "nan is no int32\nhelp: round it, or give a float dtype"),
        (float("inf"), "int32", "inf is no int32\nhelp: round it, or give a float dtype"),
        (300, "int8", "300 does not fit in int8\nhelp: give a wider dtype"),
        (-1, "uint8", "-1 does not fit in uint8\nhelp: give a wider dtype"),
        ([[1, 2**31]], "int32", "2147483648 does not fit in int32\nhelp: give a wider dtype"),
        (2**63, "int64", "9223372036854775808 does not fit in int64\nhelp: give a wider dtype"),
        (1e10, "int32", "10000000000.0 does not fit in int32\nhelp: give a wider dtype"),
        (10**400, "bool", "an integer of 1329 bits does not fit in bool\nhelp: give a wider dtype"),
        (10**400, None, "an integer of 1329 bits does not fit in int32\nhelp: give a wider dtype"),
        (10**30, "int4", "1000000000000000000000000000000 does not fit in int4\nhelp: give a wider dtype"),
        (
            np.array([1, 10**30], object),
            "uint64",
            "1000000000000000000000000000000 does not fit in uint64\nhelp: give a wider dtype",
        ),
        ([1, None], "float32", "None is no float32\nhelp: give numbers"),
        (np.array([1, None], object), "int8", "None is no int8\nhelp: give numbers"),
        (1j, "float32", "1j is no float32\nhelp: give its real part"),
        (np.int64(300), "uint8", "300 does not fit in uint8\nhelp: give a wider dtype"),
        (2, "bool", "2 does not fit in bool\nhelp: give a wider dtype"),
        (70000, "float16", "70000 is beyond the numbers of float16\nhelp: give a wider dtype, or numpy.inf"),
    ],
)
def test_a_number_that_no_integer_of_the_dtype_is(value, dtype, text):
    with pytest.raises(UserError) as error:
        tw.relax.const(value, dtype)
    assert str(error.value) == "const: " + text


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "bool", "float16"])
def test_whole_numbers_fit_and_arrays_are_converted(dtype):
    assert tw.relax.const(1.0, dtype).data.numpy() == 1
    assert tw.relax.const(True, dtype).data.numpy() == 1
    np.testing.assert_array_equal(
        tw.relax.const(np.array([1.5, 0]), dtype).data.numpy(), np.array([1.5, 0]).astype(dtype)
    )
