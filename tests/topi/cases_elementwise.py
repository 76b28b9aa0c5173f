"""Cases of functions of each element, of one tensor and of several."""

import math

import numpy as np
from topi.table import ALL, FLOATS, INTS, NUMBERS, Case, Input

from tilewright import topi

X = [Input("n", 7)]
TWO = [Input("n", 3, 7), Input(3, 1)]


def one(name, reference, dtypes=FLOATS, inputs=X, **options):
    return Case(f"topi.{name}", getattr(topi, name), reference, inputs, dtypes, **options)


def two(name, reference, dtypes=NUMBERS, inputs=TWO, **options):
    return Case(f"topi.{name}", getattr(topi, name), reference, inputs, dtypes, **options)


def between(low, high):
    return [Input("n", 7, low=low, high=high)]


ERF = np.vectorize(math.erf, otypes=["float64"])
MATH = [
    one("exp", np.exp), one("exp2", np.exp2), one("exp10", lambda x: np.power(10, x)), one("log", np.log, inputs=between(0.1, 5)),
    one("log1p", np.log1p, inputs=between(-0.5, 5)), one("log2", np.log2, inputs=between(0.1, 5)),
    one("log10", np.log10, inputs=between(0.1, 5)), one("sqrt", np.sqrt, inputs=between(0, 5)),
    one("rsqrt", lambda x: 1 / np.sqrt(x), inputs=between(0.1, 5)), one("sin", np.sin), one("cos", np.cos),
    one("tan", np.tan, inputs=between(-1, 1)), one("asin", np.arcsin, inputs=between(-0.9, 0.9)),
    one("acos", np.arccos, inputs=between(-0.9, 0.9)), one("atan", np.arctan), one("sinh", np.sinh), one("cosh", np.cosh),
    one("tanh", np.tanh), one("asinh", np.arcsinh), one("acosh", np.arccosh, inputs=between(1.1, 5)),
    one("atanh", np.arctanh, inputs=between(-0.9, 0.9)), one("sigmoid", lambda x: 1 / (1 + np.exp(-x))), one("erf", ERF),
]  # fmt: skip


def halves(rng, shape, dtype):
    """Halves, most of which are as near to two integers."""
    return rng.integers(-9, 9, shape) / 2


HALVES = [Input("n", 7, make=halves)]


def special(rng, shape, dtype):
    """Numbers, infinities and NaN; of integers only numbers."""
    if not dtype.startswith("float"):
        return rng.integers(0, 5, shape)
    return rng.choice([0, -1.5, np.inf, -np.inf, np.nan], shape)


SPECIAL = [Input("n", 7, make=special)]


def sign(x):
    return np.sign(x) if x.dtype != "bool" else x


def popcount(x):
    bits = np.unpackbits(x[..., None].view("uint8"), axis=-1)
    return bits.reshape(*x.shape, 8 * x.itemsize).sum(-1).astype(x.dtype)


EACH = [
    one("floor", np.floor, NUMBERS, HALVES), one("ceil", np.ceil, NUMBERS, HALVES), one("trunc", np.trunc, NUMBERS, HALVES),
    one("round", np.round, NUMBERS, HALVES), one("abs", np.abs, NUMBERS), one("negative", np.negative, NUMBERS),
    one("sign", sign, NUMBERS), one("square", np.square, NUMBERS), one("identity", np.copy, ALL),
    one("logical_not", np.logical_not, ALL), one("bitwise_not", np.invert, (*INTS, "bool")),
    one("isnan", np.isnan, FLOATS, SPECIAL), one("isinf", np.isinf, FLOATS, SPECIAL),
    one("isfinite", np.isfinite, FLOATS, SPECIAL), one("popcount", popcount, INTS),
    Case("topi.clip", lambda x: topi.clip(x, 1, 3), lambda x: np.clip(x, 1, 3), X, NUMBERS),
    *(
        Case("topi.cast", lambda x, to=to: topi.cast(x, to), lambda x, to=to: x.astype(to), [Input("n", 7, low=0)], ALL, label=to)
        for to in ALL
    ),
    Case("topi.reinterpret", lambda x: topi.reinterpret(x, "int32"), lambda x: x.view("int32"), X, ("float32", "int32")),
    Case("topi.reinterpret", lambda x: topi.reinterpret(x, "int16"), lambda x: x.view("int16"), X, ("float16",), label="int16"),
]  # fmt: skip


def not_zero(rng, shape, dtype):
    return rng.integers(1, 5, shape) * (1 if dtype.startswith("u") else rng.choice([-1, 1], shape))


DIVISION = [Input("n", 3, 7), Input(3, 1, make=not_zero)]
SHIFT = [Input("n", 7, low=0, high=5), Input(7, low=0, high=4)]


def divide(a, b):
    return a / b if a.dtype.kind == "f" else np.trunc(a / b).astype(a.dtype)


def power(a, b):
    return np.power(a, b)


BOTH = [
    two("add", np.add), two("subtract", np.subtract), two("multiply", np.multiply), two("divide", divide, inputs=DIVISION),
    two("floor_divide", np.floor_divide, inputs=DIVISION, tolerance=1e-2), two("mod", np.mod, INTS, DIVISION),
    two("mod", np.mod, ("float32", "float64"), DIVISION, label="float"), two("fmod", np.fmod, NUMBERS, DIVISION),
    two("power", power, NUMBERS, [Input("n", 7, low=1, high=4), Input(7, low=0, high=4)], tolerance=1e-2),
    two("atan2", np.arctan2, FLOATS), two("logaddexp", np.logaddexp, FLOATS), two("maximum", np.maximum),
    two("minimum", np.minimum), two("equal", np.equal, ALL), two("not_equal", np.not_equal, ALL), two("less", np.less),
    two("less_equal", np.less_equal), two("greater", np.greater), two("greater_equal", np.greater_equal),
    two("logical_and", np.logical_and, ALL), two("logical_or", np.logical_or, ALL), two("logical_xor", np.logical_xor, ALL),
    two("bitwise_and", np.bitwise_and, (*INTS, "bool")), two("bitwise_or", np.bitwise_or, (*INTS, "bool")),
    two("bitwise_xor", np.bitwise_xor, (*INTS, "bool")), two("left_shift", np.left_shift, INTS, SHIFT),
    two("right_shift", np.right_shift, INTS, SHIFT),
    Case("topi.add", lambda x: topi.add(x, 2), lambda x: x + x.dtype.type(2), X, NUMBERS, label="number"),
    Case("topi.subtract", lambda x: topi.subtract(5, x), lambda x: x.dtype.type(5) - x, X, NUMBERS, label="number"),
    Case(
        "topi.where", topi.where, np.where, [Input("n", 7, dtype="bool"), Input("n", 7), Input(7)], ALL,
    ),
    Case(
        "topi.broadcast_to", lambda x: topi.broadcast_to(x, [x.shape[0], 3, 7]),
        lambda x: np.broadcast_to(x, (x.shape[0], 3, 7)), [Input("n", 1, 7)], ALL,
    ),
]  # fmt: skip

CASES = [*MATH, *EACH, *BOTH]
