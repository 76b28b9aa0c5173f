"""Tensors of constants, positions and patterns."""

from .. import _core
from ..errors import UserError
from ._arguments import _compute, _const, _counted, _number, _require, _shape, _Tensor

_topi = _core.topi


def full(shape, dtype: str, fill_value):
    """One value everywhere."""
    return _topi.full(_shape(shape), dtype, _const(fill_value, dtype))


def full_like(x, fill_value):
    """One value everywhere, in the shape and dtype of x."""
    return full(list(x.shape), x.dtype, fill_value)


def zeros(shape, dtype: str = "float32"):
    """0 everywhere.

    shape    ints or expressions, one for each dimension
    dtype    of the result; default float32
    Returns  a tensor
    >>> topi.zeros((5, 7), "int32")
    """
    return full(shape, dtype, 0)


def ones(shape, dtype: str = "float32"):
    """1 everywhere.

    shape    ints or expressions, one for each dimension
    dtype    of the result; default float32
    Returns  a tensor
    >>> topi.ones((5, 7), "int32")
    """
    return full(shape, dtype, 1)


def zeros_like(x):
    """0 everywhere, in the shape and dtype of x."""
    return full_like(x, 0)


def ones_like(x):
    """1 everywhere, in the shape and dtype of x."""
    return full_like(x, 1)


def arange(start, stop=None, step=1, dtype: str = "float32"):
    """start, start + step, ... up to but not including stop, as numpy.arange.

    start    the first number, or the number after the last if stop is None
    stop     the number after the last
    step     the distance; default 1
    dtype    of the result; default float32
    Returns  a tensor with one dimension
    Raises   UserError if step is 0, or the number of elements is not known to the program
    >>> topi.arange(2, 9, 3, "int32")
    """
    start, stop = (0, start) if stop is None else (start, stop)
    first, last, by = _number(start), _number(stop), _number(step)
    if by == 0:
        raise UserError("arange: the step is 0")
    if all(isinstance(each, int | float) for each in (first, last, by)):
        count = max(0, -int((first - last) // by))
        values = [_core.const(each, "float64") if isinstance(each, float) else each for each in (first, by)]
        kind = "float64" if any(isinstance(each, float) for each in (first, by)) else "int64"
        first, by = (_const(each, kind) for each in values)
        return _topi.arange(first, by, _core.const(count, "int32"), dtype)
    if not isinstance(by, int):
        raise UserError(
            f"arange: the step is {step}, expected an integer where start or stop is an expression"
        )
    distance = _core.binary("Sub", last, first) if by > 0 else _core.binary("Sub", first, last)
    count = _core.binary("Max", (distance + (abs(by) - 1)) // abs(by), 0)
    return _topi.arange(_const(first, distance.dtype), _const(by, distance.dtype), count, dtype)


def eye(n, m=None, k: int = 0, dtype: str = "float32"):
    """1 where column - row is k, else 0.

    n        number of rows
    m        number of columns; default n
    k        which diagonal; default the main one
    dtype    of the result; default float32
    Returns  a tensor [n, m]
    >>> topi.eye(5, 7, k=-1)
    """
    rows, columns = _shape([n, n if m is None else m])
    return _topi.eye([rows, columns], _const(k, rows.dtype), dtype)


def _triangle(name: str, x, k, upper: bool):
    if len(x.shape) < 2:
        raise UserError(f"{name}: x has {_counted(len(x.shape))}, expected at least 2")
    return _topi.triangle(x, _const(k, x.shape[-2].dtype), upper)


def tril(x, k=0):
    """x where column - row <= k, else 0, over the last two dimensions.

    x        a tensor
    k        which diagonal is the last to stay; default the main one
    Returns  a tensor of the shape of x
    Raises   UserError if x has fewer than 2 dimensions
    >>> topi.tril(te.placeholder((5, 7)), k=1)
    """
    return _triangle("tril", x, k, False)


def triu(x, k=0):
    """x where column - row >= k, else 0, over the last two dimensions; arguments as those of tril.

    >>> topi.triu(te.placeholder((5, 7)), k=1)
    """
    return _triangle("triu", x, k, True)


def trace(x, k: int = 0):
    """The sum of the elements of the last two dimensions where column - row is k.

    x        a tensor
    k        which diagonal; default the main one
    Returns  a tensor without the last two dimensions, of the dtype of x
    Raises   UserError if x has fewer than 2 dimensions
    >>> topi.trace(te.placeholder((5, 7)), k=1)
    """
    if len(x.shape) < 2:
        raise UserError(f"trace: x has {_counted(len(x.shape))}, expected at least 2")
    offset = _const(k, x.shape[-2].dtype)

    def on_diagonal(*i):
        value = x(*i)
        return _core.select(_core.binary("EQ", i[-1] - i[-2], offset), value, _core.const(0, x.dtype))

    diagonal = _compute(x.shape, on_diagonal, "T_diagonal")
    return _topi.sum(diagonal, [len(x.shape) - 2, len(x.shape) - 1], False)


def meshgrid(tensors, indexing: str = "ij"):
    """The coordinates of a grid: tensor n of the result varies along dimension n as tensors[n] does.

    tensors   with one dimension, or none
    indexing  "ij", or "xy": the first two dimensions are swapped; default "ij"
    Returns   a list of as many tensors
    Raises    UserError if a tensor has more dimensions
    >>> topi.meshgrid([te.placeholder((5,)), te.placeholder((7,))])
    """
    parts = list(tensors)
    _require("meshgrid", parts, indexing=indexing)
    order = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        order[:2] = [1, 0]
    extents = [part.shape[0] if len(part.shape) else _core.const(1, "int32") for part in parts]
    shape = [extents[n] for n in order]
    return [_topi.spread(part, shape, order.index(n)) for n, part in enumerate(parts)]


def one_hot(indices, on_value, off_value, depth: int, axis: int = -1, dtype: str = "float32"):
    """on_value where the position along a new dimension is the index, else off_value.

    indices    of integers
    on_value   a number or expression
    off_value  the same
    depth      extent of the new dimension
    axis       of the result; default -1
    dtype      of the result; default float32
    Returns    a tensor with one dimension more
    Raises     UserError if axis is outside of the result, or depth is less than 1
    >>> topi.one_hot(te.placeholder((5,), "int32"), 1, 0, 7)
    """
    count = len(indices.shape) + 1
    if not indices.dtype.startswith(("int", "uint")):
        raise UserError(f"one_hot: indices is {indices.dtype}, expected integers")
    if not -count <= axis < count:
        raise UserError(f"one_hot: axis {axis} is outside of a result with {_counted(count)}")
    if _number(depth) < 1:
        raise UserError(f"one_hot: depth is {depth}, expected at least 1")
    on, off = (_const(value, dtype) for value in (on_value, off_value))
    return _topi.one_hot(indices, on, off, _number(depth), axis % count, dtype)


def unravel_index(indices, shape):
    """The places in a tensor of `shape` of elements that indices count in row-major order.

    indices  of integers
    shape    extents, ints or expressions
    Returns  a tensor [number of extents, shape of indices]
    Raises   UserError if indices are no integers
    >>> topi.unravel_index(te.placeholder((5,), "int32"), (3, 4))
    """
    if not indices.dtype.startswith(("int", "uint")):
        raise UserError(f"unravel_index: indices is {indices.dtype}, expected integers")
    at = [shape(n) for n in range(_number(shape.shape[0]))] if isinstance(shape, _Tensor) else _shape(shape)
    extents = [_core.cast(indices.dtype, extent) for extent in at]

    def element(which, *i):
        rest, digits = indices(*i), []
        for extent in reversed(extents):
            digits.insert(0, rest % extent)
            rest = rest // extent
        result = digits[-1]
        for n in range(len(digits) - 2, -1, -1):
            result = _core.select(_core.binary("EQ", which, n), digits[n], result)
        return result

    return _compute([len(extents), *indices.shape], element, "T_unravel_index")
