"""Order of elements: runtime functions, because they are no loop nests; and what follows from it."""

from .. import _core
from ._arguments import _axis, _require, _runtime

_topi = _core.topi


def sort(x, axis: int = -1, descending: bool = False):
    """The elements of each row in order, NaN as the largest.

    x           a tensor
    axis        the dimension to sort along; default the last
    descending  whether the largest come first; default False
    Returns     a tensor of the shape of x
    Raises      UserError if axis is outside of x
    >>> topi.sort(te.placeholder((5, 7)), axis=0)
    """
    at = _axis(x, axis)
    return _runtime("sort", [x], [(x.shape, x.dtype)], at, descending)[0]


def argsort(x, axis: int = -1, descending: bool = False, dtype: str = "int32"):
    """The positions that sort each row; equal elements keep their order.

    x           a tensor
    axis        the dimension to sort along; default the last
    descending  whether the largest come first; default False
    dtype       of the positions, int32 or int64; default int32
    Returns     a tensor of the shape of x
    Raises      UserError if axis is outside of x, or dtype is another
    >>> topi.argsort(te.placeholder((5, 7)), axis=0)
    """
    at = _axis(x, axis)
    _require("argsort", x, axis=at, descending=descending, dtype=dtype)
    return _runtime("argsort", [x], [(x.shape, dtype)], at, descending)[0]


def topk(x, k: int = 1, axis: int = -1, ret_type: str = "both", largest: bool = True, dtype: str = "int32"):
    """The k largest elements of each row in order, and their positions.

    x         a tensor
    k         number of elements; less than 1: all of them; default 1
    axis      the dimension to search; default the last
    ret_type  "values", "indices" or "both"; default "both"
    largest   whether the largest are taken, else the smallest; default True
    dtype     of the positions, int32 or int64; default int32
    Returns   a tensor, or a list of two
    Raises    UserError if the dimension has fewer than k elements
    >>> topi.topk(te.placeholder((5, 7)), k=3)
    """
    at = _axis(x, axis)
    _require("topk", x, k=k, axis=at, ret_type=ret_type, largest=largest, dtype=dtype)
    shape = list(x.shape)
    if k >= 1:
        shape[at] = _core.const(k, shape[at].dtype)
    outputs = {"values": [(shape, x.dtype)], "indices": [(shape, dtype)]}
    wanted = outputs.get(ret_type) or [*outputs["values"], *outputs["indices"]]
    made = _runtime("topk", [x], wanted, k, at, ret_type, largest)
    return made if ret_type == "both" else made[0]


def searchsorted(sorted_sequence, values, right: bool = False, dtype: str = "int32"):
    """For each value how many elements of a sorted row are before it.

    sorted_sequence  [n], or [.., n] with the leading dimensions of values
    values           a tensor of the same dtype
    right            whether equal elements count, too; default False
    dtype            of the result; default int32
    Returns          a tensor of the shape of values
    Raises           UserError if the leading dimensions differ
    >>> topi.searchsorted(te.placeholder((7,)), te.placeholder((5, 3)))
    """
    _require("searchsorted", sorted_sequence, values, right=right)
    return _topi.searchsorted(sorted_sequence, values, right, dtype)
