"""R: the names of graphs in scripts.  Used outside a script, types are types and operators make calls."""

import inspect

from .._numbers import plain
from ..errors import Error
from .annotation import Annotation as _Annotation
from .decorators import _decorator, function, macro

__all__ = ["function", "macro", "rewriter"]


def rewriter(definition: type):
    """The PatternMatchingRewriter of the decorated class: what its function `pattern` computes becomes `replacement`.

    @R.rewriter
    class Square:
        @R.function
        def pattern(x: R.Tensor(("n",), "float32")):
            y = R.multiply(x, x)
            return y

        @R.function
        def replacement(x: R.Tensor(("n",), "float32")):
            y = R.square(x)
            return y

    Square(mod)
    """
    from ..relax.pattern import PatternMatchingRewriter

    return PatternMatchingRewriter.from_module(_decorator(definition, inspect.currentframe().f_back, True))


def _tensor(shape=None, dtype=None, vdevice=None, ndim: int = -1):
    from .. import relax

    if isinstance(shape, str) and dtype is None:
        shape, dtype = None, shape
    return relax.TensorType(shape, dtype or "", ndim, str(vdevice or ""))


def _shape(values=None, ndim: int = -1):
    from .. import _core, relax

    if values is None:
        return relax.ShapeType(values=[], ndim=ndim, is_known=False)
    return _core.relax_shape(list(values)).type


def _tuple(*elements):
    from ..ir._nodes import classes

    listed = elements[0] if len(elements) == 1 and isinstance(elements[0], list | tuple) else elements
    return classes["ir.TupleType"]([_type(each) for each in listed])


def _prim(dtype=None, value=None):
    from .. import tir
    from ..ir._nodes import classes

    if value is None:
        return classes["ir.PrimType"](dtype=str(dtype))
    value = plain(value)
    known = tir.const(value, dtype or "int64") if isinstance(value, int | float) else value
    return classes["ir.PrimType"](dtype=known.dtype, value=known)


def _callable(params=None, ret=None, purity=None):
    from .. import relax

    is_opaque = params is None
    return relax.CallableType(
        params=[_type(each) for each in params or []],
        ret=_object() if ret is None else _type(ret),
        is_pure=not is_opaque if purity is None else purity,
        is_opaque=is_opaque,
    )


def _object():
    from ..ir._nodes import classes

    return classes["ir.ObjectType"]()


_TYPES = {
    "Tensor": _tensor,
    "Shape": _shape,
    "Tuple": _tuple,
    "Prim": _prim,
    "Callable": _callable,
    "Object": _object,
    "Any": _object,
}


class _TypeName(_Annotation):
    """R.Tensor; called, the type itself, or an annotation for the parser where an extent is text."""

    __slots__ = ("_name",)

    def __init__(self, name: str):
        super().__init__(f"R.{name}")
        self._name = name

    def __call__(self, *args, **kwargs):
        try:
            return _TYPES[self._name](*args, **kwargs)
        except (Error, TypeError, ValueError, AttributeError):
            return super().__call__(*args, **kwargs)


def _type(value):
    return _TYPES[value._name]() if isinstance(value, _TypeName) else value


def _text_value(value):
    from .. import _core

    return _core.make_node("relax.StringValue", {"value": value})


def _dtype_value(value):
    from .. import _core

    return _core.make_node("relax.DataTypeValue", {"value": value})


def _scalar(value):
    from ..relax._op_call import _value

    return _value(value)


def _shape_value(values):
    from .. import _core

    return _core.relax_shape(list(values))


def _tuple_value(*elements):
    from ..ir._nodes import classes
    from ..relax._op_call import _value

    return classes["relax.Tuple"]([_value(each) for each in elements])


def _const(value, dtype=None):
    from ..relax import const

    return const(value, dtype)


def _extern(global_symbol: str, struct_info=None):
    from ..ir._nodes import classes

    return classes["relax.ExternFunc"](global_symbol=global_symbol, type=struct_info)


_VALUES = {
    "const": _const,
    "dtype": _dtype_value,
    "ExternFunc": _extern,
    "prim_value": _scalar,
    "shape": _shape_value,
    "str": _text_value,
    "tuple": _tuple_value,
}


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _TYPES:
        return _TypeName(name)
    if name in _VALUES:
        return _VALUES[name]
    from ..relax import op

    found = getattr(op, name, None)
    return _Annotation(f"R.{name}") if found is None or name.startswith("_") else found
