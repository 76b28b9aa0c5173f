"""Arguments of topi functions in the form that the C++ functions take."""

from .. import _core
from ..errors import UserError
from ..ir._nodes import classes

_PrimExpr, _Tensor = classes["PrimExpr"], classes["te.Tensor"]


def _operand(value, dtype: str | None):
    """A value of a graph with the type of `value`: a tensor (of `dtype` if one is given), several of them, or a shape."""
    if isinstance(value, _Tensor):
        type = _core.relax_tensor_type(list(value.shape), dtype or value.dtype, -1, "")
        return _core.make_node("relax.Var", {"name_hint": "x", "type": type})
    if value and isinstance(value[0], _Tensor):
        return _core.make_node("relax.Tuple", {"elements": [_operand(each, dtype) for each in value]})
    return _core.relax_shape(list(value))


def _require(op: str, *operands, of_dtype: str | None = None, **attrs) -> None:
    """Raises the UserError of the graph operator `op` if it cannot take these operands and attributes.

    of_dtype  the dtype that operands count as, where topi takes any: products of uint8 by int8
    """
    values = [_operand(each, of_dtype) for each in operands]
    _core.relax_infer_type(_core.relax_call_op(f"relax.{op}", values, attrs))


def _axis(x, axis: int) -> int:
    """`axis` counted from the front."""
    ndim = len(x.shape)
    if not -ndim <= axis < ndim:
        raise UserError(f"axis {axis} is outside of a tensor with {ndim} dimension{'' if ndim == 1 else 's'}")
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
