"""Pooling: maxima and means of windows, of parts, of everything."""

from ... import _core, tir
from ...errors import UserError
from .._arguments import _compute, _reduce_axis, _require
from .._graph import _of_graph
from .windows import around, per_dimension, spatial_axes

_topi = _core.topi


def _is_max(pool_type: str) -> bool:
    if pool_type not in ("max", "avg"):
        raise UserError(f'pool_type is "{pool_type}", expected "max" or "avg"')
    return pool_type == "max"


def _attributes(count, kernel, stride, dilation, padding, ceil_mode, count_include_pad, layout) -> dict:
    return {
        "pool_size": per_dimension(kernel, count),
        "strides": per_dimension(stride, count),
        "padding": around(padding, count),
        "dilation": per_dimension(dilation, count),
        "ceil_mode": ceil_mode,
        "count_include_pad": count_include_pad,
        "layout": layout,
    }


def _pool(count, data, pool_type, *options):
    is_max, attrs = _is_max(pool_type), _attributes(count, *options)
    _require(f"nn.{pool_type}_pool{count}d", data, **attrs)
    return _topi.pool(data, is_max, *attrs.values())


_DOC = """The largest element ("max") or the mean ("avg") of each window.

    kernel, stride, dilation  of the window: a number or one per spatial dimension
    padding            a number, one per dimension, or before each and after each; it is never the largest
    ceil_mode          whether a window may reach beyond the end
    layout             order of the dimensions
    count_include_pad  whether means count the padding
    """


def pool1d(
    data, kernel, stride=1, dilation=1, padding=0, pool_type: str = "max", ceil_mode: bool = False,
    layout: str = "NCW", count_include_pad: bool = True,
):  # fmt: skip
    return _pool(1, data, pool_type, kernel, stride, dilation, padding, ceil_mode, count_include_pad, layout)


def pool2d(
    data, kernel, stride=1, dilation=1, padding=0, pool_type: str = "max", ceil_mode: bool = False,
    layout: str = "NCHW", count_include_pad: bool = True,
):  # fmt: skip
    return _pool(2, data, pool_type, kernel, stride, dilation, padding, ceil_mode, count_include_pad, layout)


def pool3d(
    data, kernel, stride=1, dilation=1, padding=0, pool_type: str = "max", ceil_mode: bool = False,
    layout: str = "NCDHW", count_include_pad: bool = True,
):  # fmt: skip
    return _pool(3, data, pool_type, kernel, stride, dilation, padding, ceil_mode, count_include_pad, layout)


pool1d.__doc__ = pool2d.__doc__ = pool3d.__doc__ = _DOC


def pool_grad(
    grads, data, kernel, stride=1, padding=0, pool_type: str = "max", ceil_mode: bool = False,
    layout: str = "NCHW", count_include_pad: bool = True,
):  # fmt: skip
    """The gradient of pool2d for data; of several largest elements the first gets all.

    grads  the gradient of the result
    """
    _is_max(pool_type)
    attrs = _attributes(2, kernel, stride, 1, padding, ceil_mode, count_include_pad, layout)
    return _of_graph(f"grad.{pool_type}_pool2d_backward", grads, data, **attrs)[0]


def global_pool(data, pool_type: str = "avg", layout: str = "NCHW"):
    """The largest element or the mean of each channel; its spatial dimensions stay, with extent 1."""
    reduce = _topi.max if _is_max(pool_type) else _topi.mean
    axes = spatial_axes(layout)
    if len(layout) != len(data.shape) or not axes:
        raise UserError(f'global_pool: layout is "{layout}", data has {len(data.shape)} dimensions')
    return reduce(data, sorted(axes), True)


def _adaptive_max(count: int, data, output_size: list[int], layout: str):
    """Part i of n covers floor(i * extent / n) .. ceil((i + 1) * extent / n) - 1; positions beyond its end repeat its last."""
    axes = spatial_axes(layout, count)
    shape, offsets = list(data.shape), {}
    for axis, size in zip(axes, output_size, strict=True):
        extent = data.shape[axis]
        offsets[axis] = _reduce_axis(_longest_part(extent, size), f"r{axis}")
        shape[axis] = size

    def largest(*indices):
        places = list(indices)
        for axis, size in zip(axes, output_size, strict=True):
            extent, i = data.shape[axis], indices[axis]
            last = tir.floordiv((i + 1) * extent + (size - 1), size) - 1
            places[axis] = tir.min(tir.floordiv(i * extent, size) + offsets[axis].var, last)
        return _core.te_max(data(*places), list(offsets.values()), None, None)

    return _compute(shape, largest, "adaptive_pool_max")


def _longest_part(extent, size: int):
    """The most elements of a part."""
    known = getattr(extent, "value", extent)
    if isinstance(known, int):
        return max((-(-(i + 1) * known // size)) - i * known // size for i in range(size))
    return tir.floordiv(extent + (size - 1), size) + 1


def _adaptive(count: int, data, output_size, pool_type: str, layout: str):
    sizes = per_dimension(output_size, count)
    attrs = {"output_size": sizes, "layout": layout}
    if not _is_max(pool_type):
        return _of_graph(f"nn.adaptive_avg_pool{count}d", data, **attrs)[0]
    _require(f"nn.adaptive_avg_pool{count}d", data, **attrs)
    return _adaptive_max(count, data, sizes, layout)


_ADAPTIVE_DOC = """The largest elements or the means of parts of nearly equal size.

    output_size  the number of parts: a number or one per spatial dimension
    """


def adaptive_pool1d(data, output_size, pool_type: str = "avg", layout: str = "NCW"):
    return _adaptive(1, data, output_size, pool_type, layout)


def adaptive_pool2d(data, output_size, pool_type: str = "avg", layout: str = "NCHW"):
    return _adaptive(2, data, output_size, pool_type, layout)


def adaptive_pool3d(data, output_size, pool_type: str = "avg", layout: str = "NCDHW"):
    return _adaptive(3, data, output_size, pool_type, layout)


adaptive_pool1d.__doc__ = adaptive_pool2d.__doc__ = adaptive_pool3d.__doc__ = _ADAPTIVE_DOC
