"""Cases of layers of networks, topi.nn, against numpy."""

import math

import numpy as np
from topi.table import FLOATS, NUMBERS, Case, Input

from tilewright import topi

nn = topi.nn
X = [Input("n", 5, 7)]
ERF = np.vectorize(math.erf, otypes=["float64"])


def windows(x, size: int, step: int, around: int = 0, value=0.0):
    """The windows [.., rows, columns, size, size] of pictures."""
    padded = np.pad(
        x.astype("float64"), ((0, 0), (0, 0), (around, around), (around, around)), constant_values=value
    )
    return np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))[:, :, ::step, ::step]


def conv(x, w):
    return np.einsum("ncyxhw,ochw->noyx", windows(x, 3, 2, 1), w.astype("float64"))


def softmax(x):
    exp = np.exp(x.astype("float64") - x.max(1, keepdims=True))
    return exp / exp.sum(1, keepdims=True)


CASES = [
    Case("topi.nn.relu", nn.relu, lambda x: np.maximum(x, 0), X, NUMBERS),
    Case("topi.nn.leaky_relu", lambda x: nn.leaky_relu(x, 0.5), lambda x: np.where(x > 0, x, 0.5 * x), X, FLOATS),
    Case("topi.nn.gelu", nn.gelu, lambda x: x / 2 * (1 + ERF(x / 2**0.5)), X, FLOATS),
    Case("topi.nn.silu", nn.silu, lambda x: x / (1 + np.exp(-x)), X, FLOATS),
    Case("topi.nn.softmax", lambda x: nn.softmax(x, 1), softmax, X, FLOATS),
    Case("topi.nn.log_softmax", lambda x: nn.log_softmax(x, 1), lambda x: np.log(softmax(x)), X, FLOATS, tolerance=1e-2),
    Case(
        "topi.nn.matmul", nn.matmul, lambda a, b: a.astype("float64") @ b, [Input("n", 7, low=-1, high=2), Input(7, 3, low=-1, high=2)], FLOATS,
    ),
    Case(
        "topi.nn.dense", nn.dense, lambda x, w, b: x.astype("float64") @ w.T + b,
        [Input("n", 7, low=-1, high=2), Input(3, 7, low=-1, high=2), Input(3)], FLOATS,
    ),
    Case(
        "topi.nn.pad", lambda x: nn.pad(x, (0, 1, 2), (0, 0, 3), 1),
        lambda x: np.pad(x, ((0, 0), (1, 0), (2, 3)), constant_values=1), X, (*NUMBERS, "bool"),
    ),
    Case(
        "topi.nn.conv2d", lambda x, w: nn.conv2d(x, w, 2, 1), conv,
        [Input("n", 2, 5, 7, low=-1, high=2), Input(3, 2, 3, 3, low=-1, high=2)], FLOATS,
    ),
    Case(
        "topi.nn.pool2d", lambda x: nn.pool2d(x, 2, 2), lambda x: windows(x, 2, 2).max((-1, -2)),
        [Input("n", 2, 5, 7)], FLOATS,
    ),
    Case(
        "topi.nn.pool2d", lambda x: nn.pool2d(x, 3, 1, 1, 1, "avg"), lambda x: windows(x, 3, 1, 1).mean((-1, -2)),
        [Input("n", 2, 5, 7)], FLOATS, label="avg",
    ),
]  # fmt: skip
