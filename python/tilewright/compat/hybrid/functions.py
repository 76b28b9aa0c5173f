"""The functions that a hybrid script may call: as Python on numpy arrays, and on expressions."""

import math

import numpy

from tilewright import tir

_DTYPES = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
)
_LOOPS = ("serial", "parallel", "vectorized", "vectorize", "unroll", "const_range")


def _plain_bind(tag, extent):
    return range(extent)


def _plain_tensor(shape, dtype="float32", scope="global"):
    return numpy.zeros(shape, dtype)


def _gamma(value):
    return 1 / (1 + numpy.exp(-value))


#: name: the function that runs where the script is called with numpy arrays
PLAIN = {
    **dict.fromkeys(_LOOPS, range),
    "bind": _plain_bind,
    "allocate": _plain_tensor,
    "output_tensor": _plain_tensor,
    "max_num_threads": lambda allow_none=True: 1,
    "likely": lambda condition: condition,
    "sqrt": numpy.sqrt,
    "rsqrt": lambda value: 1 / numpy.sqrt(value),
    "log": numpy.log,
    "exp": numpy.exp,
    "tanh": numpy.tanh,
    "sin": numpy.sin,
    "cos": numpy.cos,
    "floor": numpy.floor,
    "ceil": numpy.ceil,
    "sigmoid": _gamma,
    "power": numpy.power,
    "round": round,
    "ceil_div": lambda a, b: -(-a // b),
    "popcount": lambda value: bin(value).count("1"),
    **{dtype: numpy.dtype(dtype).type for dtype in _DTYPES},
}

_MATH = ("sqrt", "rsqrt", "log", "exp", "tanh", "sin", "cos", "floor", "ceil", "sigmoid", "round", "popcount")


def _folded(name: str):
    """tir's function `name`; of a number, the number."""
    symbolic, plain = getattr(tir, name), PLAIN[name]

    def function(value):
        return plain(value) if isinstance(value, int | float) else symbolic(value)

    return function


def _cast(dtype: str):
    return lambda value: tir.const(value, dtype) if isinstance(value, int | float) else value.astype(dtype)


def _larger(a, b):
    return max(a, b) if _are_numbers(a, b) else tir.max(tir.const_like(a, b), tir.const_like(b, a))


def _smaller(a, b):
    return min(a, b) if _are_numbers(a, b) else tir.min(tir.const_like(a, b), tir.const_like(b, a))


def _power(a, b):
    return math.pow(a, b) if _are_numbers(a, b) else tir.pow(tir.const_like(a, b), tir.const_like(b, a))


def _ceil_div(a, b):
    return -(-a // b) if _are_numbers(a, b) else (a + (b - 1)) // b


def _are_numbers(*values) -> bool:
    return all(isinstance(value, int | float) for value in values)


#: name: the function of expressions
SYMBOLIC = {
    **{name: _folded(name) for name in _MATH},
    **{dtype: _cast(dtype) for dtype in _DTYPES},
    "max": _larger,
    "min": _smaller,
    "power": _power,
    "pow": _power,
    "ceil_div": _ceil_div,
    "abs": lambda value: abs(value) if _are_numbers(value) else tir.abs(value),
    "likely": lambda condition: condition if isinstance(condition, bool) else tir.likely(condition),
    "max_num_threads": lambda allow_none=True: 1024,
    "len": lambda value: value.shape[0],
}
#: name: how its loop runs
LOOPS = {
    "range": "serial",
    "serial": "serial",
    "parallel": "parallel",
    "vectorized": "vectorized",
    "vectorize": "vectorized",
    "unroll": "unrolled",
    "const_range": "const",
    "bind": "thread_binding",
}
