"""The same elements in other shapes and orders."""

from .. import _core, tir
from ..errors import UserError
from ._arguments import _axes, _axis, _compute, _number, _require, _shape

_topi = _core.topi


def reshape(a, newshape):
    """The same elements in row-major order; one extent may be -1, which is the one that is left."""
    shape = _shape(newshape)
    _require("reshape", a, shape)
    left = [n for n, extent in enumerate(shape) if _number(extent) == -1]
    if left:
        known = _core.const(1, "int32")
        for n, extent in enumerate(shape):
            known = known if n in left else known * extent
        shape[left[0]] = _count(a) // known
    return _topi.reshape(a, shape)


def flatten(a):
    """The elements of a in row-major order.

    a        a tensor
    Returns  a tensor with one dimension
    >>> topi.flatten(te.placeholder((5, 7)))
    """
    return _topi.reshape(a, [_count(a)])


def _count(a):
    """The number of elements of a."""
    product = None
    for extent in a.shape:
        product = extent if product is None else product * extent
    return _core.const(1, "int32") if product is None else product


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
    ones = [n for n, extent in enumerate(a.shape) if _number(extent) == 1]
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


def stack(tensors, axis: int = 0):
    """The tensors beside each other along a new dimension.

    tensors  several, of one shape and dtype
    axis     of the result; default 0
    Returns  a tensor with one dimension more
    Raises   UserError if shapes or dtypes differ, or axis is outside of the result
    >>> topi.stack([te.placeholder((5, 7)), te.placeholder((5, 7))], axis=-1)
    """
    parts = list(tensors)
    if not parts:
        raise UserError("stack: no tensors are given")
    _require("stack", parts, axis=axis)
    return _topi.stack(parts, axis % (len(parts[0].shape) + 1))


def split(x, indices_or_sections, axis: int = 0):
    """The pieces of x along `axis`.

    x                    a tensor
    indices_or_sections  the number of equal pieces, the last one may be shorter; or where pieces after the first begin
    axis                 the dimension; default 0
    Returns              a list of tensors
    Raises               UserError if a piece is outside of x
    >>> topi.split(te.placeholder((5, 7)), [2, 3], axis=1)
    """
    at = _axis(x, axis)
    extent = x.shape[at]
    if isinstance(indices_or_sections, list | tuple):
        starts = [_number(each) for each in indices_or_sections]
    else:
        starts = _number(indices_or_sections)
    _require("split", x, indices_or_sections=starts, axis=at)
    if isinstance(starts, int):
        length = (extent + (starts - 1)) // starts
        starts = [_core.binary("Min", length * n, extent) for n in range(1, starts)]
    return _topi.split(
        x, [_core.const(each, extent.dtype) if isinstance(each, int) else each for each in starts], at
    )


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


def layout_transform(a, index_map, pad_value=0):
    """a laid out by an index map: the element at i is stored at index_map(i).

    a          a tensor
    index_map  a function of one index per dimension, or tir.IndexMap, that gives the indices of the result
    pad_value  at places of the result that no element has; default 0
    Returns    a tensor
    Raises     UserError if the map takes another number of indices, or cannot be inverted
    >>> topi.layout_transform(te.placeholder((5, 8)), lambda i, j: (j // 4, i, j % 4))
    """
    return _topi.layout_transform(a, tir.index_map(index_map), _core.const(pad_value, a.dtype))


def sliding_windows(a, axis: int, window_shape, strides):
    """The windows that slide over the last dimensions of a.

    a             a tensor
    axis          the first dimension that windows slide over
    window_shape  extents of a window, for each dimension from axis on
    strides       steps of the window, for each of them
    Returns       a tensor [extents before axis, positions of windows, window_shape]
    Raises        UserError if there is not one extent and one step for each dimension from axis on
    >>> topi.sliding_windows(te.placeholder((2, 5, 7)), 1, (3, 2), (1, 2))
    """
    first = _axis(a, axis)
    window, steps = _shape(window_shape), _shape(strides)
    count = len(a.shape) - first
    if not len(window) == len(steps) == count:
        raise UserError(
            f"sliding_windows: {len(window)} extents and {len(steps)} steps for {count} dimensions from axis {first} on"
        )
    positions = [
        (extent - length) // step + 1
        for extent, length, step in zip(a.shape[first:], window, steps, strict=True)
    ]

    def element(*i):
        at, within = i[first : first + count], i[first + count :]
        return a(*i[:first], *(p * step + w for p, w, step in zip(at, within, steps, strict=True)))

    return _compute([*a.shape[:first], *positions, *window], element, "T_sliding_windows")
