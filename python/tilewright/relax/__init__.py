"""Graphs: values, operators, the block builder, passes, building and running."""

from .. import _core
from .._guard import guard_class, guard_module
from ..build import build_graph as build
from ..ir._nodes import classes
from ..runtime.vm import Executable, VirtualMachine
from . import op, transform
from .block_builder import BlockBuilder

for _kind, _class in list(classes.items()):
    if _kind.startswith("relax."):
        globals()[_kind[6:]] = _class
del _kind, _class

Expr = classes["RelaxExpr"]
Binding = classes["Binding"]
BindingBlock = classes["BindingBlock"]
TensorType = classes["relax.TensorType"]


def TensorStructInfo(shape=None, dtype: str = "float32", ndim: int = -1):
    """The type of a tensor: shape as ints and expressions, or None with ndim, or neither."""
    return _core.relax_tensor_type(None if shape is None else list(shape), dtype or "void", ndim)


def Var(name: str, type=None):
    """A graph variable of a type."""
    return _core.make_node("relax.Var", {"name_hint": name, "type": type})


def const(value, dtype: str | None = None):
    """A constant with the elements of `value`: a number, a numpy array or a tensor."""
    import numpy

    if isinstance(value, int | float | bool | list | numpy.generic) or dtype is not None:
        value = numpy.array(value, dtype=dtype or ("float32" if isinstance(value, float) else None))
    return _core.relax_constant(value)


__all__ = [
    "BlockBuilder",
    "Executable",
    "TensorStructInfo",
    "VirtualMachine",
    "build",
    "const",
    "op",
    "transform",
]


guard_module(__name__, globals(), ["TensorStructInfo", "Var", "const"])
guard_class("tilewright.relax.BlockBuilder", BlockBuilder)
