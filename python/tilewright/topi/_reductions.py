"""Sums and the like over dimensions, and running ones."""

from .. import _core
from ..errors import UserError
from ._arguments import _axes, _axis, _numbers, _shape, _text

_topi = _core.topi

_REDUCTIONS = "sum prod max min any all mean variance std"


def _reduction(name: str):
    operator = getattr(_topi, name)

    def reduce(data, axis=None, keepdims: bool = False):
        return operator(data, _axes(data, axis), keepdims)

    reduce.__name__ = name
    reduce.__doc__ = f"The {name} over `axis`, an int or several; None means all."
    return reduce


for _name in _REDUCTIONS.split():
    globals()[_name] = _reduction(_name)


def argmax(data, axis=None, keepdims: bool = False, dtype: str = "int32"):
    """The position of the first largest element over `axis`."""
    return _topi.argmax(data, _axes(data, axis), keepdims, dtype)


def argmin(data, axis=None, keepdims: bool = False, dtype: str = "int32"):
    """The position of the first smallest element over `axis`."""
    return _topi.argmin(data, _axes(data, axis), keepdims, dtype)


def _running(name: str, data, axis, exclusive: bool, reverse: bool, dtype: str):
    if dtype and dtype != data.dtype:
        data = _topi.cast(data, dtype)
    return getattr(_topi, name)(data, _axis(data, axis), exclusive, reverse)


def cumsum(data, axis: int = 0, exclusive: bool = False, reverse: bool = False, dtype: str = ""):
    """Sums of the elements up to each one along `axis`.

    data       a tensor
    axis       the dimension; default 0
    exclusive  whether the element itself is left out; default False
    reverse    whether sums begin at the end; default False
    dtype      of the result; default that of data
    Returns    a tensor of the shape of data
    Raises     UserError if axis is outside of data
    >>> topi.cumsum(te.placeholder((5, 7)), axis=1)
    """
    return _running("cumsum", data, axis, exclusive, reverse, dtype)


def cumprod(data, axis: int = 0, exclusive: bool = False, reverse: bool = False, dtype: str = ""):
    """Products of the elements up to each one along `axis`; arguments as those of cumsum.

    >>> topi.cumprod(te.placeholder((5, 7)), axis=1, exclusive=True)
    """
    return _running("cumprod", data, axis, exclusive, reverse, dtype)


def collapse_sum(data, target_shape):
    """The sum over what broadcasting from `target_shape` to the shape of data repeats.

    data          a tensor
    target_shape  extents of the result, aligned at the last; each is 1 or that of data
    Returns       a tensor of target_shape
    Raises        UserError if target_shape does not broadcast to the shape of data
    >>> topi.collapse_sum(te.placeholder((5, 3, 7)), (3, 1))
    """
    wanted = _shape(target_shape)
    shape = list(data.shape)
    pairs = zip(_numbers(reversed(shape)), _numbers(reversed(wanted)), strict=False)
    differs = [a for a, b in pairs if isinstance(a, int) and isinstance(b, int) and b not in (1, a)]
    if differs or len(wanted) > len(shape):
        raise UserError(
            f"collapse_sum: shape {_text(wanted)} does not broadcast to {_text(shape)}, the shape of data"
        )
    return _topi.collapse_sum(data, wanted)
