"""Names of graph nodes and of the virtual machine as TVM spells them."""

import tilewright as tw
from tilewright import relax
from tilewright.ir._nodes import classes
from tilewright.runtime import vm


def _same_class(cls=None, **options):
    """The decorators visitor and mutator: a subclass overrides methods without their help."""
    return cls if cls is not None else lambda later: later


EXPR_FUNCTOR = {
    "PyExprVisitor": relax.PyExprVisitor,
    "PyExprMutator": relax.PyExprMutator,
    "visitor": _same_class,
    "mutator": _same_class,
}


def analysis_names() -> dict:
    return {name: getattr(relax.analysis, name) for name in relax.analysis.__all__}


def pattern_names() -> dict:
    """tvm.relax.dpl, and its module pattern."""
    names = {name: getattr(relax.pattern, name) for name in relax.pattern.__all__}
    return {**names, "DFPattern": relax.pattern.Pattern, "ExternFuncPattern": relax.pattern.is_extern}


class _RuntimeModule:
    """What VirtualMachine.module was until 2025: the functions as a module."""

    def __init__(self, machine):
        self._machine = machine

    def __getitem__(self, name: str):
        return self._machine[name]

    def time_evaluator(self, func_name: str, dev=None, **options):
        """VirtualMachine.time_evaluator."""
        return self._machine.time_evaluator(func_name, dev, **options)


def _call(op, args, attrs=None, sinfo_args=None, span=None):
    """relax.Call with the arguments of TVM's constructor."""
    return classes["relax.Call"](op=op, args=list(args), attrs=attrs or {}, type_args=list(sinfo_args or []))


def _shape_type(values=None, ndim: int = -1, span=None):
    """relax.ShapeStructInfo with the arguments of TVM's constructor."""
    values = (
        None if values is None else [tw.tir.const(v, "int64") if isinstance(v, int) else v for v in values]
    )
    known = values is not None
    return classes["relax.ShapeType"](
        values=values or [], ndim=len(values) if known else ndim, is_known=known
    )


def _function_type(params, ret, purity: bool = True, span=None):
    """relax.FuncStructInfo with the arguments of TVM's constructor."""
    return classes["relax.CallableType"](params=list(params), ret=ret, is_pure=purity, is_opaque=False)


def _scalar_type(dtype=None, value=None, span=None):
    """relax.PrimStructInfo with the arguments of TVM's constructor."""
    return classes["ir.PrimType"](dtype=dtype or value.dtype, **({} if value is None else {"value": value}))


def add() -> None:
    """Gives node classes and the machine the names that programs for TVM use."""
    for group in ("RelaxExpr", "BaseFunc"):
        for old in ("struct_info", "struct_info_", "checked_type"):
            setattr(classes[group], old, property(lambda self: self.type))
    classes["relax.Call"].sinfo_args = property(lambda self: self.type_args)
    classes["relax.Function"].ret_struct_info = property(lambda self: self.ret_type)
    classes["relax.MatchCast"].struct_info = property(lambda self: self.pattern)
    relax.PyExprMutator.with_struct_info = relax.PyExprMutator.with_type
    vm.VirtualMachine.module = property(_RuntimeModule)


def node_names() -> dict:
    """Node classes of tvm.relax under other names than ours, and with other constructors."""
    from .nodes import with_constructor

    return {
        "Call": with_constructor(classes["relax.Call"], _call),
        "TensorStructInfo": with_constructor(relax.TensorType, relax.TensorStructInfo),
        "ShapeStructInfo": with_constructor(classes["relax.ShapeType"], _shape_type),
        "ObjectStructInfo": classes["ir.ObjectType"],
        "TupleStructInfo": classes["ir.TupleType"],
        "PrimStructInfo": with_constructor(classes["ir.PrimType"], _scalar_type),
        "FuncStructInfo": with_constructor(classes["relax.CallableType"], _function_type),
        "StructInfo": classes["Type"],
        "GlobalVar": classes["ir.GlobalVar"],
        "BindingBlock": classes["relax.PlainBlock"],
        "StringImm": classes["relax.StringValue"],
        "DataTypeImm": classes["relax.DataTypeValue"],
        "VMExecutable": tw.relax.Executable,
    }
