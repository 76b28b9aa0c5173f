"""Arguments of topi functions in the form that the C++ functions take."""

from .. import _core
from ..errors import UserError
from ..ir._nodes import classes

_PrimExpr = classes["PrimExpr"]


def _axis(x, axis: int) -> int:
    """`axis` counted from the front."""
    ndim = len(x.shape)
    if not -ndim <= axis < ndim:
        raise UserError(f"axis {axis} of a tensor with {ndim} dimensions")
    return axis % ndim


def _axes(x, axis) -> list[int]:
    """The axes that `axis` names, an int or several, in order; all where it is None."""
    if axis is None:
        return list(range(len(x.shape)))
    return sorted({_axis(x, each) for each in (axis if isinstance(axis, list | tuple) else [axis])})


def _const(value, dtype):
    """`value` as an expression of `dtype`."""
    return value if isinstance(value, _PrimExpr) else _core.const(value, dtype)


def _shape(shape) -> list:
    """The extents of `shape`, one or several, as expressions."""
    return [_const(extent, "int32") for extent in (shape if isinstance(shape, list | tuple) else [shape])]
