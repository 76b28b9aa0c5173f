"""Normalizations."""

import numpy as np
import torch.nn.functional as F
from topi.references import of_torch, small
from topi.table import FLOATS, Case, Input

from tilewright import topi

nn = topi.nn
IMAGE = [small("n", 4, 5, 3)]
C = Input(4, low=0.5, high=2)


def normalized(x, axes, epsilon=1e-5):
    x = x.astype("float64")
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def per_channel(x):
    return x.astype("float64").reshape(-1, 1, 1)


def batch(x, gamma, beta, mean, variance):
    gamma, beta, mean, variance = (per_channel(each) for each in (gamma, beta, mean, variance))
    return (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta


def trained(x, gamma, beta, mean, variance):
    wide = x.astype("float64")
    moved = [
        0.75 * old + 0.25 * now
        for old, now in ((mean, wide.mean((0, 2, 3))), (variance, wide.var((0, 2, 3))))
    ]
    return [normalized(x, (0, 2, 3)) * per_channel(gamma) + per_channel(beta), *moved]


def local_response(x, size=3, alpha=1e-4, beta=0.75, bias=2.0):
    squares = np.pad(x.astype("float64") ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    around = sum(squares[:, n : n + x.shape[1]] for n in range(size))
    return x / (bias + alpha / size * around) ** beta


def unit(x, axes, eps):
    squares = (x.astype("float64") ** 2).sum(axes, keepdims=True)
    return x / np.sqrt(np.maximum(squares, eps))


CASES = [
    Case("topi.nn.batch_norm", lambda *x: nn.batch_norm(*x)[0], batch, [*IMAGE, C, C, C, C], FLOATS),
    Case(
        "topi.nn.batch_norm",
        lambda *x: nn.batch_norm(*x, training=True, momentum=0.25),
        trained,
        [*IMAGE, C, C, C, C],
        ("float32", "float64"),
        label="training",
        is_empty=False,
        tolerance=1e-4,
    ),
    Case(
        "topi.nn.layer_norm",
        lambda x, g, b: nn.layer_norm(x, g, b, (1, 3)),
        lambda x, g, b: normalized(x, (1, 3)) * g[:, None] + b[:, None],
        [*IMAGE, small(4, 3), small(4, 3)],
        FLOATS,
        tolerance=1e-2,
    ),
    Case(
        "topi.nn.layer_norm",
        lambda x: nn.layer_norm(x, None, None, -1),
        lambda x: normalized(x, -1),
        IMAGE,
        FLOATS,
        label="plain",
        tolerance=1e-2,
    ),
    Case(
        "topi.nn.group_norm",
        lambda x, g, b: nn.group_norm(x, g, b, 2, 1, (2, 3)),
        of_torch(lambda x, g, b: F.group_norm(x, 2, g, b)),
        [*IMAGE, C, C],
        FLOATS,
        is_empty=False,
        tolerance=1e-2,
    ),
    Case(
        "topi.nn.instance_norm",
        lambda x, g, b: nn.instance_norm(x, g, b, 1, (2, 3)),
        of_torch(lambda x, g, b: F.instance_norm(x, weight=g, bias=b)),
        [*IMAGE, C, C],
        FLOATS,
        is_empty=False,
        tolerance=1e-2,
    ),
    Case(
        "topi.nn.rms_norm",
        lambda x, w: nn.rms_norm(x, w, -1),
        of_torch(lambda x, w: F.rms_norm(x, (3,), w, 1e-5)),
        [*IMAGE, small(3)],
        FLOATS,
    ),
    Case("topi.nn.lrn", lambda x: nn.lrn(x, 3), local_response, IMAGE, FLOATS),
    Case(
        "topi.nn.lrn",
        lambda x: nn.lrn(x, 3, axis=3),
        lambda x: np.moveaxis(local_response(np.moveaxis(x, 3, 1)), 1, 3),
        IMAGE,
        FLOATS,
        label="last",
    ),
    Case(
        "topi.nn.l2_normalize",
        lambda x: nn.l2_normalize(x, 1e-3, (1, -1)),
        lambda x: unit(x, (1, 3), 1e-3),
        IMAGE,
        FLOATS,
    ),
    Case(
        "topi.nn.l2_normalize",
        lambda x: nn.l2_normalize(x, 1e-3),
        lambda x: unit(x, (0, 1, 2, 3), 1e-3),
        IMAGE,
        ("float32", "float64"),
        label="all",
    ),
    Case(
        "topi.nn.scale_shift",
        nn.scale_shift,
        lambda x, a, b: x * a.reshape(-1, 1, 1) + b.reshape(-1, 1, 1),
        [*IMAGE, C, C],
        FLOATS,
    ),
    Case(
        "topi.nn.scale_shift",
        lambda x, a, b: nn.scale_shift(x, a, b, -1),
        lambda x, a, b: x * a + b,
        [*IMAGE, Input(3), Input(3)],
        (*FLOATS, "int32"),
        label="last",
    ),
]
