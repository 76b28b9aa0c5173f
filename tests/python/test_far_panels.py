"""Weights that come from far are read by few rows of tiles, each as tall as registers allow."""

import re

import numpy as np
import pytest
from schedule_checking import check

import tilewright
from tilewright import te


def convolution(height, width, channels, filters, kernel):
    x = te.placeholder((height + kernel - 1, width + kernel - 1, channels), "float32", name="X")
    w = te.placeholder((kernel, kernel, channels, filters), "float32", name="W")
    rh, rw = te.reduce_axis((0, kernel), "rh"), te.reduce_axis((0, kernel), "rw")
    rc = te.reduce_axis((0, channels), "rc")
    y = te.compute(
        (height, width, filters),
        lambda i, j, f: te.sum(x[i + rh, j + rw, rc] * w[rh, rw, rc, f], axis=[rh, rw, rc]),
        name="Y",
    )

    def reference(image, weight):
        windows = np.lib.stride_tricks.sliding_window_view(image, (kernel, kernel), axis=(0, 1))
        return np.einsum("hwckl,klcf->hwf", windows, weight, optimize=True)

    return [x, w, y], reference


def rows_of_tiles(tensors):
    """The factors of the first splits of rows: those of the axis before, if a tile has several of its rows."""
    module = tilewright.IRModule({"main": te.create_prim_func(tensors)})
    trace = str(tilewright.schedule.by_rules(module, "llvm -mcpu=skylake-avx512").trace)
    return re.findall(r"sch\.split\(.*factors=(\[None, \d+\])", trace)[:2]


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        (
            (7, 7, 512, 512, 3),
            ["[None, 2]", "[None, 7]"],
        ),  # 14 rows: panels of 590 kB are read four times, not seven
        ((7, 5, 512, 512, 3), ["[None, 2]", "[None, 5]"]),
        ((7, 7, 512, 32, 1), ["[None, 7]", "[None, 16]"]),  # 64 kB stay in the second cache
        (
            (7, 7, 1024, 512, 1),
            ["[None, 7]", "[None, 16]"],
        ),  # rows 4,096 bytes apart: 14 would push each other out
        ((28, 28, 512, 512, 3), ["[None, 4]", "[None, 16]"]),  # so many rows that arithmetic hides panels
    ],
)
def test_rows_of_tiles(sizes, rows):
    assert rows_of_tiles(convolution(*sizes)[0]) == rows


@pytest.mark.parametrize(("height", "width"), [(7, 7), (5, 5), (3, 7), (1, 6), (7, 4)])
def test_rows_of_two_axes(height, width):
    """One, two or three rows of images in a tile, and what is left of them."""
    check(*convolution(height, width, 130, 531, 3), targets=["llvm", "llvm -mcpu=core-avx2"], threads=(1, 2))
