"""Graphs: values, operators, the block builder, passes, building and running."""

from .. import _core
from .._guard import guard, guard_class, guard_module
from ..build import build_graph as build
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.printing import to_script
from ..runtime import Executable, VirtualMachine
from . import analysis, binding_rewrite, expr_functor, op, pattern, training, transform
from .block_builder import BlockBuilder
from .expr import const
from .expr_functor import PyExprMutator, PyExprVisitor
from .external import MergeCompositeFunctions, RunCodegen, register_codegen
from .lazy_params import LazyTransformParams
from .pattern import FuseOpsByPattern

for _kind, _class in list(classes.items()):
    if _kind.startswith("relax."):
        globals()[_kind[6:]] = _class
del _kind, _class

for _group in ("RelaxExpr", "Binding", "BindingBlock", "Type"):
    classes[_group].__str__ = classes[_group].__repr__ = to_script
del _group

Expr = classes["RelaxExpr"]
Binding = classes["Binding"]
BindingBlock = classes["BindingBlock"]
TensorType = classes["relax.TensorType"]


def _tensor_type(cls, shape=None, dtype: str = "float32", ndim: int = -1, device: str = ""):
    """The type of a tensor.

    shape   ints and expressions, or a graph value that is a shape; None: unknown
    dtype   of the elements; "" or None: unknown
    ndim    number of dimensions where the shape is unknown; -1: unknown
    device  e.g. "cpu:0"; "": any
    Raises UserError for extents below 0 and for an ndim that is not that of the shape.

        relax.Var("x", relax.TensorType((tir.Var("n", "int64"), 7), "float32"))
    """
    dtype, device = dtype or "void", device or ""
    if isinstance(shape, Expr):
        if not isinstance(shape, classes["relax.ShapeExpr"]) and not isinstance(
            shape.type, classes["relax.ShapeType"]
        ):
            raise UserError(f"the shape of a tensor is {shape}, expected a shape or a list of extents")
        fields = {"shape": shape, "dtype": dtype, "ndim": ndim, "device": device}
        return _core.make_node("relax.TensorType", fields)
    return _core.relax_tensor_type(None if shape is None else list(shape), dtype, ndim, device)


TensorType.__new__ = guard("tilewright.relax.TensorType", _tensor_type)

call_tir, call_tir_inplace = op.call_tir, op.call_tir_inplace
call_dps_packed, call_pure_packed = op.call_dps_packed, op.call_pure_packed
extern = classes["relax.ExternFunc"]


__all__ = [
    "BlockBuilder",
    "Executable",
    "PyExprMutator",
    "PyExprVisitor",
    "VirtualMachine",
    "analysis",
    "binding_rewrite",
    "build",
    "const",
    "expr_functor",
    "op",
    "pattern",
    "training",
    "transform",
]


transform.FuseOpsByPattern, transform.LazyTransformParams = FuseOpsByPattern, LazyTransformParams
transform.MergeCompositeFunctions, transform.RunCodegen = MergeCompositeFunctions, RunCodegen
transform.register_codegen = register_codegen
transform.PatternCheckContext = pattern.PatternCheckContext
guard_module(__name__, globals(), ["const"])
guard_class("tilewright.relax.BlockBuilder", BlockBuilder)


def __getattr__(name: str):
    """Ways to describe graphs that not every program needs are loaded when they are first used."""
    import importlib

    if name == "BasePyModule":
        return importlib.import_module(".base_py_module", __name__).BasePyModule
    if name in ("frontend", "testing"):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'tilewright.relax' has no attribute {name!r}")
