"""Graphs: values, operators, the block builder, passes, building and running."""

from .. import _core
from .._guard import guard_class, guard_module
from ..build import build_graph as build
from ..ir._nodes import classes
from ..runtime.vm import Executable, VirtualMachine
from . import analysis, expr_functor, op, pattern, transform
from .block_builder import BlockBuilder
from .expr import const
from .expr_functor import PyExprMutator, PyExprVisitor
from .pattern import FuseOpsByPattern

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
    extents = None if shape is None else list(shape)
    return _core.relax_tensor_type(extents, dtype or "void", ndim)


__all__ = [
    "BlockBuilder",
    "Executable",
    "PyExprMutator",
    "PyExprVisitor",
    "TensorStructInfo",
    "VirtualMachine",
    "analysis",
    "build",
    "const",
    "expr_functor",
    "op",
    "pattern",
    "transform",
]


transform.FuseOpsByPattern = FuseOpsByPattern
transform.PatternCheckContext = pattern.PatternCheckContext
guard_module(__name__, globals(), ["TensorStructInfo", "const"])
guard_class("tilewright.relax.BlockBuilder", BlockBuilder)
