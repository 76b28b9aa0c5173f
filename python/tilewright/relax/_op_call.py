"""A call of a graph operator from Python values.  Apart from op.py, whose names (all, sum, round) hide builtins."""

import inspect

from .. import _core
from .._numbers import plain
from ..ir._nodes import classes

_Constant, _PrimExpr = classes["relax.Constant"], classes["PrimExpr"]


def _is_extent(value) -> bool:
    value = plain(value)
    return (isinstance(value, int) and not isinstance(value, bool)) or isinstance(value, _PrimExpr)


def _value(value):
    """`value` as a graph value: numbers and strings are scalars, lists of extents shapes, other lists tuples."""
    value = plain(value)
    if isinstance(value, bool | float | _PrimExpr):
        return _core.make_node("relax.PrimValue", {"value": value})
    if isinstance(value, int):
        return _core.make_node(
            "relax.PrimValue", {"value": _core.make_node("ir.IntImm", {"dtype": "int64", "value": value})}
        )
    if isinstance(value, str):
        return _core.make_node("relax.StringValue", {"value": value})
    if isinstance(value, list | tuple):
        if all(_is_extent(item) for item in value):
            return _core.relax_shape([plain(item) for item in value])
        return _core.make_node("relax.Tuple", {"elements": [_value(item) for item in value]})
    return value


def _number(value):
    """An attribute: a constant without dimensions is its number."""
    is_number = isinstance(value, _Constant) and value.data.ndim == 0
    return value.data.numpy().item() if is_number else value


def _signature(arg_names: list, attr_names: list) -> inspect.Signature:
    """Arguments by position or name, then attributes, which all may be left out."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    args = [inspect.Parameter(name, kind) for name in arg_names]
    return inspect.Signature([*args, *(inspect.Parameter(name, kind, default=None) for name in attr_names)])


def operator(name: str, arg_names: list, doc: str, attrs: list, source: str):
    attr_names = [attr for attr, _, _ in attrs]

    def call(*args, **kwargs):
        given = dict(zip(arg_names + attr_names, args, strict=False))
        more = list(args[len(arg_names) + len(attr_names) :])
        given.update(kwargs)
        if "dtype" in arg_names and isinstance(given.get("dtype"), str):
            given["dtype"] = _core.make_node("relax.DataTypeValue", {"value": given["dtype"]})
        positional = [given.pop(arg) for arg in arg_names if given.get(arg) is not None]
        values = {key: _number(value) for key, value in given.items() if value is not None}
        return _core.relax_call_op(name, [_value(arg) for arg in positional + more], values)

    call.__signature__ = _signature(arg_names, attr_names)
    call.__name__ = call.__qualname__ = name.rsplit(".", 1)[-1]
    lines = [f"{', '.join(arg_names)}  by position or name"] if arg_names else []
    lines += [f"{attr}  {text} ({kind})" for attr, text, kind in attrs]
    call.__doc__ = "\n".join([doc, "", *lines, f"Source  {source}"])
    return call
