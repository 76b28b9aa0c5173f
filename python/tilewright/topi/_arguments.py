"""Arguments of topi functions in the form that the C++ functions take, and tensors that are computed here."""

from .. import _core
from .._numbers import plain
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


def _call(op: str, operands, attrs: dict, dtype: str | None = None):
    return _core.relax_call_op(f"relax.{op}", [_operand(each, dtype) for each in operands], attrs)


def _require(op: str, *operands, of_dtype: str | None = None, **attrs) -> None:
    """Raises the UserError of the graph operator `op` if it cannot take these operands and attributes.

    of_dtype  the dtype that operands count as, where topi takes any: products of uint8 by int8
    """
    _core.relax_infer_type(_call(op, operands, attrs, of_dtype))


def _axis(x, axis: int) -> int:
    """`axis` counted from the front."""
    ndim = len(x.shape)
    if not -ndim <= axis < ndim:
        raise UserError(f"axis {axis} is outside of a tensor with {_counted(ndim)}")
    return axis % ndim


def _counted(ndim: int) -> str:
    """So many dimensions, in messages."""
    return f"{ndim} dimension{'' if ndim == 1 else 's'}"


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


def _is_float(x) -> bool:
    return x.dtype.startswith(("float", "bfloat"))


def _require_float(name: str, *tensors) -> None:
    """Raises UserError unless all `tensors` are of floats."""
    for x in tensors:
        if not _is_float(x):
            raise UserError(f'{name}: x is {x.dtype}, expected floats\nhelp: topi.cast(x, "float32")')


def _bits(dtype: str) -> int:
    """The bits of an element."""
    return 8 if dtype == "bool" else int("".join(filter(str.isdigit, dtype.partition("_")[0])) or 0)


def _number(value):
    """`value` as a Python int if it is a constant, else as it is."""
    value = plain(value)
    return getattr(value, "value", value) if isinstance(value, _PrimExpr) else value


def _numbers(values) -> list:
    """The extents or bounds `values`, constants as Python ints."""
    return [_number(value) for value in values]


def _compute(shape, body, name: str):
    """The tensor of `shape` whose element at the axes is `body(*axes)`."""
    return _core.te_compute(list(shape), body, name, {}, [])[0]


def _reduce_axis(extent, name: str):
    """An axis 0 .. extent - 1 to reduce over."""
    extent = _const(extent, "int32")
    domain = _core.make_node("ir.Range", {"min": _core.const(0, extent.dtype), "extent": extent})
    return _core.te_reduce_axis(domain, name)


def _runtime(name: str, inputs: list, outputs: list, *attributes) -> list:
    """The tensors that the runtime function tilewright.NAME computes of `inputs`.

    outputs     (shape, dtype) of each
    attributes  what the function gets between the inputs and the outputs
    """
    read = [_core.make_buffer(f"x{n}", list(x.shape), x.dtype, "global") for n, x in enumerate(inputs)]
    written = [
        _core.make_buffer(f"y{n}", list(shape), dtype, "global") for n, (shape, dtype) in enumerate(outputs)
    ]

    def call(ins, outs):
        return _core.call_op("int32", "call_packed", [f"tilewright.{name}", *ins, *attributes, *outs])

    return _core.te_extern(f"T_{name}", inputs, read, written, call, {})


def _text(shape) -> str:
    """The extents of `shape` in messages."""
    return f"[{', '.join(str(_number(extent)) for extent in shape)}]"
