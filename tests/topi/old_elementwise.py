"""Cases of spellings of TVM for functions of each element."""

import math

import numpy as np
from topi.table import FLOATS, INTS, NUMBERS, Case, Input
from tvm import te, topi

X = [Input("n", 7)]
TWO = [Input("n", 3, 7), Input(3, 1)]


def not_zero(rng, shape, dtype):
    return rng.integers(1, 5, shape) * (1 if dtype.startswith("u") else rng.choice([-1, 1], shape))


def rounded_product(x):
    """x * 1395864371 / 2**31 * 2**2, rounded half up."""
    whole = x.astype("int64") * 1395864371 * 4
    return ((whole + (1 << 30)) >> 31).astype("int32")


def exponents(x):
    return np.ceil(np.log2(x.astype("float64"))).astype(x.dtype)


POSITIVE = [Input("n", 7, low=1, high=100)]
DIVISION = [Input("n", 3, 7), Input(3, 1, make=not_zero)]
CASES = [
    Case("tvm.topi.fast_exp", topi.fast_exp, np.exp, X, FLOATS),
    Case("tvm.topi.math.fast_tanh", topi.math.fast_tanh, np.tanh, X, FLOATS),
    Case("tvm.topi.fast_erf", topi.fast_erf, np.vectorize(math.erf, otypes=["float64"]), X, FLOATS),
    Case(
        "tvm.topi.fixed_point_multiply", lambda x: topi.fixed_point_multiply(x, 1395864371, 2), rounded_product,
        [Input("n", 7, low=-1000, high=1000)], ("int32",),
    ),
    Case(
        "tvm.topi.fixed_point_multiply_per_axis", lambda x, y, l, r: topi.fixed_point_multiply_per_axis(x, y, l, r, 1, 1, [1]),
        lambda x, y, l, r: np.floor(x * 2.0**l * y / 2**31 / 2.0**r + 0.5).astype("int32"),
        [Input("n", 7, low=-1000, high=1000), Input(7, low=1 << 30, high=1 << 31), Input(7, low=0, high=3), Input(7, low=0, high=3)], ("int32",),
    ),
    Case("tvm.topi.ceil_log2", topi.ceil_log2, exponents, POSITIVE, ("float32", "float64", "int32", "int64")),
    Case("tvm.topi.elemwise_sum", lambda a, b: topi.elemwise_sum([a, b, a]), lambda a, b: a + b + a, X * 2, NUMBERS),
    Case(
        "tvm.topi.full", lambda x, v: topi.full(x.shape, x.dtype, v), lambda x, v: np.full_like(x, v), [*X, Input()], NUMBERS, by_stages=False,
    ),
    Case("tvm.topi.tensor.full_like", lambda x: topi.tensor.full_like(x, 3), lambda x: np.full_like(x, 3), X, NUMBERS, by_stages=False),
    Case("tvm.topi.mod", topi.mod, np.fmod, DIVISION, NUMBERS),
    Case("tvm.topi.floor_mod", topi.floor_mod, np.mod, DIVISION, INTS),
    Case("tvm.topi.log_add_exp", topi.log_add_exp, np.logaddexp, TWO, FLOATS),
    Case("tvm.topi.broadcast.add", lambda a, b: topi.broadcast.add(a, b), np.add, TWO, NUMBERS),
    Case(
        "tvm.topi.add", lambda x: te.compute(x.shape, lambda i, j: x[i, j] + te.const(1, x.dtype) * topi.add(topi.multiply(2, 3), 1).value),
        lambda x: x + x.dtype.type(7), X, ("float32", "int32"), label="numbers",
    ),
]  # fmt: skip
