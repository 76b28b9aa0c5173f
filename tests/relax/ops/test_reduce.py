"""Reductions and cumulative sums, against numpy."""

import numpy as np
import pytest
from op_data import CUBE, MASK, TIES, WHOLE, X
from op_testing import check_op

RNG = np.random.default_rng(5)
BYTES = RNG.integers(0, 255, (127,)).astype("uint8")
REDUCTIONS = {
    "sum": np.sum,
    "prod": np.prod,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "variance": np.var,
    "std": np.std,
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    check_op(name, [CUBE], {}, REDUCTIONS[name](CUBE), atol=1e-5)
    check_op(
        name,
        [CUBE],
        {"axis": [0, -1], "keepdims": True},
        REDUCTIONS[name](CUBE, axis=(0, 2), keepdims=True),
        atol=1e-5,
    )


def test_reductions_of_other_dtypes():
    check_op("sum", [WHOLE], {"axis": [1]}, WHOLE.sum(1, dtype="int32"))
    check_op("max", [BYTES], {}, BYTES.max())
    check_op("any", [MASK], {"axis": [0]}, MASK.any(0))
    check_op("all", [MASK], {"axis": [1]}, MASK.all(1))
    check_op("argmax", [X], {"axis": 1}, X.argmax(1))
    check_op("argmin", [TIES], {"axis": 0, "keepdims": True}, TIES.argmin(0, keepdims=True))
    check_op("argmax", [X], {}, X.argmax())


def test_cumulative():
    check_op("cumsum", [X], {"axis": 1}, X.cumsum(1))
    check_op("cumsum", [WHOLE], {"dtype": "int64"}, WHOLE.cumsum(dtype="int64"))
    check_op("cumprod", [X], {"axis": 0}, X.cumprod(0))
    check_op(
        "cumprod",
        [X],
        {"axis": -1, "exclusive": True},
        np.hstack([np.ones((5, 1), "float32"), X.cumprod(1)[:, :-1]]),
    )
