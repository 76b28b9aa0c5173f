"""Determinants and inverses, against numpy."""

import numpy as np
import pytest
from op_testing import check_op

RNG = np.random.default_rng(6)


@pytest.mark.parametrize("shape", [(5, 5), (1, 1), (2, 3, 7, 7), (0, 5, 5), (2, 0, 0)])
def test_determinants(shape):
    x = RNG.standard_normal(shape)
    wanted = np.asarray(np.linalg.det(x))
    check_op("det", [x], {}, wanted)
    check_op("det", [x.astype("float32")], {}, wanted.astype("float32"), rtol=1e-4, atol=1e-4)


def test_rows_are_exchanged():
    check_op("det", [np.array([[0, 2], [3, 1]], "float32")], {}, np.float32(-6))
    check_op("det", [np.array([[0, 0], [3, 1]], "float32")], {}, np.float32(0))


@pytest.mark.parametrize("shape", [(5, 5), (1, 1), (2, 3, 7, 7), (0, 5, 5), (2, 0, 0)])
def test_inverses(shape):
    x = RNG.standard_normal(shape)
    check_op("inverse", [x], {}, np.linalg.inv(x), rtol=1e-8, atol=1e-8)
    check_op("inverse", [x.astype("float32")], {}, np.linalg.inv(x).astype("float32"), rtol=1e-3, atol=1e-3)


def test_rows_are_exchanged_for_an_inverse():
    check_op(
        "inverse",
        [np.array([[0, 2], [4, 1]], "float32")],
        {},
        np.array([[-0.125, 0.25], [0.5, 0]], "float32"),
    )
