"""Pools with ceil_mode: the last window starts inside of the data or its padding at the begin."""

import numpy as np
import pytest
from onnx_testing import run_node


@pytest.mark.parametrize(
    ("extent", "window", "stride", "pads", "expected"),
    [(33, 1, 3, 0, 11), (7, 1, 3, 0, 3), (7, 2, 3, 0, 3), (5, 2, 2, 1, 3), (127, 3, 2, 1, 64)],
)
def test_windows_of_ceil_mode_start_inside(extent, window, stride, pads, expected):
    x = np.random.default_rng(0).random((1, 1, extent, extent), dtype="float32")
    attrs = {"kernel_shape": [window] * 2, "strides": [stride] * 2, "pads": [pads] * 4, "ceil_mode": 1}
    got = run_node("MaxPool", [x], opset=17, **attrs)
    assert got.shape == (1, 1, expected, expected)
    for row, column in ((0, 0), (expected - 1, expected - 1), (0, expected - 1)):
        starts = [max(0, n * stride - pads) for n in (row, column)]
        ends = [n * stride - pads + window for n in (row, column)]
        assert got[0, 0, row, column] == x[0, 0, starts[0] : ends[0], starts[1] : ends[1]].max()
