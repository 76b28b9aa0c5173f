"""Literals are the numbers that were written, or errors."""

import ml_dtypes
import numpy as np
import pytest

import tilewright
from tilewright import relax, tir
from tilewright.script import parse
from tilewright.tir import FloatImm, IntImm, const


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (5, "int32"),
        (-(2**31), "int32"),
        (2**31, "int64"),
        (-(2**31) - 1, "int64"),
        (2**63 - 1, "int64"),
        (2**63, "uint64"),
        (2**64 - 1, "uint64"),
        (0.5, "float32"),
        (3.402e39, "float64"),
        (-1e300, "float64"),
        (float("inf"), "float32"),
        (np.int64(5), "int64"),
        (np.uint8(200), "uint8"),
        (np.float64(0.1), "float64"),
        (np.float16(0.5), "float16"),
        (np.bool_(True), "bool"),
        (ml_dtypes.bfloat16(1.5), "bfloat16"),
    ],
)
def test_without_a_dtype(value, dtype):
    literal = const(value)
    assert (literal.dtype, literal.value) == (dtype, value)


def test_with_a_dtype():
    assert const(2**64 - 1, "uint64").value == 2**64 - 1
    assert const(-128, "int8").value == -128
    assert const(np.int64(5), "int8").dtype == "int8"
    assert const(7, "float16").value == 7.0
    assert const(float("-inf"), "float16").value == float("-inf")
    assert str(const(3, "int32x4")) == "T.Broadcast(3, 4)"
    assert str(const(2.0, "int32")) == "2"
    assert str(const(1, "bool")) == "True"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(2.5, "int32"), (-0.5, "uint8"), (0.5, "bool"), (float("nan"), "int64"), (np.float32(1.5), "int8")],
)
def test_fractions_are_no_integers(value, dtype):
    with pytest.raises(tilewright.UserError) as error:
        const(value, dtype)
    assert str(error.value) == f"error: {value} is no {dtype}\nhelp: round it, or give a float dtype"


REFUSED = [
    (lambda: const(2**31, "int32"), "2147483648 does not fit in int32"),
    (lambda: const(128, "int8"), "128 does not fit in int8"),
    (lambda: const(-1, "uint8"), "-1 does not fit in uint8"),
    (lambda: const(-1, "uint64"), "-1 does not fit in uint64"),
    (lambda: const(2**64, "uint64"), "18446744073709551616 does not fit in uint64"),
    (lambda: const(np.int64(300), "uint8"), "300 does not fit in uint8"),
    (lambda: const(10**400), "an integer of 1329 bits does not fit in uint64"),
    (lambda: const(10**5000, "int8"), "an integer of 16610 bits does not fit in int8"),
    (lambda: const(3e9, "int32"), "3000000000 does not fit in int32"),
    (lambda: const(2, "bool"), "2 does not fit in bool"),
    (lambda: IntImm("bool", 2), "2 does not fit in bool"),
    (lambda: tir.Var("x") + 10**30, "1000000000000000000000000000000 does not fit in 64 bits"),
    (lambda: IntImm("uint8", -1), "-1 does not fit in uint8"),
    (lambda: IntImm("uint8", np.int8(-1)), "-1 does not fit in uint8"),
    (lambda: IntImm("bool", np.int64(5)), "5 does not fit in bool"),
    (lambda: IntImm("int8", 128), "128 does not fit in int8"),
    (lambda: tir.Var("x", "uint8") + 300, "300 does not fit in uint8"),
    (lambda: tir.Var("x", "int32") < 2**31, "2147483648 does not fit in int32"),
    (lambda: tir.Var("x", "uint8") & 300, "300 does not fit in uint8"),
    (lambda: const(1) // 0, "1 is divided by zero"),
    (lambda: tir.Var("x") % 0, "x is divided by zero"),
    (lambda: tir.truncdiv(tir.Var("x"), 0), "x is divided by zero"),
    (lambda: tir.Var("x") // (tir.Var("n") * 0), "x is divided by zero"),
    (lambda: (n := tir.Var("n")) % (n - n), "n is divided by zero"),
    (lambda: tir.Var("x") // tir.Cast("int32", const(0, "int64")), "x is divided by zero"),
    (lambda: tir.Var("x") << -1, "a shift by a negative number, -1"),
    (lambda: tir.Var("x") >> const(-3), "a shift by a negative number, -3"),
    (lambda: tir.shift_left(tir.Var("x"), -1), "a shift by a negative number, -1"),
]


@pytest.mark.parametrize(("make", "text"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_no_dtype_holds(make, text):
    with pytest.raises(tilewright.UserError) as error:
        make()
    assert str(error.value) == f"error: {text}"


@pytest.mark.parametrize(("value", "dtype"), [(1e39, "float32"), (70000.0, "float16"), (1e39, "bfloat16")])
def test_floats_that_would_be_infinite(value, dtype):
    for make in (lambda: const(value, dtype), lambda: FloatImm(dtype, value)):
        with pytest.raises(tilewright.UserError) as error:
            make()
        shown = "70000" if value == 70000 else "1e+39"
        assert (
            str(error.value) == f'error: {shown} does not fit in {dtype}\nhelp: an infinity is float("inf")'
        )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: FloatImm("float16", 70000), "70000 does not fit in float16"),
        (lambda: FloatImm("float16", np.uint64(2**64 - 1)), "18446744073709551615 does not fit in float16"),
        (lambda: tir.Var("x", "float16") + 70000, "70000 does not fit in float16"),
        (
            lambda: const(2**128 - 1, "float32"),
            "340282366920938463463374607431768211455 does not fit in float32",
        ),
        (lambda: const(10**400, "float64"), "an integer of 1329 bits does not fit in float64"),
        (lambda: FloatImm("float32", -(10**400)), "an integer of 1329 bits does not fit in float32"),
    ],
)
def test_integers_that_would_be_infinite(make, text):
    with pytest.raises(tilewright.UserError) as error:
        make()
    assert str(error.value) == f'error: {text}\nhelp: an infinity is float("inf")'


def test_the_largest_uint64():
    literal = IntImm("uint64", 2**64 - 1)
    assert literal.value == 2**64 - 1
    assert str(literal) == str(const(2**64 - 1))
    assert (literal.dtype, (literal // 2).dtype) == ("uint64", "uint64")


def test_beside_numbers_of_python():
    x = tir.Var("x", "uint8")
    for made, text in [
        (10 & x, "T.bitwise_and(T.uint8(10), x)"),
        (x | 10, "T.bitwise_or(x, T.uint8(10))"),
        (10 ^ x, "T.bitwise_xor(T.uint8(10), x)"),
        (1 << x, "T.shift_left(T.uint8(1), x)"),
        (x >> 1, "T.shift_right(x, T.uint8(1))"),
        (200 >> x, "T.shift_right(T.uint8(200), x)"),
    ]:
        assert (str(made), made.dtype) == (text, "uint8")
    wide = tir.Var("x", "int32") & tir.Var("y", "int64")
    assert wide.dtype == "int64"


def test_float_beyond_float32_in_an_expression():
    made = tir.Var("x", "float64") * 1e39
    assert (made.dtype, made.b.value) == ("float64", 1e39)


SLICES = """
@T.prim_func
def f(C: T.Buffer((5,), "uint32"), D: T.Buffer((5,), "uint32")):
    D[0:5] = {}
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("C[0:5] >> 4", lambda c: c >> 4),
        ("C[0:5] // 3", lambda c: c // 3),
        ("C[0:5] + 1", lambda c: c + 1),
        ("100 - C[0:5]", lambda c: np.uint32(100) - c),
        ("T.max(C[0:5], 2147483649)", lambda c: np.maximum(c, 2**31 + 1)),
    ],
)
def test_lanes_keep_their_dtype(expression, expected):
    program = parse(SLICES.format(expression))
    assert "int32x5" not in program.script().replace("uint32x5", "")
    values = np.array([2**32 - 1, 2**31, 5, 0, 77], "uint32")
    found = tilewright.tensor(np.zeros(5, "uint32"))
    tilewright.build(program)["f"](tilewright.tensor(values), found)
    np.testing.assert_array_equal(found.numpy(), expected(values))


def test_in_scripts():
    for expression, text in [
        ("T.float32(3.5e39)", "3.5e+39 does not fit in float32"),
        ("A[0] * 3.5e39", "3.5e+39 does not fit in float32"),
        ("T.float32(T.int32(1) << -1)", "a shift by a negative number"),
    ]:
        with pytest.raises(tilewright.UserError) as error:
            parse(f"""
@T.prim_func
def f(A: T.Buffer((1,), "float32")):
    A[0] = {expression}
""")
        assert str(error.value).splitlines()[0] == f"error: {text}"


def parsed(value: str):
    return parse(f"""
@T.prim_func
def f(J: T.Buffer((4,), "int32"), x: T.float32):
    T.evaluate({value})
""")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float16", 70000),
        ("float16", -(10**6)),
        ("float16", 2**64 - 1),
        ("float8_e5m2", 70000),
        ("float8_e4m3fn", -500),
    ],
)
def test_an_integer_that_a_float_of_a_script_does_not_hold(dtype, value):
    with pytest.raises(tilewright.UserError) as error:
        parsed(f"T.{dtype}({value})")
    assert str(error.value).startswith(f"error: {value} does not fit in {dtype}\n  <script>:4:")
    assert "^" * len(str(value)) in str(error.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("T.int32(2.5)", "2.5 is no int32"),
        ("T.uint8(-1.5)", "-1.5 is no uint8"),
        ("T.bool(0.5)", "0.5 is no bool"),
        ("T.int32x4(2.5)", "2.5 is no int32x4"),
        ('T.cast(2.5, "int64")', "2.5 is no int64"),
        ('T.IntImm("int32", 2.5)', "2.5 is no int32"),
        ('T.int32(float("nan"))', "nan is no int32"),
        ("T.int64(1e300)", "1e+300 is no int64"),
    ],
)
def test_a_fraction_that_an_integer_of_a_script_does_not_hold(text, shown):
    with pytest.raises(tilewright.UserError) as error:
        parsed(text)
    first, place, *_, help_line = str(error.value).split("\n")
    assert (first, help_line) == (f"error: {shown}", "help: round it, or give a float dtype")
    assert place.startswith("  <script>:4:")


@pytest.mark.parametrize(
    ("text", "printed"),
    [("T.int32(-2.0)", "-2"), ("T.bool(1.0)", "T.bool(True)"), ("T.uint8(255.0)", "T.uint8(255)")],
)
def test_whole_floats_are_integers_of_a_script(text, printed):
    assert f"T.evaluate({printed})" in parsed(text).script()


@pytest.mark.parametrize(
    ("text", "dividend"),
    [
        ("J[0] // (J[1] - J[1])", "J[0]"),
        ('J[0] // T.Cast("int32", 0)', "J[0]"),
        ("J[0] % T.Select(x > T.float32(0), 0, 0)", "J[0]"),
        ("T.truncdiv(J[0], J[1] * 0)", "J[0]"),
        ("T.ceildiv(J[0], J[1] % 1)", "J[0]"),
        ("J[0:4] // T.Broadcast(J[0] - J[0], 4)", "J[0:4]"),
        ("J[0] // 0", "J[0]"),
        ("J[0] % 0", "J[0]"),
        ("J[0] // (2 - 2)", "J[0]"),
        ("T.truncdiv(1, 0)", "1"),
        ("T.truncmod(J[0], 0)", "J[0]"),
        ("T.floordiv(J[0], 0)", "J[0]"),
        ("T.floormod(1, T.int32(0))", "1"),
        ("T.FloorDiv(J[0], 0)", "J[0]"),
        ("T.Mod(J[0], 0)", "J[0]"),
        ("T.indexmod(J[0], 0)", "J[0]"),
        ("T.ceildiv(J[0], 0)", "J[0]"),
        ("T.truncdiv(J[0:4], T.Broadcast(0, 4))", "J[0:4]"),
    ],
)
def test_an_integer_of_a_script_over_zero(text, dividend):
    with pytest.raises(tilewright.UserError) as error:
        parsed(text)
    first, place, _, carets = str(error.value).split("\n")
    assert first == f"error: {dividend} is divided by zero"
    assert place == "  <script>:4:16" and carets.count("^") == len(text)


@pytest.mark.parametrize("text", ["x / T.float32(0)", "T.truncdiv(J[0], J[1])", "J[0] // 1"])
def test_floats_and_other_divisors_are_legal(text):
    parsed(text)


def test_integers_of_numpy_are_literals():
    assert IntImm("uint64", np.uint64(2**64 - 1)).value == 2**64 - 1
    assert IntImm("int8", np.int64(-128)).value == -128
    assert FloatImm("float32", np.uint8(200)).value == 200.0


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2"])
def test_small_floats_of_unsigned_integers(dtype):
    """numpy gives integers of 64 bits beside none of these, and floats beside other integers."""
    for value in (2**63, [0, 2**63], np.array([2**63], "uint64")):
        if dtype == "bfloat16":
            found = np.asarray(relax.const(value, dtype).data.numpy()).astype("float64")
            assert found.flat[-1] == 2.0**63
        else:
            with pytest.raises(tilewright.UserError, match="is beyond the numbers of float8_e5m2"):
                relax.const(value, dtype)


@pytest.mark.parametrize("last", [2**64 - 1, np.uint64(2**64 - 1), 2**63])
def test_lists_of_large_integers(last):
    np.testing.assert_array_equal(
        relax.const([[0, 1], [2, last]], "uint64").data.numpy(), np.array([[0, 1], [2, int(last)]], "uint64")
    )
    with pytest.raises(tilewright.UserError) as error:
        relax.const([-1, last], "uint64")
    assert str(error.value) == "const: -1 does not fit in uint64\nhelp: give a wider dtype"
