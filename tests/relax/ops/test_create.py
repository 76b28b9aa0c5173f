"""Tensors from nothing, against numpy."""

import numpy as np
from op_data import CUBE, WHOLE, X
from op_testing import check_op


def test_creation():
    one = np.array(3, "int32")
    check_op("full", [(5, 7), one], {"dtype": "float32"}, np.full((5, 7), 3, "float32"))
    check_op("full_like", [X, one], {"dtype": "int32"}, np.full((5, 7), 3, "int32"))
    check_op("zeros_like", [X], {}, np.zeros_like(X))
    check_op("ones_like", [WHOLE], {"dtype": "float64"}, np.ones((5, 7)))
    check_op("tril", [CUBE], {"k": -1}, np.tril(CUBE, -1))
    check_op("triu", [CUBE], {"k": 2}, np.triu(CUBE, 2))
    check_op("eye_like", [X], {"k": 1}, np.eye(5, 7, 1, "float32"))


def test_creation_from_nothing():
    check_op("zeros", [(5,)], {"dtype": "int32"}, np.zeros(5, "int32"))
    check_op("ones", [(5, 7)], {"dtype": "float32"}, np.ones((5, 7), "float32"))
    check_op("arange", [2, 127, 5], {"dtype": "int64"}, np.arange(2, 127, 5))
    check_op("eye", [5, 7], {"k": -2, "dtype": "int32"}, np.eye(5, 7, -2, "int32"))
    check_op("eye", [5], {}, np.eye(5, dtype="float32"))
    check_op("hamming_window", [127], {"periodic": False}, np.hamming(127).astype("float32"))
    check_op("hamming_window", [7], {}, np.hamming(8)[:7].astype("float32"))
