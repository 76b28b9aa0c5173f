"""Elementwise operators of one tensor, against numpy."""

import numpy as np
import pytest
from op_data import MASK, ROW, WHOLE, X
from op_testing import check_op

import tilewright

UNIT = np.linspace(-0.9, 0.9, 127, dtype="float32")
erf = np.vectorize(__import__("math").erf)
f32, i32, i64 = np.float32, np.int32, np.int64


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "sigmoid": sigmoid,
    "erf": lambda x: erf(x).astype(f32),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "trunc": np.trunc,
    "abs": np.abs,
    "negative": np.negative,
    "sign": np.sign,
    "square": np.square,
    "logical_not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "nn.relu": lambda x: np.maximum(x, 0),
    "nn.relu6": lambda x: np.clip(x, 0, 6),
    "nn.silu": lambda x: x * sigmoid(x),
    "nn.gelu": lambda x: (x * 0.5 * (1 + erf(x / np.sqrt(2)))).astype(f32),
    "nn.gelu_tanh": lambda x: (
        x * f32(0.5) * (1 + np.tanh(f32(np.sqrt(2 / np.pi)) * (x + f32(0.044715) * x**3)))
    ),
    "nn.selu": lambda x: f32(1.0507009873554805) * np.where(x > 0, x, f32(1.6732632423543772) * np.expm1(x)),
    "nn.softplus": lambda x: np.log1p(np.exp(x)),
    "wrap_param": lambda x: x,
}
POSITIVE = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}
OF_INTEGERS = ["abs", "negative", "sign", "square", "floor", "round", "logical_not", "isnan", "isfinite"]


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    check_op(name, [UNIT], {}, UNARY[name](UNIT))


@pytest.mark.parametrize("name", POSITIVE)
def test_unary_of_positive(name):
    x = np.abs(X) + f32(0.25)
    check_op(name, [x], {}, POSITIVE[name](x))
    check_op("acosh", [x + 1], {}, np.arccosh(x + 1))


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_unary_of_integers(name):
    check_op(
        name,
        [WHOLE],
        {},
        UNARY[name](WHOLE).astype(WHOLE.dtype) if name in OF_INTEGERS[:6] else UNARY[name](WHOLE),
    )


def test_bits_and_casts():
    check_op("bitwise_not", [WHOLE], {}, ~WHOLE)
    check_op("bitwise_not", [MASK], {}, ~MASK)
    check_op("astype", [X], {"dtype": "int64"}, X.astype("int64"))
    check_op("clip", [X, -0.5, 0.25], {}, np.clip(X, f32(-0.5), f32(0.25)))
    check_op("clip", [WHOLE, -3, 4], {}, np.clip(WHOLE, -3, 4))
    check_op("nn.leakyrelu", [X], {"alpha": 0.5}, np.where(X > 0, X, X / 2))
    check_op("nn.softplus", [X * 9], {"beta": 3.0, "threshold": 5.0}, np.log1p(np.exp(X * 27)) / 3, rtol=1e-2)
    slope = np.abs(ROW)
    check_op("nn.prelu", [X, slope], {"axis": 1}, np.where(X > 0, X, X * slope))


def test_bits_as_another_dtype():
    check_op("bitcast", [X], {"dtype": "int32"}, X.view("int32"))
    check_op("bitcast", [X.astype("float16")], {"dtype": "uint16"}, X.astype("float16").view("uint16"))
    with pytest.raises(tilewright.UserError) as refused:
        check_op("bitcast", [X], {"dtype": "int64"}, X)
    assert (
        f"bitcast: x is float32[{', '.join(map(str, X.shape))}], whose elements do not have as many bits as int64"
        in (str(refused.value))
    )
