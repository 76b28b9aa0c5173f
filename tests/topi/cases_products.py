"""Matrix products and losses."""

import numpy as np
import torch
import torch.nn.functional as F
from topi.references import small
from topi.table import FLOATS, NUMBERS, Case, Input

from tilewright import topi

nn = topi.nn


def wide(function):
    """Summed in float64, or whole numbers that wrap around."""

    def reference(*arrays):
        kind = arrays[0].dtype
        result = function(*[each.astype("float64" if each.dtype.kind == "f" else "int64") for each in arrays])
        return result if kind.kind == "f" else result.astype(kind)

    return reference


def swap(x):
    return np.swapaxes(x, -1, -2)


def sparse(x, values, places, starts):
    dense = np.zeros((len(starts) - 1, x.shape[1]))
    for row in range(len(starts) - 1):
        for at in range(starts[row], starts[row + 1]):
            dense[row, places[at]] += values[at]
    return x @ dense.T


def loss(reduction, ignored=-100):
    def reference(predictions, targets, weights):
        made = [torch.from_numpy(each.astype("float64")) for each in (predictions, weights)]
        return F.nll_loss(
            made[0],
            torch.from_numpy(targets.astype("int64")),
            made[1],
            reduction=reduction,
            ignore_index=ignored,
        ).numpy()

    return reference


LOSS = [small("n", 5, 3), Input("n", 3, dtype="int32", low=0), Input(5, low=0.5, high=2)]
ROWS = Input(6, dtype="int32", make=lambda rng, shape, dtype: [0, 2, 2, 3, 7, 8])
PLACES = Input(8, dtype="int32", make=lambda rng, shape, dtype: [0, 6, 3, 1, 2, 4, 5, 0])
CASES = [
    Case("topi.nn.matmul", nn.matmul, wide(np.matmul), [small("n", 7), small(7, 3)], NUMBERS),
    Case(
        "topi.nn.matmul",
        lambda a, b: nn.matmul(a, b, "", True, True),
        wide(lambda a, b: a.T @ b.T),
        [small(7, "n"), small(3, 7)],
        NUMBERS,
        label="both",
    ),
    Case(
        "topi.nn.matmul",
        lambda a, b: nn.matmul(a, b, transpose_b=True),
        wide(lambda a, b: a @ swap(b)),
        [small("n", 2, 5, 7), small(2, 3, 7)],
        FLOATS,
        label="batch",
    ),
    Case("topi.nn.dense", nn.dense, wide(lambda x, w: x @ w.T), [small("n", 7), small(3, 7)], NUMBERS),
    Case(
        "topi.nn.dense",
        nn.dense,
        wide(lambda x, w, b: x @ w.T + b),
        [small("n", 7), small(3, 7), small(3)],
        NUMBERS,
        label="bias",
    ),
    Case(
        "topi.nn.dense",
        lambda x, w: nn.dense(x, w, out_dtype="int32"),
        lambda x, w: x.astype("int32") @ w.T.astype("int32"),
        [small("n", 7), small(3, 7, dtype="int8")],
        ("int8", "uint8"),
        label="wide",
    ),
    *(
        Case(
            "topi.nn.batch_matmul",
            lambda a, b, s=turns: nn.batch_matmul(a, b, "", *s),
            wide(lambda a, b, s=turns: (swap(a) if s[0] else a) @ (swap(b) if s[1] else b)),
            [small("n", *((7, 5) if turns[0] else (5, 7))), small("n", *((3, 7) if turns[1] else (7, 3)))],
            NUMBERS,
            label=f"{turns[0]:d}{turns[1]:d}",
        )
        for turns in ((False, True), (True, False), (False, False), (True, True))
    ),
    Case(
        "topi.nn.batch_matmul",
        nn.batch_matmul,
        wide(lambda a, b: a @ swap(b)),
        [small("n", 5, 7), small(1, 3, 7)],
        FLOATS,
        label="one",
    ),
    Case(
        "topi.nn.sparse_dense",
        nn.sparse_dense,
        wide(sparse),
        [small("n", 7), small(8), PLACES, ROWS],
        ("float32", "float64", "int32"),
    ),
    *(
        Case(
            "topi.nn.nll_loss",
            lambda p, t, w, r=reduction: nn.nll_loss(p, t, w, r),
            loss(reduction),
            LOSS,
            ("float32", "float64"),
            label=reduction,
            is_empty=False,
        )
        for reduction in ("mean", "sum", "none")
    ),
    Case(
        "topi.nn.nll_loss",
        lambda p, t, w: nn.nll_loss(p, t, w, "mean", 1),
        loss("mean", 1),
        LOSS,
        ("float32", "float64"),
        label="ignored",
        is_empty=False,
    ),
]
