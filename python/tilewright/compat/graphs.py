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


def add() -> None:
    """Gives node classes and the machine the names that programs for TVM use."""
    for group in ("RelaxExpr", "Binding", "BindingBlock"):
        classes[group].__repr__ = tw.script.to_script  # as lists of nodes are shown
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
        "ShapeStructInfo": classes["relax.ShapeType"],
        "ObjectStructInfo": classes["ir.ObjectType"],
        "TupleStructInfo": classes["ir.TupleType"],
        "PrimStructInfo": classes["ir.PrimType"],
        "FuncStructInfo": classes["relax.CallableType"],
        "StructInfo": classes["Type"],
        "GlobalVar": classes["ir.GlobalVar"],
        "BindingBlock": classes["relax.PlainBlock"],
        "StringImm": classes["relax.StringValue"],
        "DataTypeImm": classes["relax.DataTypeValue"],
        "VMExecutable": tw.relax.Executable,
    }
