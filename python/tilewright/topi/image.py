"""Images over te tensors: topi.image.resize2d(data, (7, 9)), topi.image.grid_sample(data, grid)."""

from .. import _core, tir
from .._guard import guard_module
from ..errors import UserError
from ._arguments import _compute, _const, _reduce_axis
from ._graph import _of_graph
from .nn.windows import around, per_dimension, spatial_axes


def _resized(count: int, data, size, layout: str, attrs: dict, roi, out_dtype: str):
    axes = spatial_axes(layout, count)
    sizes = size if isinstance(size, list | tuple) else [size]
    if roi is not None:
        attrs["roi"] = [float(value) for value in roi]
    attrs["out_dtype"] = out_dtype or "void"
    if count > 1:
        return _of_graph(f"image.resize{count}d", data, list(sizes), layout=layout, **attrs)[0]
    return _of_graph("image.resize", data, list(sizes), axes=axes, **attrs)[0]


_DOC = """Data resized to `size`, {extents}.

    layout                          order of the dimensions
    method                          "nearest_neighbor", "linear" or "cubic"
    coordinate_transformation_mode  "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
                                    "half_pixel_symmetric" or "tf_crop_and_resize"
    rounding_method                 of nearest_neighbor: "round", "round_prefer_floor", "round_prefer_ceil", "floor" or "ceil"
    cubic_alpha, cubic_exclude      the parameter of the cubic, and whether elements outside are ignored
    extrapolation_value             outside, of tf_crop_and_resize
    roi                             where each dimension starts, then where each ends, of tf_crop_and_resize
    out_dtype                       default that of data
    """


def resize1d(
    data, size, layout: str = "NCW", method: str = "linear", coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round", cubic_alpha: float = -0.75, cubic_exclude: bool = False,
    extrapolation_value: float = 0.0, roi=None, out_dtype: str = "",
):  # fmt: skip
    attrs = _attributes(locals())
    return _resized(1, data, size, layout, attrs, roi, out_dtype)


def resize2d(
    data, size, layout: str = "NCHW", method: str = "linear", coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round", cubic_alpha: float = -0.75, cubic_exclude: bool = False,
    extrapolation_value: float = 0.0, roi=None, out_dtype: str = "",
):  # fmt: skip
    attrs = _attributes(locals())
    return _resized(2, data, size, layout, attrs, roi, out_dtype)


def resize3d(
    data, size, layout: str = "NCDHW", method: str = "linear", coordinate_transformation_mode: str = "half_pixel",
    rounding_method: str = "round", cubic_alpha: float = -0.75, cubic_exclude: bool = False,
    extrapolation_value: float = 0.0, roi=None, out_dtype: str = "",
):  # fmt: skip
    attrs = _attributes(locals())
    return _resized(3, data, size, layout, attrs, roi, out_dtype)


resize1d.__doc__ = _DOC.format(extents="a width")
resize2d.__doc__ = _DOC.format(extents="[height, width]")
resize3d.__doc__ = _DOC.format(extents="[depth, height, width]")


def _attributes(given: dict) -> dict:
    """The arguments that are attributes of the graph operators."""
    names = (
        *("method", "coordinate_transformation_mode", "rounding_method", "cubic_alpha", "cubic_exclude"),
        "extrapolation_value",
    )
    return {name: given[name] for name in names}


def grid_sample(
    data,
    grid,
    method: str = "bilinear",
    layout: str = "NCHW",
    padding_mode: str = "zeros",
    align_corners: bool = True,
):
    """data sampled at the coordinates of grid [n, 2, height, width] of (x, y) in -1 .. 1; of volumes [n, 3, ...] of (x, y, z).

    method         "nearest", "bilinear" or "bicubic"
    layout         "NCHW" or, for volumes, "NCDHW"
    padding_mode   "zeros", "border" or "reflection"
    align_corners  whether -1 and 1 are centres of corner elements, else outer edges
    """
    attrs = {"method": method, "layout": layout, "padding_mode": padding_mode}
    return _of_graph("image.grid_sample", data, grid, align_corners=align_corners, **attrs)[0]


def affine_grid(data, target_shape, align_corners: bool = True):
    """The grid [n, 2, height, width] of the affine maps data [n, 2, 3], or of volumes [n, 3, ...] of data [n, 3, 4]."""
    return _of_graph("image.affine_grid", data, list(target_shape), align_corners=align_corners)[0]


def crop_and_resize(
    data, boxes, box_indices, crop_size, layout: str = "NCHW", method: str = "bilinear", extrapolation_value: float = 0.0,
    out_dtype: str = "",
):  # fmt: skip
    """Boxes of images resampled to one size.

    boxes        [number, 4] of (y1, x1, y2, x2) as fractions of the last index
    box_indices  [number], the image of each box
    crop_size    [height, width] of the results
    method       "bilinear" or "nearest_neighbor"
    extrapolation_value  outside of images
    """
    if method not in ("bilinear", "nearest_neighbor"):
        raise UserError(f'crop_and_resize: method is "{method}", expected "bilinear" or "nearest_neighbor"')
    axes = spatial_axes(layout, 2)
    batch, dtype = layout.index("N"), out_dtype or data.dtype
    shape = list(data.shape)
    shape[batch] = boxes.shape[0]
    for axis, size in zip(axes, crop_size, strict=True):
        shape[axis] = size

    def element(*i):
        box = i[batch]
        at, inside = [], []
        for n, axis in enumerate(axes):
            place, is_inside = _crop_place(boxes, box, n, i[axis], data.shape[axis], crop_size[n])
            inside += is_inside
            at.append(_between(place, data.shape[axis], method))
        value = _interpolated(data, list(i), box_indices(box), batch, axes, at)
        outside = tir.const(extrapolation_value, "float32")
        return tir.if_then_else(tir.all(*inside), value, outside).astype(dtype)

    return _compute(shape, element, "T_crop_and_resize")


def _crop_place(boxes, box, n: int, index, extent, size):
    """(the coordinate in the image, the conditions that it is inside)"""
    low, high = boxes(box, n).astype("float32"), boxes(box, n + 2).astype("float32")
    last = (_const(extent, "int32") - 1).astype("float32")
    if getattr(size, "value", size) == 1:
        place = tir.const(0.5, "float32") * (low + high) * last
    else:
        step = (high - low) * last / (_const(size, "int32") - 1).astype("float32")
        place = low * last + index.astype("float32") * step
    return place, [place >= tir.const(0, "float32"), place <= last]


def _between(place, extent, method: str) -> list:
    """The neighbours of a coordinate and their weights."""

    def clamped(value):
        return tir.max(tir.min(value.astype("int32"), _const(extent, "int32") - 1), 0)

    if method == "nearest_neighbor":
        return [(clamped(tir.floor(place + tir.const(0.5, "float32"))), tir.const(1, "float32"))]
    low = tir.floor(place)
    part = place - low
    return [(clamped(low), tir.const(1, "float32") - part), (clamped(low + tir.const(1, "float32")), part)]


def _interpolated(data, indices: list, image, batch: int, axes: list, at: list):
    indices[batch] = image
    total = None
    for y, y_weight in at[0]:
        for x, x_weight in at[1]:
            indices[axes[0]], indices[axes[1]] = y, x
            term = data(*indices).astype("float32") * (y_weight * x_weight)
            total = term if total is None else total + term
    return total


def dilation2d(data, kernel, strides=1, padding=0, dilations=1, layout: str = "NCHW", out_dtype: str = ""):
    """The largest sum of an element and the kernel in each window (a dilation of mathematical morphology); nothing outside of data counts.

    kernel   [channels, height, width], or [height, width, channels] for channels last
    """
    axes, channel = spatial_axes(layout, 2), layout.index("C")
    if len(data.shape) != 4 or len(kernel.shape) != 3:
        raise UserError(
            f"dilation2d: data has {len(data.shape)} dimensions, kernel {len(kernel.shape)}, expected 4 and 3"
        )
    is_first = channel == 1
    extents = list(kernel.shape[1:] if is_first else kernel.shape[:2])
    strides, dilations, pads = per_dimension(strides, 2), per_dimension(dilations, 2), around(padding, 2)
    dtype = out_dtype or data.dtype
    window = [_reduce_axis(extent, name) for extent, name in zip(extents, ("r_h", "r_w"), strict=True)]
    shape = list(data.shape)
    for n, axis in enumerate(axes):
        covered = (extents[n] - 1) * dilations[n] + 1
        shape[axis] = tir.floordiv(shape[axis] + (pads[n] + pads[n + 2]) - covered, strides[n]) + 1

    def largest(*i):
        places, inside = list(i), []
        for n, axis in enumerate(axes):
            places[axis] = i[axis] * strides[n] + window[n].var * dilations[n] - pads[n]
            inside += [places[axis] >= 0, places[axis] < data.shape[axis]] if pads[n] or pads[n + 2] else []
        at = (i[channel], *(r.var for r in window)) if is_first else (*(r.var for r in window), i[channel])
        value = (data(*places) + kernel(*at)).astype(dtype)
        if inside:
            value = tir.if_then_else(tir.all(*inside), value, tir.min_value(dtype))
        return _core.te_max(value, window, None, None)

    return _compute(shape, largest, "dilation2d")


__all__ = [
    "affine_grid",
    "crop_and_resize",
    "dilation2d",
    "grid_sample",
    "resize1d",
    "resize2d",
    "resize3d",
]
guard_module(__name__, globals(), __all__)
