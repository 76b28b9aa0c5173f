"""Elements that are written at indices, against numpy."""

import numpy as np
import pytest
from op_data import CUBE, ROW, X
from op_testing import check_op

RNG = np.random.default_rng(5)
REDUCE = {"update": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@pytest.mark.parametrize("reduction", REDUCE)
def test_scatter(reduction):
    at = np.array([[0, 6, -1], [2, 2, 2]])
    updates = RNG.standard_normal((2, 3), dtype="float32")
    if reduction == "update":
        at[1] = [2, 3, 4]
    wanted = X.copy()
    for i in range(2):
        for j in range(3):
            old = wanted[i, at[i, j]]
            wanted[i, at[i, j]] = (
                updates[i, j] if reduction == "update" else REDUCE[reduction](old, updates[i, j])
            )
    check_op("scatter_elements", [X, at, updates], {"axis": 1, "reduction": reduction}, wanted)
    rows = np.array([[4], [0]])
    values = RNG.standard_normal((2, 7), dtype="float32")
    wanted = X.copy()
    wanted[rows[:, 0]] = values if reduction == "update" else REDUCE[reduction](X[rows[:, 0]], values)
    check_op("scatter_nd", [X, rows, values], {"reduction": reduction}, wanted)


def test_index_put():
    first, second = np.array([[0], [2]]), np.array([1, 3])
    wanted = CUBE.copy()
    wanted[first, second] = ROW
    check_op("index_put", [CUBE, [first, second], ROW], {}, wanted)
    twice, wanted = np.array([1, 1, -1]), X.copy()
    np.add.at(wanted, twice, ROW)
    check_op("index_put", [X, [twice], ROW], {"accumulate": True}, wanted)
