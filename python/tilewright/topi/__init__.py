"""Ready-made tensor expressions over te tensors: topi.add(a, b), topi.sum(x, axis=1), topi.nn.relu(x).

A Python number beside a tensor is a constant of its dtype.
"""

from .. import _core
from .._guard import guard_module
from ..errors import UserError
from ..ir._nodes import classes
from . import image, nn, vision
from ._arguments import _axes, _axis, _const, _require, _shape

_topi = _core.topi
_Tensor = classes["te.Tensor"]

_MATH = "exp log log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid erf floor ceil trunc round"
_UNARY = "abs negative sign logical_not bitwise_not isnan isinf isfinite"
_BINARY = (
    "add subtract multiply divide floor_divide mod power atan2 maximum minimum equal not_equal less less_equal greater"
    " greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift"
)
_REDUCTIONS = "sum prod max min any all mean"


def _math(name: str):
    def apply(x):
        return _topi.math(x, name)

    apply.__name__, apply.__doc__ = name, f"tir.{name} of every element of a float tensor."
    return apply


def _unary(name: str):
    operator = getattr(_topi, name)

    def apply(x):
        return operator(x)

    apply.__name__, apply.__doc__ = name, f"tir {name} of every element."
    return apply


def _tensor(value, other):
    """`value`, or a tensor without dimensions that holds this number, of the dtype of `other`."""
    if isinstance(value, _Tensor):
        return value
    return full((), other.dtype, value)


def _binary(name: str):
    operator = getattr(_topi, name)
    is_of_bits = name.startswith("bitwise") or name.endswith("shift")

    def apply(a, b):
        a, b = _tensor(a, b), _tensor(b, a)
        if is_of_bits:
            for each in (a, b):
                _require(name, each, each)
        return operator(a, b)

    apply.__name__, apply.__doc__ = name, f"{name} of the elements of a and b, which broadcast as in numpy."
    return apply


def _reduction(name: str):
    operator = getattr(_topi, name)

    def reduce(data, axis=None, keepdims: bool = False):
        return operator(data, _axes(data, axis), keepdims)

    reduce.__name__ = name
    reduce.__doc__ = f"The {name} over `axis`, an int or several; None means all."
    return reduce


for _names, _make in ((_MATH, _math), (_UNARY, _unary), (_BINARY, _binary), (_REDUCTIONS, _reduction)):
    for _name in _names.split():
        globals()[_name] = _make(_name)


def cast(x, dtype: str):
    """x with elements of dtype."""
    return _topi.cast(x, dtype)


def clip(x, a_min, a_max):
    """min(max(x, a_min), a_max)."""
    return _topi.clip(x, _const(a_min, x.dtype), _const(a_max, x.dtype))


def where(condition, x, y):
    """x where condition holds, else y; all three broadcast."""
    x, y = _tensor(x, y), _tensor(y, x)
    return _topi.where(condition, x, y)


def argmax(data, axis=None, keepdims: bool = False, dtype: str = "int32"):
    """The position of the first largest element over `axis`."""
    return _topi.argmax(data, _axes(data, axis), keepdims, dtype)


def argmin(data, axis=None, keepdims: bool = False, dtype: str = "int32"):
    """The position of the first smallest element over `axis`."""
    return _topi.argmin(data, _axes(data, axis), keepdims, dtype)


def cumsum(data, axis: int = 0, exclusive: bool = False):
    """Sums of the elements up to each one along `axis`, without itself if exclusive."""
    return _topi.cumsum(data, _axis(data, axis), exclusive)


def broadcast_to(data, shape):
    """data repeated to `shape`, as numpy broadcasts."""
    _require("broadcast_to", data, _shape(shape))
    return _topi.broadcast_to(data, _shape(shape))


def reshape(a, newshape):
    """The same elements in row-major order."""
    _require("reshape", a, _shape(newshape))
    return _topi.reshape(a, _shape(newshape))


def transpose(a, axes=None):
    """Dimension n of the result is dimension axes[n] of a; None reverses the order."""
    order = [_axis(a, axis) for axis in axes] if axes else list(range(len(a.shape)))[::-1]
    _require("permute_dims", a, axes=order)
    return _topi.transpose(a, order)


def expand_dims(a, axis: int, num_newaxis: int = 1):
    """`num_newaxis` dimensions of extent 1 before dimension `axis`."""
    first = axis + len(a.shape) + 1 if axis < 0 else axis
    places = list(range(first, first + num_newaxis))
    _require("expand_dims", a, axis=places)
    return _topi.expand_dims(a, places)


def squeeze(a, axis=None):
    """Without the dimensions `axis`; None: without all of extent 1."""
    ones = [n for n, extent in enumerate(a.shape) if getattr(extent, "value", extent) == 1]
    axes = ones if axis is None else _axes(a, axis)
    if axes:
        _require("squeeze", a, axis=axes)
    return _topi.squeeze(a, axes)


def concatenate(a_tuple, axis: int = 0):
    """The tensors one after the other along `axis`."""
    parts = list(a_tuple)
    if not parts:
        raise UserError("concatenate: no tensors are given")
    _require("concat", parts, axis=_axis(parts[0], axis))
    return _topi.concatenate(parts, _axis(parts[0], axis))


def take(a, indices, axis: int = 0, mode: str = "clip"):
    """Element indices[...] of dimension `axis`; mode "clip", "wrap" or "fast"."""
    _require("take", a, indices, axis=_axis(a, axis), mode=mode)
    return _topi.take(a, indices, _axis(a, axis), mode)


def tile(a, reps):
    """a repeated reps[n] times along dimension n."""
    _require("tile", a, repeats=list(reps))
    return _topi.tile(a, list(reps))


def repeat(a, repeats: int, axis: int):
    """Each element repeated along `axis`."""
    _require("repeat", a, repeats=repeats, axis=_axis(a, axis))
    return _topi.repeat(a, repeats, _axis(a, axis))


def flip(a, axis: int = 0):
    """The elements of dimension `axis` in reverse."""
    return _topi.flip(a, _axis(a, axis))


def reverse_sequence(a, seq_lengths, seq_axis: int = 1, batch_axis: int = 0):
    """The first seq_lengths[i] elements of dimension `seq_axis` in reverse, i the index in dimension `batch_axis`."""
    axes = {"seq_axis": _axis(a, seq_axis), "batch_axis": _axis(a, batch_axis)}
    _require("reverse_sequence", a, seq_lengths, **axes)
    return _topi.reverse_sequence(a, seq_lengths, *axes.values())


def full(shape, dtype: str, fill_value):
    """One value everywhere."""
    return _topi.full(_shape(shape), dtype, _const(fill_value, dtype))


def full_like(x, fill_value):
    """One value everywhere, in the shape and dtype of x."""
    return full(list(x.shape), x.dtype, fill_value)


def matmul(a, b, out_dtype: str = ""):
    """The product as numpy.matmul; summed in out_dtype."""
    _require("matmul", a, b, of_dtype="float32")
    return _topi.matmul(a, b, out_dtype or "void")


guard_module(__name__, globals(), [_name for _name in globals() if not _name.startswith("_")])
__all__ = ["image", "nn", "vision"]
