"""The kernels of operators on a device of OpenCL, against those of the CPU."""

import numpy as np
import pytest
from gpu_checking import kernels, operator
from gpu_operators import PRODUCTS, ROWS, N

import tilewright

pytestmark = pytest.mark.skipif(not tilewright.opencl(0).exist, reason="no device of OpenCL")


def extents(shape, n):
    return [n if each is N else each for each in shape]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("softmax", (5, 127)),
        ("argmax", (5,)),
        ("sum_of_columns", (5,)),
        ("matmul", (37, 45)),
        ("matmul_relu_open", (7, 45)),
        ("matmul_of_open_batches", (7, 37, 45)),
        ("row_by_matrix", (1, 45)),
        ("conv_relu", (2, 17, 9, 9)),
        ("conv_last_open", (7, 9, 9, 17)),
    ],
)
def test_the_numbers_are_those_of_the_cpu(name, shape):
    function, *arguments = (ROWS | PRODUCTS)[name]
    ((_, func),) = kernels(operator(function, *arguments))
    rng = np.random.default_rng(0)
    inputs = [rng.random(extents(each, 7), dtype="float32") for each in arguments]
    dtype = "int64" if name == "argmax" else "float32"
    found = []
    for target, device in (("llvm", tilewright.cpu(0)), ("opencl", tilewright.opencl(0))):
        result = tilewright.tensor(np.zeros(shape, dtype), device)
        tilewright.build(func, target)["main"](*[tilewright.tensor(x, device) for x in inputs], result)
        found.append(result.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4, atol=1e-5)
