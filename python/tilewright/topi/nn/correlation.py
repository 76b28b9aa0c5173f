"""Correlation of two images at displacements."""

from ... import _core, tir
from ...errors import UserError
from .._arguments import _compute, _reduce_axis, _require
from .._graph import _dtype_of_sums

_topi = _core.topi


def correlation(
    data1, data2, kernel_size: int, max_displacement: int, stride1: int, stride2: int, padding: int,
    is_multiply: bool = True,
):  # fmt: skip
    """The mean products of windows of data1 with windows of data2 that are displaced, a channel for each displacement.

    data1, data2      [n, channels, height, width]
    kernel_size       height and width of a window, odd
    max_displacement  up to which windows of data2 are displaced in each direction
    stride1, stride2  steps of windows, and of displacements
    padding           zeros around both
    is_multiply       otherwise absolute differences
    Source: Fischer et al., FlowNet, arXiv 1504.06852

    >>> images = te.placeholder((1, 8, 9, 9))
    >>> topi.nn.correlation(images, images, 3, 2, 1, 1, 2)
    """
    for each in (data1, data2):
        if len(each.shape) != 4:
            raise UserError(f"correlation: an operand has {len(each.shape)} dimensions, expected 4")
    if kernel_size % 2 == 0:
        raise UserError(f"correlation: kernel_size is {kernel_size}, expected an odd number")
    _require("add", data1, data2)
    widths = [0, 0, padding, padding]
    first, second = (_topi.pad(x, widths, widths, _core.const(0, x.dtype)) for x in (data1, data2))
    batch, channels, height, width = first.shape
    border, reach = max_displacement + kernel_size // 2, max_displacement // stride2
    count = 2 * reach + 1
    rows, columns = (
        tir.floordiv(extent - (2 * border) + (stride1 - 1), stride1) for extent in (height, width)
    )
    axes = [_reduce_axis(channels, "c"), _reduce_axis(kernel_size, "y"), _reduce_axis(kernel_size, "x")]
    c, down, across = (axis.var for axis in axes)
    dtype = _dtype_of_sums(data1.dtype)

    def total(n, place, i, j):
        y, x = i * stride1 + max_displacement + down, j * stride1 + max_displacement + across
        moved_y = y + (tir.floordiv(place, count) - reach) * stride2
        moved_x = x + (tir.floormod(place, count) - reach) * stride2
        a, b = first(n, c, y, x).astype(dtype), second(n, c, moved_y, moved_x).astype(dtype)
        return _core.te_sum(a * b if is_multiply else tir.abs(a - b), axes, None, None)

    sums = _compute([batch, count * count, rows, columns], total, "T_correlation_sums")
    size = (channels * (kernel_size * kernel_size)).astype(dtype)
    return _compute(sums.shape, lambda *i: (sums(*i) / size).astype(data1.dtype), "T_correlation")
