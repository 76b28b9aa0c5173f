"""Remainders of floats as C's fmod and numpy.mod have them, powers of integers, numbers beyond 2^53."""

import ml_dtypes
import numpy as np
import pytest
from onnx_testing import run_node
from op_testing import check_op

import tilewright
from tilewright import te, topi
from tilewright.script import parse

INF = np.inf
PAIRS = [
    (5.25, INF),
    (-5.25, INF),
    (-5.25, -INF),
    (5.25, -INF),
    (0.0, INF),
    (-0.0, 3.0),
    (7.0, 0.75),
    (-7.0, 0.75),
]
PAIRS += [
    (7.5, -2.0),
    (-7.5, -2.0),
    (6.0, -2.0),
    (1.0, 0.0),
    (INF, 3.0),
    (np.nan, 2.0),
    (60000.0, 0.3),
    (-60000.0, 7.0),
]
LARGE = {
    "float32": [
        (3e20, 7.0),
        (-3e20, 7.0),
        (2147483648.0, 3.0),
        (1e9, 0.3),
        (16777216.0, 5.0),
        (3e38, 1e-38),
        (1e38, -0.1),
    ],
    "float64": [(3e200, 7.0), (-3e200, 7.0), (2.0**53, 3.0), (1e300, 0.3), (1e308, -0.25)],
}
FLOATS = ["float16", "bfloat16", "float32", "float64"]
each_target = pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64", "c"])


def operands(dtype, count):
    """Each pair `count` times: vectors and what is left over."""
    known = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    pairs = np.array(PAIRS + LARGE.get(dtype, [])).astype(known)
    return [np.tile(column, count) for column in pairs.T]


def run_te(make, target, *arrays):
    given = [te.placeholder(each.shape, str(each.dtype), f"x{n}") for n, each in enumerate(arrays)]
    func = te.create_prim_func([*given, make(*given)])
    found = tilewright.tensor(np.zeros_like(arrays[0]))
    tilewright.build(func, target)["main"](*[tilewright.tensor(each) for each in arrays], found)
    return found.numpy()


def same(found, expected):
    """Zeros with their sign, and any NaN is as good as another."""
    assert found.dtype == expected.dtype
    if found.dtype.kind in "iu":
        return np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found.astype("float64"), expected.astype("float64"))
    signed = ~np.isnan(expected.astype("float64"))
    np.testing.assert_array_equal(np.signbit(found)[signed], np.signbit(expected)[signed])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@each_target
@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("dtype", FLOATS)
def test_of_floats(dtype, count, target):
    a, b = operands(dtype, count)
    wide = (a, b) if dtype == "float64" else (a.astype("float32"), b.astype("float32"))
    same(run_te(topi.mod, target, a, b), np.mod(*wide).astype(a.dtype))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_operators_of_graphs(dtype):
    a, b = operands(dtype, 3)
    check_op("floor_mod", [a, b], {}, np.mod(a, b), rtol=0, atol=0)
    check_op("mod", [a, b], {}, np.fmod(a, b), rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_interpreter_and_one_number(dtype):
    """Of scalars, which are computed one by one, too."""
    program = parse(f"""
@T.prim_func
def f(A: T.Buffer((2,), "{dtype}"), B: T.Buffer((2,), "{dtype}")):
    B[0] = A[0] % A[1]
    B[1] = T.truncmod(A[0], A[1])
""")
    for pair in PAIRS + LARGE[dtype]:
        a, b = np.array(pair, dtype)
        expected = np.array([np.mod(a, b), np.fmod(a, b)])
        for run in (lambda *args: tilewright.tir.interpret(program, *args), tilewright.build(program)["f"]):
            found = tilewright.tensor(np.zeros(2, dtype))
            run(tilewright.tensor(np.array(pair, dtype)), found)
            same(found.numpy(), expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@pytest.mark.parametrize("fmod", [0, 1])
def test_mod_of_the_least_integer(fmod, dtype):
    least = np.iinfo(dtype).min
    a = np.array([least, least, least, least + 1, -7, 7, 7], dtype)
    b = np.array([3, -3, -1, 2, 3, -3, 3], dtype)
    expected = np.array(
        [(int(x) % int(y)) if not fmod else int(np.fmod(x, y)) for x, y in zip(a, b, strict=True)], dtype
    )
    same(run_node("Mod", [a, b], fmod=fmod), expected)


def wrapped(value, dtype):
    bits = np.dtype(dtype).itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if np.dtype(dtype).kind == "i" and value >> (bits - 1) else value


def power(base, exponent, dtype):
    if exponent < 0:
        return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
    return wrapped(pow(base, exponent, 1 << 64), dtype)


@each_target
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_powers_of_integers(dtype, target):
    info = np.iinfo(dtype)
    bases = [3, 2, 0, 1, 5, 7, 10, info.max, info.min, 3]
    exponents = [39, 62, 0, 100, 27, 3, 18, 2, 1, 41]
    if info.min < 0:
        bases += [-1, -1, -1, 1, -3, -2, 2, 0]
        exponents += [3, 4, -3, -5, 13, 63, -1, -1]
    exponents = [min(each, info.max) for each in exponents]
    expected = [power(x, y, dtype) for x, y in zip(bases, exponents, strict=True)]
    arrays = [np.array(each, dtype) for each in (bases, exponents)]
    same(run_te(topi.power, target, *arrays), np.array(expected, dtype))


def test_powers_in_the_interpreter():
    program = parse("""
@T.prim_func
def f(A: T.Buffer((2,), "int64"), B: T.Buffer((1,), "int64")):
    B[0] = T.pow(A[0], A[1])
""")
    for base, exponent in [(3, 39), (-3, 3), (2, -1), (-1, -3), (0, 0)]:
        found = tilewright.tensor(np.zeros(1, "int64"))
        tilewright.tir.interpret(program, tilewright.tensor(np.array([base, exponent])), found)
        assert found.numpy()[0] == power(base, exponent, "int64")


@pytest.mark.parametrize("exponent", ["int64", "int32", "float32"])
@pytest.mark.parametrize("base", ["int64", "int32"])
def test_pow_of_onnx(base, exponent):
    a, b = np.array([3, 7, 2, 10], base), np.array([19, 11, 30, 9], exponent)
    expected = np.array([3**19, 7**11, 2**30, 10**9]).astype(base)
    same(run_node("Pow", [a, b], constants=[1]), expected)
    if base == "int64":
        a, b = np.array([3, 5, 10], base), np.array([39, 27, 18], exponent)
        same(run_node("Pow", [a, b], constants=[1]), a ** b.astype("int64"))


BIG = 2**62 + 1


def test_values_beyond_doubles():
    x = np.array([[1, BIG]])
    pads, value = np.array([0, 1, 0, 2]), np.array(BIG + 2)
    same(
        run_node("Pad", [x, pads, value], constants=[1, 2]),
        np.pad(x, [(0, 0), (1, 2)], constant_values=BIG + 2),
    )
    values = np.array([BIG, -BIG])
    found = run_node("OneHot", [np.array([1, 0]), np.array(2), values], constants=[1, 2])
    same(found, np.array([[BIG, -BIG], [-BIG, BIG]]))
    ends = [np.array(each) for each in (BIG, BIG + 10, 3)]
    same(run_node("Range", ends, constants=[0, 1, 2]), np.arange(BIG, BIG + 10, 3))
    ends = [np.array(each) for each in (BIG + 10, BIG, -3)]
    same(run_node("Range", ends, constants=[0, 1, 2]), np.arange(BIG + 10, BIG, -3))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_one_hot_of_small_floats(dtype):
    values = np.array([0.5, -3]).astype(dtype)
    found = run_node("OneHot", [np.array([1, 0]), np.array(3), values], constants=[1, 2])
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.astype("float32"), [[0.5, -3, 0.5], [-3, 0.5, 0.5]])


def test_what_a_dtype_does_not_hold_is_no_padding():
    for value, text in [(300, "300"), (3e9, "3000000000")]:
        with pytest.raises(tilewright.UserError) as error:
            check_op("nn.pad", [np.zeros((2,), "int8")], {"pad_width": [1, 1], "pad_value": value}, None)
        assert str(error.value).startswith(f"error: nn.pad: pad_value is {text}, which int8 does not hold")


@each_target
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("bits", [3, 27, 31])
def test_remainders_of_random_pairs_are_those_of_c(dtype, bits, target):
    """Quotients below 2^28 are computed in float64, others by C; in some vectors there are both."""
    rng, n = np.random.default_rng(bits), 4099
    limits = np.finfo(dtype)
    exponent = rng.uniform(limits.minexp - limits.nmant, limits.maxexp - 1, n)
    with np.errstate(all="ignore"):
        a = (np.exp2(exponent) * rng.uniform(-2, 2, n)).astype(dtype)
        b = (np.exp2(exponent - rng.uniform(-1, bits, n)) * rng.uniform(-2, 2, n)).astype(dtype)
        whole = (b.astype("float64") * np.floor(np.exp2(rng.uniform(0, bits, n)))).astype(dtype)
    whole[1::3] = np.nextafter(whole[1::3], np.array(0, dtype))
    whole[2::3] = np.nextafter(whole[2::3], np.array(np.inf, dtype))
    for dividend in (a, whole):
        found = run_te(
            lambda x, y: te.compute((n,), lambda i: tilewright.tir.truncmod(x[i], y[i])), target, dividend, b
        )
        with np.errstate(all="ignore"):
            same(found, np.fmod(dividend, b))
