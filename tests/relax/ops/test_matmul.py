"""matmul: every combination of ranks, batches that broadcast, open extents and sums of another dtype, against numpy."""

import numpy as np
import pytest
from op_testing import check_op, run_op

import tilewright

RNG = np.random.default_rng(4)
SHAPES = [
    ((7,), (7,)),
    ((7,), (7, 5)),
    ((5, 7), (7,)),
    ((5, 7), (7, 127)),
    ((3, 5, 7), (7, 2)),
    ((5, 7), (3, 7, 2)),
    ((3, 1, 5, 7), (2, 7, 4)),
    ((7,), (3, 7, 2)),
    ((3, 5, 7), (7,)),
    ((1, 1), (1, 1)),
]


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_ranks_and_batches(left, right):
    x, y = RNG.integers(-3, 4, left).astype("float32"), RNG.integers(-3, 4, right).astype("float32")
    check_op("matmul", [x, y], {}, x @ y)


def test_integers():
    x, y = RNG.integers(-9, 9, (5, 7)).astype("int32"), RNG.integers(-9, 9, (7, 3)).astype("int32")
    check_op("matmul", [x, y], {}, x @ y)


def test_sums_of_another_dtype():
    x, y = RNG.integers(-128, 128, (5, 127)).astype("int8"), RNG.integers(-128, 128, (127, 3)).astype("int8")
    check_op("matmul", [x, y], {"out_dtype": "int32"}, x.astype("int32") @ y.astype("int32"))


def test_open_extents():
    x, y = RNG.integers(-3, 4, (5, 7)).astype("float32"), RNG.integers(-3, 4, (7, 11)).astype("float32")
    check_op("matmul", [x, y], {}, x @ y, symbols=(5, 7, 11))


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ((5, 7), (6, 3), "x1 is [5, 7], x2 is [6, 3]: contracted lengths 7 and 6 differ"),
        (
            (2, 5, 7),
            (3, 7, 4),
            "the shapes [2] and [3] do not broadcast: 2 against 3 in dimension 1 from the end",
        ),
        ((), (7,), "x1 is a scalar; use multiply"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(left, right, text):
    with pytest.raises(tilewright.UserError) as error:
        run_op("matmul", np.zeros(left, "float32"), np.zeros(right, "float32"))
    assert str(error.value) == f"error: matmul: {text}"
