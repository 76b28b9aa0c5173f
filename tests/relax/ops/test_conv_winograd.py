"""nn.conv2d_winograd with transformed weights, against sums in order."""

import numpy as np
import pytest
from op_testing import run_op
from winograd_testing import convolution, transformed

from tilewright.testing import whole_numbers

SHAPES = pytest.mark.parametrize(
    ("shape", "outputs", "padding"),
    [
        ((1, 5, 7, 3), 9, (1, 1, 1, 1)),
        ((2, 4, 6, 5), 7, (0, 0, 0, 0)),
        ((1, 3, 3, 1), 1, (0, 0, 0, 0)),
        ((3, 1, 1, 17), 5, (1, 1, 1, 1)),
        ((1, 13, 127, 16), 33, (2, 0, 1, 3)),
        ((1, 112, 112, 33), 34, (1, 1, 1, 1)),  # in strips
    ],
)


@SHAPES
def test_operator(shape, outputs, padding):
    x, w = whole_numbers(shape), whole_numbers((3, 3, shape[3], outputs))
    result = run_op("nn.conv2d_winograd", x, transformed(w), opt_level=2, padding=list(padding))
    np.testing.assert_array_equal(result, convolution(x, w, padding))


@SHAPES
@pytest.mark.parametrize("opt_level", [0, 2])
def test_operator_with_tiles_of_four(shape, outputs, padding, opt_level):
    x, w = whole_numbers(shape), whole_numbers((3, 3, shape[3], outputs))
    weight = transformed(w.astype("float64"), 4).astype("float32")
    result = run_op("nn.conv2d_winograd", x, weight, opt_level=opt_level, padding=list(padding))
    expected = convolution(x, w, padding)
    np.testing.assert_allclose(result, expected, rtol=0, atol=4e-6 * max(np.abs(expected).max(), 1))
