"""The part of the IR that loop programs and graphs share: modules, functions, types, structural equality, saving and loading."""

from .. import _core
from ._nodes import classes
from .module import IRModule
from .structural import (
    StructuralMismatch,
    assert_structural_equal,
    load_json,
    save_json,
    structural_equal,
    structural_hash,
)

Object = _core.Object
Expr = classes["Expr"]
PrimExpr = classes["PrimExpr"]
RelaxExpr = classes["RelaxExpr"]
BaseFunc = classes["BaseFunc"]
Type = classes["Type"]
IntImm = classes["ir.IntImm"]
FloatImm = classes["ir.FloatImm"]
StringImm = classes["ir.StringImm"]
Range = classes["ir.Range"]
Op = classes["ir.Op"]
GlobalVar = classes["ir.GlobalVar"]
PrimType = classes["ir.PrimType"]
PointerType = classes["ir.PointerType"]
TupleType = classes["ir.TupleType"]
ObjectType = classes["ir.ObjectType"]

__all__ = [
    "BaseFunc", "Expr", "FloatImm", "GlobalVar", "IRModule", "IntImm", "Object", "ObjectType", "Op", "PointerType",
    "PrimExpr", "PrimType", "Range", "RelaxExpr", "StringImm", "StructuralMismatch", "TupleType", "Type",
    "assert_structural_equal", "load_json", "save_json", "structural_equal", "structural_hash",
]  # fmt: skip
