"""einsum, outer and linear, against numpy."""

import numpy as np
from op_data import CUBE, LONG, ROW, X, Y
from op_testing import check_op


def test_einsum():
    check_op("einsum", [[X, Y]], {"subscripts": "ij,kj->ik"}, X @ Y.T, atol=1e-5)
    check_op("einsum", [[CUBE, ROW]], {"subscripts": "abc,c"}, np.einsum("abc,c", CUBE, ROW), atol=1e-5)
    check_op("einsum", [[X[:, :5].copy()]], {"subscripts": "ii->"}, np.einsum("ii->", X[:, :5]))
    check_op("outer", [ROW, LONG], {}, np.outer(ROW, LONG))
    check_op("linear", [CUBE, X, X[:, 0].copy()], {}, CUBE @ X.T + X[:, 0], atol=1e-5)
    check_op("linear", [CUBE, X], {}, CUBE @ X.T, atol=1e-5)
