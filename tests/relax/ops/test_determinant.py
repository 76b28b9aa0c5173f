"""Determinants, against numpy."""

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
