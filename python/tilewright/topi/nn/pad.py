"""Elements added around and between those of a tensor."""

from ... import _core, tir
from ...errors import UserError
from .._arguments import _compute, _const, _require

_topi = _core.topi


def _number(value):
    return getattr(value, "value", value)


def _widths(name: str, data, pad_before, pad_after) -> tuple[list, list]:
    before = [_number(width) for width in pad_before]
    after = before if pad_after is None else [_number(width) for width in pad_after]
    if len(before) != len(after) or len(before) != len(data.shape):
        raise UserError(
            f"{name}: {len(before)} and {len(after)} widths are given, expected {len(data.shape)} before and after"
        )
    return before, after


def pad(data, pad_before, pad_after=None, pad_value=0.0):
    """data with pad_before[n] and pad_after[n] elements of pad_value around dimension n; after defaults to before."""
    before, after = _widths("pad", data, pad_before, pad_after)
    _require("nn.pad", data, pad_width=_paired(before, after))
    return _topi.pad(data, before, after, _const(pad_value, data.dtype))


def _paired(before: list, after: list) -> list:
    return [width for both in zip(before, after, strict=True) for width in both]


def mirror_pad(data, pad_before, pad_after=None, mode: str = "SYMMETRIC"):
    """data with its own elements mirrored around it: "SYMMETRIC" repeats those at the border, "REFLECT" does not."""
    before, after = _widths("mirror_pad", data, pad_before, pad_after)
    if mode not in ("SYMMETRIC", "REFLECT"):
        raise UserError(f'mirror_pad: mode is "{mode}", expected "SYMMETRIC" or "REFLECT"')
    _require_own(data, before, after, mode)
    gap = 0 if mode == "SYMMETRIC" else 1
    shape = [extent + (low + high) for extent, low, high in zip(data.shape, before, after, strict=True)]

    def element(*indices):
        places = []
        for index, low, high, extent in zip(indices, before, after, data.shape, strict=True):
            place = index - low if low else index
            mirrored = tir.Select(place < 0, -place - 1 + gap, place) if low else place
            if high:
                mirrored = tir.Select(place >= extent, 2 * extent - place - 1 - gap, mirrored)
            places.append(mirrored)
        return data(*places)

    return _compute(shape, element, "T_mirror_pad")


def _require_own(data, before: list, after: list, mode: str) -> None:
    """Checks that there are as many elements to mirror; of an open extent the indices are checked when it is known."""
    for n, (low, high, extent) in enumerate(zip(before, after, data.shape, strict=True)):
        most = max(low, high)
        least = most if mode == "SYMMETRIC" else most + (most > 0)
        if min(low, high) < 0 or (isinstance(_number(extent), int) and _number(extent) < least):
            raise UserError(
                f"mirror_pad: dimension {n} of {extent} elements cannot be mirrored by {low} and {high}"
            )


def dilate(data, strides, dilation_value=0.0):
    """data with strides[n] - 1 elements of dilation_value between neighbours of dimension n."""
    strides = [_number(stride) for stride in strides]
    if len(strides) != len(data.shape):
        raise UserError(f"dilate: {len(strides)} strides are given, expected {len(data.shape)}")
    for stride in strides:
        if stride < 1:
            raise UserError(f"dilate: a stride is {stride}, expected at least 1")
    shape = [
        extent if stride == 1 else tir.max((extent - 1) * stride + 1, 0)
        for extent, stride in zip(data.shape, strides, strict=True)
    ]

    def element(*indices):
        places, conditions = [], []
        for index, stride in zip(indices, strides, strict=True):
            places.append(tir.floordiv(index, stride) if stride > 1 else index)
            if stride > 1:
                conditions.append(tir.floormod(index, stride) == 0)
        value = data(*places)
        if not conditions:
            return value
        return tir.if_then_else(tir.all(*conditions), value, _const(dilation_value, data.dtype))

    return _compute(shape, element, "T_dilate")


def flatten(data):
    """[n, the number of all other elements]."""
    if len(data.shape) < 1:
        raise UserError("flatten: data has no dimensions, expected at least 1")
    count = 1
    for extent in data.shape[1:]:
        count = count * extent
    return _topi.reshape(data, [data.shape[0], _const(count, "int32")])
