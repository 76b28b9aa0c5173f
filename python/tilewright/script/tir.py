"""T: the names of loop programs in scripts.  Used outside a script, math functions build expressions."""

import re as _re

from .. import _core
from .. import tir as _tir
from .annotation import Annotation as _Annotation
from .decorators import macro, prim_func

__all__ = ["inline", "macro", "prim_func"]

inline = macro  # its name since 2026
_DTYPE = _re.compile(r"bool|((u?int|float|bfloat)\d+(_\w+)?)(x\d+)?")


class _Dtype(_Annotation):
    """T.float32: a type; called with a value, outside of a script, the value converted."""

    __slots__ = ("_name",)

    def __init__(self, name: str):
        super().__init__(f"T.{name}")
        self._name = name

    def __call__(self, *args, **kwargs):
        is_value = len(args) == 1 and not kwargs and isinstance(args[0], (int, float, _tir.PrimExpr))
        return _cast(args[0], self._name) if is_value else super().__call__(*args, **kwargs)


def _cast(value, dtype):
    return _core.cast(dtype, value) if isinstance(value, _tir.PrimExpr) else _tir.const(value, dtype)


def _select(condition, true_value, false_value):
    a, b = _tir.const_like(true_value, false_value), _tir.const_like(false_value, true_value)
    return _tir.Select(condition, a, b)


# functions that have the name of a node
_EXPRESSIONS = {
    "Cast": lambda dtype, value: _cast(value, dtype),
    "cast": _cast,
    "Select": _select,
    "Broadcast": lambda value, lanes: _tir.Broadcast(value, lanes),
    "Ramp": lambda base, stride, lanes: _tir.Ramp(
        _tir.const_like(base, stride), _tir.const_like(stride, base), lanes
    ),
}


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _EXPRESSIONS:
        return _EXPRESSIONS[name]
    if _DTYPE.fullmatch(name):
        return _Dtype(name)
    found = getattr(_tir, name, None)
    if callable(found) and not isinstance(found, type):
        return found
    return _Annotation(f"T.{name}")
