"""Det and Einsum."""

import numpy as np
import pytest
from onnx_peer import check_open, some


@pytest.mark.parametrize("shape", [(5, 5), (3, 1, 1), (2, 3, 7, 7), (0, 5, 5), (3, 0, 0)])
def test_determinants(shape):
    x = some(*shape)
    wanted = np.asarray(np.linalg.det(x.astype("float64")))
    check_open("Det", [x], expected=[wanted.astype("float32")], rtol=1e-4)
    check_open("Det", [x.astype("float64")], expected=[wanted], rtol=1e-5)
    check_open("Det", [x.astype("float16")], expected=[wanted.astype("float16")], rtol=2e-2, atol=2e-2)


def test_a_matrix_without_inverse():
    check_open("Det", [np.array([[1, 2], [2, 4]], "float32")], expected=[np.float32(0)])


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ii->...i", [(3, 2, 5, 5)]),
        ("...ii", [(3, 5, 5)]),
        ("b...,b...->...", [(3, 5, 7), (3, 5, 7)]),
        ("...ij, ...jk -> ...ik", [(2, 1, 5, 7), (3, 7, 2)]),
        ("i...->...", [(5, 3)]),
        ("ij,jk", [(5, 7), (7, 3)]),
        ("...,...", [(3, 5), (5,)]),
        ("ii", [(5, 5)]),
    ],
)
def test_einsum(equation, shapes):
    arrays = [some(*shape) for shape in shapes]
    wanted = np.einsum(equation.replace(" ", ""), *arrays)
    found = check_open("Einsum", arrays, equation=equation, expected=[wanted], rtol=1e-4, atol=1e-4)
    assert found[0].size > 0
