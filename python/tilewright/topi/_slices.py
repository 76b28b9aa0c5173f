"""Parts of tensors: slices, and elements that tensors of indices choose."""

from .. import _core
from ..errors import UserError
from ._arguments import _axis, _compute, _const, _number, _numbers, _require, _text

_topi = _core.topi
_FAR = 2**31 - 1


def _clamped(bound, extent, low, high):
    """`bound`, a number or expression, between low and high; a negative number counts from the end."""
    if isinstance(bound, int):
        if bound >= _FAR or bound < -_FAR:
            return high if bound > 0 else low
        if bound < 0:
            bound = extent + bound
    return _core.binary("Min", _core.binary("Max", bound, low), high)


def _slice_of(extent, begin, end, stride: int) -> tuple:
    """(begin, length) of the slice begin:end:stride of a dimension, as numpy takes it; bounds may be None."""
    size = _number(extent)
    if isinstance(size, int) and all(bound is None or isinstance(bound, int) for bound in (begin, end)):
        places = range(*slice(begin, end, stride).indices(size))
        return places.start if len(places) else 0, len(places)
    if stride == 1 and begin in (None, 0) and (end is None or (isinstance(end, int) and end >= _FAR)):
        return 0, extent
    extent = _const(extent, "int32")
    low, high = (
        (_core.const(0, extent.dtype), extent) if stride > 0 else (_core.const(-1, extent.dtype), extent - 1)
    )
    first = (low if stride > 0 else high) if begin is None else _clamped(begin, extent, low, high)
    last = (high if stride > 0 else low) if end is None else _clamped(end, extent, low, high)
    distance = last - first if stride > 0 else first - last
    length = (distance + (abs(stride) - 1)) // abs(stride)
    return first, _core.binary("Max", length, _core.const(0, extent.dtype))


def strided_slice(a, begin, end, strides=None, axes=None):
    """a[begin:end:strides], as in numpy.

    a        a tensor
    begin    first positions, numbers or expressions; a negative number counts from the end, None is the first one there is
    end      positions after the last, the same; None is all there are
    strides  steps, numbers, negative ones go backwards; default 1
    axes     the dimensions that these are of; default the first ones
    Returns  a tensor
    Raises   UserError if there are not as many of each, an axis is outside of a, or a step is 0
    >>> topi.strided_slice(te.placeholder((5, 7)), [1, -1], [5, -8], [2, -1])
    """
    begin, end = _numbers(begin), _numbers(end)
    dims = list(range(len(begin))) if axes is None else [_axis(a, axis) for axis in axes]
    steps = [1] * len(dims) if not strides else _numbers(strides)
    steps += [1] * (len(dims) - len(steps))
    if not len(dims) == len(begin) == len(end) == len(steps):
        raise UserError(
            f"strided_slice: {len(dims)} axes, {len(begin)} begins, {len(end)} ends and {len(steps)} strides"
        )
    if len(dims) > len(a.shape):
        raise UserError(f"strided_slice: {len(dims)} begins for a of shape {_text(a.shape)}")
    shape, first, stride = list(a.shape), [0] * len(a.shape), [1] * len(a.shape)
    for n, dim in enumerate(dims):
        if not isinstance(steps[n], int) or steps[n] == 0:
            raise UserError(
                f"strided_slice: the stride of axis {dim} is {steps[n]}, expected a number that is not 0"
            )
        first[dim], shape[dim] = _slice_of(a.shape[dim], begin[n], end[n], steps[n])
        stride[dim] = steps[n]
    kinds = [extent.dtype for extent in a.shape]
    as_exprs = [
        [_const(v, kind) for v, kind in zip(each, kinds, strict=True)] for each in (first, stride, shape)
    ]
    return _topi.strided_slice(a, *as_exprs)


def slice_scatter(input_tensor, src, start: int, end: int, step: int = 1, axis: int = 0):
    """input_tensor with input_tensor[start:end:step] along `axis` replaced by src.

    input_tensor  a tensor
    src           of the shape of that slice, same dtype
    start, end    of the slice, as in numpy
    step          of the slice, at least 1; default 1
    axis          the dimension; default 0
    Returns       a tensor of the shape of input_tensor
    Raises        UserError if src has not the shape of the slice
    >>> topi.slice_scatter(te.placeholder((5, 7)), te.placeholder((5, 3)), 0, 6, 2, axis=1)
    """
    at = _axis(input_tensor, axis)
    extent = input_tensor.shape[at]
    if not isinstance(step, int) or step < 1:
        raise UserError(f"slice_scatter: the step is {step}, expected at least 1")
    first, length = _slice_of(extent, _number(start), _number(end), step)
    wanted = [*input_tensor.shape[:at], _const(length, extent.dtype), *input_tensor.shape[at + 1 :]]
    pairs = zip(_numbers(src.shape), _numbers(wanted), strict=False)
    differs = any(isinstance(x, int) and isinstance(y, int) and x != y for x, y in pairs)
    if differs or len(src.shape) != len(wanted):
        raise UserError(f"slice_scatter: src is {_text(src.shape)}, but the slice is {_text(wanted)}")
    if src.dtype != input_tensor.dtype:
        raise UserError(f"slice_scatter: src is {src.dtype}, but input_tensor is {input_tensor.dtype}")
    return _topi.slice_scatter(input_tensor, src, _const(first, extent.dtype), _const(step, extent.dtype), at)


def take(a, indices, axis: int | None = 0, mode: str = "clip", batch_dims: int = 0):
    """The elements of dimension `axis` that indices choose.

    a           a tensor
    indices     of integers, any shape; negative ones count from the end
    axis        the dimension; None: of all elements in row-major order; default 0
    mode        indices out of bounds: "clip" takes the nearest, "wrap" takes them modulo the extent, "fast" promises that there
                are none; default "clip"
    batch_dims  how many leading dimensions a and indices share; default 0
    Returns     a tensor [a before axis, indices without batch_dims, a after axis]
    Raises      UserError if indices are no integers, or axis is outside of a
    >>> topi.take(te.placeholder((5, 7)), te.placeholder((3,), "int32"), axis=1)
    """
    if axis is None:
        from ._shapes import flatten

        a, axis = flatten(a), 0
    at = _axis(a, axis)
    _require("take", a, indices, axis=at, mode=mode)
    if not batch_dims:
        return _topi.take(a, indices, at, mode)
    batch = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    if not 0 < batch <= min(at, len(indices.shape)):
        raise UserError(
            f"take: batch_dims {batch_dims} with axis {at} and indices of shape {_text(indices.shape)}:"
            " expected at most axis, and at most the dimensions of indices"
        )
    return _take_of_batches(a, indices, at, mode, batch)


def _take_of_batches(a, indices, axis: int, mode: str, batch: int):
    places = len(indices.shape) - batch
    extent = a.shape[axis]
    zero = _core.const(0, extent.dtype)

    def element(*i):
        index = _core.cast(extent.dtype, indices(*i[:batch], *i[axis : axis + places]))
        if mode == "wrap":
            index = index % extent
        else:
            index = _core.select(index < zero, index + extent, index)
        if mode == "clip":
            index = _core.binary("Min", _core.binary("Max", index, zero), extent - 1)
        return a(*i[:axis], index, *i[axis + places :])

    return _compute([*a.shape[:axis], *indices.shape[batch:], *a.shape[axis + 1 :]], element, "T_take")


def gather_elements(data, indices, axis: int = 0):
    """result[i, .., j] = data[i, .., indices[i, .., j], .., j], the index at dimension `axis` (torch.gather).

    data     a tensor
    indices  of integers, with as many dimensions, and extents of at most those of data but at axis
    axis     the dimension; default 0
    Returns  a tensor of the shape of indices
    Raises   UserError if indices do not fit
    >>> topi.gather_elements(te.placeholder((5, 7)), te.placeholder((5, 3), "int64"), axis=1)
    """
    at = _axis(data, axis)
    _require("gather_elements", data, indices, axis=at)
    return _topi.gather_elements(data, indices, at)


def gather_nd(data, indices, batch_dims: int = 0):
    """result[i, .., j ..] = data[indices[i, .., 0], indices[i, .., 1] .., j ..]: rows of indices are places (onnx GatherND).

    data        a tensor
    indices     of integers; the last extent is a constant
    batch_dims  how many leading dimensions data and indices share; default 0
    Returns     a tensor [indices but the last, the rest of data]
    Raises      UserError if indices do not fit
    >>> topi.gather_nd(te.placeholder((5, 7)), te.placeholder((3, 2), "int32"))
    """
    _require("gather_nd", data, indices, batch_dims=batch_dims)
    return _topi.gather_nd(data, indices, batch_dims)


def index_tensor(data, indices):
    """data[indices[0], indices[1], ..], as in numpy.

    data     a tensor
    indices  tensors of integers that broadcast, at most one for each dimension
    Returns  a tensor [their common shape, the rest of data]
    Raises   UserError if they do not broadcast, or are too many
    >>> topi.index_tensor(te.placeholder((5, 7)), [te.placeholder((3,), "int32"), te.placeholder((2, 1), "int32")])
    """
    places = list(indices)
    _require("index_tensor", data, places)
    common = []
    for each in places:
        common = _topi.broadcast_shape(common, list(each.shape))
    return _topi.index_tensor(data, places, common)
