"""Blocks of space in channels or in the batch, and images made larger."""

from math import prod

from ... import tir
from ...errors import UserError
from .._arguments import _compute, _const
from .._graph import _of_graph
from .windows import spatial_axes


def _places(layout: str, name: str) -> tuple[int, int, int]:
    """Where C, H and W stand."""
    if sorted(layout) != sorted("NCHW"):
        raise UserError(f'{name}: layout is "{layout}", expected "NCHW" or "NHWC"')
    return tuple(layout.index(letter) for letter in "CHW")


def _require_image(name: str, data, block_size: int) -> None:
    if len(data.shape) != 4:
        raise UserError(f"{name}: data has {len(data.shape)} dimensions, expected 4")
    if block_size < 1:
        raise UserError(f"{name}: block_size is {block_size}, expected at least 1")


def _require_multiple(name: str, what: str, extent, factor: int) -> None:
    known = getattr(extent, "value", extent)
    if isinstance(known, int) and known % factor:
        raise UserError(f"{name}: {what} is {known}, expected a multiple of {factor}")


def space_to_depth(data, block_size: int, layout: str = "NCHW"):
    """Blocks of block_size x block_size elements become channels: channel (y * block_size + x) * channels + c is the element
    (y, x) of each block of channel c."""
    _require_image("space_to_depth", data, block_size)
    c, h, w = _places(layout, "space_to_depth")
    for axis, what in ((h, "height"), (w, "width")):
        _require_multiple("space_to_depth", what, data.shape[axis], block_size)
    shape = list(data.shape)
    channels = shape[c]
    shape[c] = channels * (block_size * block_size)
    shape[h], shape[w] = tir.floordiv(shape[h], block_size), tir.floordiv(shape[w], block_size)

    def element(*i):
        block = tir.floordiv(i[c], channels)
        places = list(i)
        places[c] = tir.floormod(i[c], channels)
        places[h] = i[h] * block_size + tir.floordiv(block, block_size)
        places[w] = i[w] * block_size + tir.floormod(block, block_size)
        return data(*places)

    return _compute(shape, element, "T_space_to_depth")


def depth_to_space(data, block_size: int, layout: str = "NCHW", mode: str = "DCR"):
    """Channels become blocks of block_size x block_size elements.

    mode  which channel element (y, x) of channel c comes from: "DCR" (y * block_size + x) * channels + c, "CRD"
          (c * block_size + y) * block_size + x
    """
    _require_image("depth_to_space", data, block_size)
    if mode not in ("DCR", "CRD"):
        raise UserError(f'depth_to_space: mode is "{mode}", expected "DCR" or "CRD"')
    c, h, w = _places(layout, "depth_to_space")
    _require_multiple("depth_to_space", "the number of channels", data.shape[c], block_size * block_size)
    shape = list(data.shape)
    channels = tir.floordiv(shape[c], block_size * block_size)
    shape[c], shape[h], shape[w] = channels, shape[h] * block_size, shape[w] * block_size

    def element(*i):
        y, x = tir.floormod(i[h], block_size), tir.floormod(i[w], block_size)
        inside = y * block_size + x
        places = list(i)
        places[c] = inside * channels + i[c] if mode == "DCR" else i[c] * (block_size * block_size) + inside
        places[h], places[w] = tir.floordiv(i[h], block_size), tir.floordiv(i[w], block_size)
        return data(*places)

    return _compute(shape, element, "T_depth_to_space")


def space_to_batch_nd(data, block_shape, pad_before, pad_after, pad_value=0.0):
    """Element b + batch * (offset in a block) of the batch has every block_shape[n]-th element of dimension n + 1, which is padded first.

    block_shape, pad_before, pad_after  one number for each dimension from the second on; later dimensions stay
    """
    blocks, before, after = ([_number(v) for v in each] for each in (block_shape, pad_before, pad_after))
    count = _require_blocks("space_to_batch_nd", data, blocks, before, after)
    batch, shape = data.shape[0], list(data.shape)
    shape[0] = batch * prod(blocks)
    for n in range(count):
        padded = shape[n + 1] + (before[n] + after[n])
        _require_multiple(
            "space_to_batch_nd", f"dimension {n + 1} with its padding", _number(padded), blocks[n]
        )
        shape[n + 1] = tir.floordiv(padded, blocks[n])

    def element(*i):
        offset, places, inside = tir.floordiv(i[0], batch), [tir.floormod(i[0], batch), *i[1:]], []
        for n in reversed(range(count)):
            place = i[n + 1] * blocks[n] + tir.floormod(offset, blocks[n]) - before[n]
            offset = tir.floordiv(offset, blocks[n])
            places[n + 1] = place
            inside += [place >= 0] if before[n] else []
            inside += [place < data.shape[n + 1]] if after[n] else []
        value = data(*places)
        return tir.if_then_else(tir.all(*inside), value, _const(pad_value, data.dtype)) if inside else value

    return _compute(shape, element, "T_space_to_batch_nd")


def batch_to_space_nd(data, block_shape, crop_begin, crop_end):
    """The reverse of space_to_batch_nd; crop_begin[n] and crop_end[n] elements at the ends of dimension n + 1 are left out."""
    blocks, before, after = ([_number(v) for v in each] for each in (block_shape, crop_begin, crop_end))
    count = _require_blocks("batch_to_space_nd", data, blocks, before, after)
    _require_multiple("batch_to_space_nd", "the batch", data.shape[0], prod(blocks))
    shape = list(data.shape)
    batch = tir.floordiv(shape[0], prod(blocks))
    shape[0] = batch
    for n in range(count):
        shape[n + 1] = shape[n + 1] * blocks[n] - (before[n] + after[n])

    def element(*i):
        offset, places = tir.const_like(0, i[0]), list(i)
        for n in range(count):
            place = i[n + 1] + before[n]
            offset = offset * blocks[n] + tir.floormod(place, blocks[n])
            places[n + 1] = tir.floordiv(place, blocks[n])
        places[0] = offset * batch + i[0]
        return data(*places)

    return _compute(shape, element, "T_batch_to_space_nd")


def _number(value):
    return getattr(value, "value", value)


def _require_blocks(name: str, data, blocks: list, before: list, after: list) -> int:
    if not len(blocks) == len(before) == len(after) < len(data.shape):
        raise UserError(
            f"{name}: {len(blocks)} blocks, {len(before)} and {len(after)} widths are given,"
            f" expected as many of each, fewer than {len(data.shape)} dimensions"
        )
    for value, least, what in (
        *((b, 1, "a block") for b in blocks),
        *((v, 0, "a width") for v in before + after),
    ):
        if value < least:
            raise UserError(f"{name}: {what} is {value}, expected at least {least}")
    return len(blocks)


_METHODS = {
    "nearest_neighbor": "nearest_neighbor",
    "bilinear": "linear",
    "trilinear": "linear",
    "bicubic": "cubic",
}


def _enlarged(name: str, data, layout: str, scales: list, method: str, coordinates: str):
    if method not in _METHODS:
        expected = ", ".join(f'"{each}"' for each in _METHODS)
        raise UserError(f'{name}: method is "{method}", expected one of {expected}')
    axes = spatial_axes(layout, len(scales))
    size = [_scaled(data.shape[axis], scale) for axis, scale in zip(axes, scales, strict=True)]
    rounding = "round" if coordinates == "align_corners" else "floor"
    return _of_graph(
        f"image.resize{len(scales)}d",
        data,
        size,
        layout=layout,
        method=_METHODS[method],
        coordinate_transformation_mode=coordinates,
        rounding_method=rounding,
        cubic_alpha=-0.5,
    )[0]


def _scaled(extent, scale):
    """The extent times `scale`, to the nearest whole number."""
    if float(scale).is_integer():
        return extent * int(scale)
    known = getattr(extent, "value", extent)
    if isinstance(known, int):
        return round(known * scale)
    return tir.round(extent.astype("float32") * tir.const(scale, "float32")).astype(extent.dtype)


def upsampling(
    data,
    scale_h,
    scale_w,
    layout: str = "NCHW",
    method: str = "nearest_neighbor",
    align_corners: bool = False,
):
    """Images made larger by factors.

    method         "nearest_neighbor", "bilinear" or "bicubic"
    align_corners  whether corner elements keep their places
    """
    coordinates = "align_corners" if align_corners else "asymmetric"
    return _enlarged("upsampling", data, layout, [scale_h, scale_w], method, coordinates)


def upsampling3d(
    data, scale_d, scale_h, scale_w, layout: str = "NCDHW", method: str = "nearest_neighbor",
    coordinate_transformation_mode: str = "half_pixel",
):  # fmt: skip
    """Volumes made larger by factors; method "nearest_neighbor" or "trilinear"."""
    scales = [scale_d, scale_h, scale_w]
    return _enlarged("upsampling3d", data, layout, scales, method, coordinate_transformation_mode)
