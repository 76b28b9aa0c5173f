"""Pooling, against torch."""

import torch
import torch.nn.functional as F
from topi.references import channels_last, of_torch, small
from topi.table import FLOATS, SIGNED, Case, Input

from tilewright import topi

nn = topi.nn
LINE, IMAGE, VOLUME = [small("n", 3, 9)], [small("n", 3, 7, 5)], [small("n", 2, 5, 4, 3)]
DTYPES = (*FLOATS, *SIGNED)


def largest(count, *args, **options):
    return of_torch(lambda x: (F.max_pool1d, F.max_pool2d, F.max_pool3d)[count - 1](x, *args, **options))


def mean(count, *args, **options):
    return of_torch(lambda x: (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[count - 1](x, *args, **options))


def gradient(function):
    def reference(grads, data):
        x = torch.from_numpy(data.astype("float64")).requires_grad_()
        function(x).backward(torch.from_numpy(grads.astype("float64")))
        return x.grad.numpy()

    return reference


CASES = [
    Case("topi.nn.pool1d", lambda x: nn.pool1d(x, 3, 2, 2, 1), largest(1, 3, 2, 1, 2), LINE, DTYPES),
    Case(
        "topi.nn.pool1d",
        lambda x: nn.pool1d(x, 3, 2, 1, 1, "avg"),
        mean(1, 3, 2, 1),
        LINE,
        FLOATS,
        label="avg",
    ),
    Case(
        "topi.nn.pool2d",
        lambda x: nn.pool2d(x, (3, 2), 2, 1, 1, ceil_mode=True),
        largest(2, (3, 2), 2, 1, ceil_mode=True),
        IMAGE,
        DTYPES,
    ),
    Case(
        "topi.nn.pool2d",
        lambda x: nn.pool2d(x, 3, 2, 1, 1, "avg", count_include_pad=False),
        mean(2, 3, 2, 1, count_include_pad=False),
        IMAGE,
        FLOATS,
        label="avg",
    ),
    Case(
        "topi.nn.pool2d",
        lambda x: nn.pool2d(x, 2, 1, layout="NHWC"),
        channels_last(largest(2, 2, 1)),
        [small("n", 7, 5, 3)],
        FLOATS,
        label="nhwc",
    ),
    Case("topi.nn.pool3d", lambda x: nn.pool3d(x, 2, 1), largest(3, 2, 1), VOLUME, DTYPES),
    Case(
        "topi.nn.pool3d",
        lambda x: nn.pool3d(x, 2, 1, pool_type="avg"),
        mean(3, 2, 1),
        VOLUME,
        FLOATS,
        label="avg",
    ),
    Case(
        "topi.nn.pool_grad",
        lambda g, x: nn.pool_grad(g, x, 2, 2),
        gradient(lambda x: F.max_pool2d(x, 2, 2)),
        [small("n", 3, 3, 2), Input("n", 3, 7, 5)],
        ("float32", "float64"),
    ),
    Case(
        "topi.nn.pool_grad",
        lambda g, x: nn.pool_grad(g, x, 3, 2, 1, "avg"),
        gradient(lambda x: F.avg_pool2d(x, 3, 2, 1)),
        [small("n", 3, 4, 3), small("n", 3, 7, 5)],
        ("float32", "float64"),
        label="avg",
    ),
    Case(
        "topi.nn.global_pool",
        lambda x: nn.global_pool(x, "max"),
        lambda x: x.max((2, 3), keepdims=True),
        IMAGE,
        DTYPES,
    ),
    Case(
        "topi.nn.global_pool",
        lambda x: nn.global_pool(x, "avg", "NHWC"),
        lambda x: x.mean((1, 2), keepdims=True, dtype="float64"),
        [small("n", 7, 5, 3)],
        FLOATS,
        label="avg",
    ),
    *(
        Case(
            f"topi.nn.adaptive_pool{count}d",
            lambda x, c=count, k=kind: getattr(nn, f"adaptive_pool{c}d")(x, (2, 3, 2)[:c], k),
            of_torch(lambda x, c=count, k=kind: getattr(F, f"adaptive_{k}_pool{c}d")(x, (2, 3, 2)[:c])),
            data,
            FLOATS,
            label=kind,
        )
        for count, data in ((1, LINE), (2, IMAGE), (3, VOLUME))
        for kind in ("max", "avg")
    ),
    Case(
        "topi.nn.adaptive_pool2d",
        lambda x: nn.adaptive_pool2d(x, 1, "max", "NHWC"),
        lambda x: x.max((1, 2), keepdims=True),
        [small("n", 7, 5, 3)],
        SIGNED,
        label="one",
    ),
]
