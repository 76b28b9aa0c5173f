"""Products of matrices and tensors."""

import string

from .. import _core
from ..errors import UserError
from ._arguments import _axis, _numbers, _require, _text

_topi = _core.topi


def matmul(a, b, out_dtype: str = ""):
    """The product as numpy.matmul; summed in out_dtype."""
    _require("matmul", a, b, of_dtype="float32")
    return _topi.matmul(a, b, out_dtype or "void")


def einsum(subscripts: str, *operands):
    """The product of the operands, summed over the letters that the result lacks, as numpy.einsum.

    subscripts  the letters of each operand and of the result: "ij,jk->ik"
    operands    tensors of one dtype
    Returns     a tensor of that dtype
    Raises      UserError if the letters do not fit the operands
    >>> topi.einsum("ij,kj->ik", te.placeholder((5, 7)), te.placeholder((3, 7)))
    """
    parts = list(operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands)
    _require("einsum", parts, subscripts=subscripts)
    return _topi.einsum(parts, subscripts)


def tensordot(a, b, axes=2):
    """The product of a and b, summed over axes of both, as numpy.tensordot.

    a, b     tensors of one dtype
    axes     how many, the last of a and the first of b; or two lists, of axes of a and of b; default 2
    Returns  a tensor [other axes of a, other axes of b]
    Raises   UserError if the extents of two such axes differ
    >>> topi.tensordot(te.placeholder((5, 7, 3)), te.placeholder((3, 7)), [[2, 1], [0, 1]])
    """
    if isinstance(axes, int):
        if not 0 <= axes <= min(len(a.shape), len(b.shape)):
            raise UserError(f"tensordot: {axes} axes of {_text(a.shape)} and {_text(b.shape)}")
        axes = [list(range(len(a.shape) - axes, len(a.shape))), list(range(axes))]
    of_a, of_b = ([each] if isinstance(each, int) else list(each) for each in axes)
    of_a, of_b = [_axis(a, axis) for axis in of_a], [_axis(b, axis) for axis in of_b]
    if len(of_a) != len(of_b):
        raise UserError(f"tensordot: {len(of_a)} axes of a, but {len(of_b)} of b")
    for x, y in zip(of_a, of_b, strict=True):
        left, right = _numbers([a.shape[x], b.shape[y]])
        if isinstance(left, int) and isinstance(right, int) and left != right:
            raise UserError(f"tensordot: axis {x} of a is {left}, but axis {y} of b is {right}")
    letters = iter(string.ascii_lowercase)
    first = [next(letters) for _ in a.shape]
    second = [first[of_a[of_b.index(n)]] if n in of_b else next(letters) for n in range(len(b.shape))]
    kept = [x for n, x in enumerate(first) if n not in of_a] + [
        y for n, y in enumerate(second) if n not in of_b
    ]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)


def outer(x1, x2):
    """The products of each element of x1 with each of x2.

    x1       [n]
    x2       [m], same dtype
    Returns  a tensor [n, m]
    Raises   UserError if one has not one dimension
    >>> topi.outer(te.placeholder((5,)), te.placeholder((7,)))
    """
    _require("outer", x1, x2)
    return _topi.einsum([x1, x2], "i,j->ij")
