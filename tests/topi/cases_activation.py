"""Activations and softmax."""

import numpy as np
import torch
import torch.nn.functional as F
from topi.references import of_torch
from topi.table import FLOATS, NUMBERS, Case, Input

from tilewright import topi

nn = topi.nn
X = [Input("n", 7, 3)]


def slopes(axis, x, slope):
    spread = slope.reshape([-1 if n == axis else 1 for n in range(x.ndim)])
    return np.where(x > 0, x, x * spread)


CASES = [
    Case("topi.nn.relu", nn.relu, lambda x: np.maximum(x, np.zeros_like(x)), X, NUMBERS),
    Case(
        "topi.nn.leaky_relu",
        lambda x: nn.leaky_relu(x, 0.25),
        lambda x: np.where(x > 0, x, x * x.dtype.type(0.25)),
        X,
        FLOATS,
    ),
    Case("topi.nn.prelu", nn.prelu, lambda x, s: slopes(1, x, s), [*X, Input(7)], NUMBERS),
    Case(
        "topi.nn.prelu",
        lambda x, s: nn.prelu(x, s, axis=-1),
        lambda x, s: slopes(2, x, s),
        [*X, Input(3)],
        FLOATS,
        label="last",
    ),
    Case("topi.nn.gelu", nn.gelu, of_torch(F.gelu), X, FLOATS),
    Case("topi.nn.silu", nn.silu, of_torch(F.silu), X, FLOATS),
    *(
        Case(
            f"topi.nn.{name}",
            lambda x, f=getattr(nn, name), a=axis: f(x, a),
            of_torch(lambda x, f=known, a=axis: f(x, a)),
            X,
            FLOATS,
            label=f"axis{axis}",
        )
        for name, known in (
            ("softmax", torch.softmax),
            ("fast_softmax", torch.softmax),
            ("log_softmax", torch.log_softmax),
        )
        for axis in (-1, 1)
    ),
]
