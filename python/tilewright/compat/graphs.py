"""Names of graph nodes and of the virtual machine as TVM spells them, and their constructors."""

import contextlib

import tilewright as tw
from tilewright import _core, relax
from tilewright.ir import load_json, save_json, structural_equal, structural_hash
from tilewright.ir._nodes import classes
from tilewright.relax._op_call import _value as scalar_value
from tilewright.runtime import vm

from . import relax_analysis

_SeqExpr = classes["relax.SeqExpr"]


def _same_class(cls=None, **options):
    """The decorator visitor: a subclass overrides methods without its help."""
    return cls if cls is not None else lambda later: later


def _leaf_class(cls):
    """The decorator mutator: the class, from which no other class decorated so may derive."""
    if any("__tilewright_mutator__" in vars(base) for base in cls.__mro__[1:]):
        raise TypeError(f"{cls.__name__} derives from a class that is decorated with @mutator itself")
    cls.__tilewright_mutator__ = True
    return cls


class ExprFunctor(relax.expr_functor._Functor):
    """Calls a method for each kind of expression, binding and block; a subclass writes those that it needs."""

    def visit_expr(self, expr):
        """The result of the method for the kind of `expr`.

        Raises NotImplementedError where the subclass has no such method, TypeError for what is no graph expression.
        """
        return self._dispatch(expr)


def _missing(name: str):
    def visit(self, node):
        raise NotImplementedError(
            f"{type(self).__name__}.{name} is not written: it is called for a {type(node).__name__}"
        )

    visit.__name__ = visit.__qualname__ = name
    return visit


for _name in (
    *relax.expr_functor._METHODS.values(),
    *("visit_var_binding_", "visit_match_cast_", "visit_binding_block_", "visit_dataflow_block_"),
    *("visit_var_def_", "visit_dataflow_var_def_"),
):
    setattr(ExprFunctor, _name, _missing(_name))


EXPR_FUNCTOR = {
    "ExprFunctor": ExprFunctor,
    "ExprVisitor": relax.PyExprVisitor,
    "ExprMutator": relax.PyExprMutator,
    "PyExprVisitor": relax.PyExprVisitor,
    "PyExprMutator": relax.PyExprMutator,
    "visitor": _same_class,
    "mutator": _leaf_class,
}


def pattern_names() -> dict:
    """tvm.relax.dpl, and its module pattern."""
    names = {name: getattr(relax.pattern, name) for name in relax.pattern.__all__}
    kinds = {name: kind for name, kind in vars(relax.pattern.nodes).items() if name.endswith("Pattern")}
    return {
        **kinds,
        **names,
        "DFPattern": relax.pattern.Pattern,
        "DFConstraint": relax.pattern.nodes.SameShapeConstraint,
        "SameShapeConstraint": relax.pattern.nodes.SameShapeConstraint,
        "ExprPatternRewriter": relax.pattern.PatternMatchingRewriter.from_pattern,
        "OrRewriter": lambda lhs, rhs: lhs | rhs,
    }


class _RuntimeModule:
    """VirtualMachine.module until 2025: the functions as a module."""

    def __init__(self, machine):
        self._machine = machine

    def __getitem__(self, name: str):
        return self._machine[name]

    def time_evaluator(self, func_name: str, dev=None, **options):
        """VirtualMachine.time_evaluator."""
        return self._machine.time_evaluator(func_name, dev, **options)


class VirtualMachine(vm.VirtualMachine):
    """tilewright's, with the arguments of TVM's: memory is planned when a graph is compiled, profile() always works."""

    NAIVE_ALLOCATOR, POOLED_ALLOCATOR = 1, 2

    def __init__(self, rt_mod, device=None, memory_cfg=None, profile: bool = False):
        super().__init__(rt_mod, device)


class VDevice:
    """A device of I.module_global_infos, as struct_info.vdevice gives it."""

    def __init__(self, target=None, vdevice_id: int = 0, memory_scope: str = "global"):
        self.target = tw.Target(target) if isinstance(target, str | dict) else target
        self.vdevice_id, self.memory_scope = vdevice_id, memory_scope

    def info(self) -> dict:
        """What I.vdevice gives in a script."""
        return {
            "target": str(self.target),
            "vdevice_id": self.vdevice_id,
            "memory_scope": self.memory_scope,
        }

    def __eq__(self, other) -> bool:
        return isinstance(other, VDevice) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"{getattr(self.target, 'kind', self.target)}:{self.vdevice_id}"


def _vdevice_of(type):
    kind, _, number = type.device.partition(":")
    return VDevice(kind, int(number or 0)) if kind else None


class DummyGlobalInfo:
    """A global info that says nothing."""


def prim_value(value, dtype: str | None = None):
    """A scalar as a graph value."""
    return scalar_value(value if dtype is None else tw.tir.const(value, dtype))


class _Attrs(dict):
    """Attributes of a call, also as attributes of Python."""

    def __getattr__(self, name: str):
        if name in self:
            return self[name]
        raise AttributeError(f"there is no attribute {name}; there are {', '.join(self) or 'none'}")


def _written_types(call) -> list:
    """The types that a call was given; several results are a tuple."""
    types = list(call.type_args)
    return types if len(types) < 2 else [classes["ir.TupleType"](types)]


def _sequence(body):
    """The body of a function or branch: `body`, or a sequence that ends with it."""
    return body if isinstance(body, _SeqExpr) else _SeqExpr(blocks=[], body=body, type=body.type)


def _call(op, args, attrs=None, sinfo_args=None, span=None):
    """relax.Call with the arguments of TVM's constructor."""
    return classes["relax.Call"](op=op, args=list(args), attrs=attrs or {}, type_args=list(sinfo_args or []))


def _var(name_hint: str, struct_info=None, span=None):
    """relax.Var with the arguments of TVM's constructor."""
    return classes["relax.Var"](name_hint=name_hint, type=struct_info)


def _dataflow_var(name_hint: str, struct_info=None, span=None):
    """relax.DataflowVar with the arguments of TVM's constructor."""
    return classes["relax.DataflowVar"](name_hint=name_hint, type=struct_info)


def _function(params, body, ret_struct_info=None, is_pure: bool = True, attrs=None, span=None):
    """relax.Function with the arguments of TVM's constructor."""
    ret = ret_struct_info if ret_struct_info is not None else getattr(body, "body", body).type
    if isinstance(is_pure, dict):  # attrs stood here until 2023
        is_pure, attrs = True, is_pure
    return classes["relax.Function"](
        params=list(params), body=_sequence(body), ret_type=ret, is_pure=is_pure, attrs=attrs or {}
    )


def _if(cond, true_branch, false_branch, span=None):
    """relax.If with the arguments of TVM's constructor."""
    return classes["relax.If"](
        cond=cond, true_branch=_sequence(true_branch), false_branch=_sequence(false_branch)
    )


def _match_cast(var, value, struct_info, span=None):
    """relax.MatchCast with the arguments of TVM's constructor."""
    return classes["relax.MatchCast"](value=value, pattern=struct_info, var=var)


def _shape_expr(values, span=None):
    """relax.ShapeExpr with the arguments of TVM's constructor: numbers are int64."""
    return _core.relax_shape(list(values))


def _prim_value(value, span=None):
    """relax.PrimValue with the arguments of TVM's constructor: whole numbers are int64."""
    return scalar_value(value)


def _extern_func(global_symbol: str, struct_info=None, span=None):
    """relax.ExternFunc with the arguments of TVM's constructor."""
    return classes["relax.ExternFunc"](global_symbol=global_symbol, type=struct_info)


def _tensor_type(shape=None, dtype="float32", vdevice=None, ndim: int = -1, span=None):
    """relax.TensorStructInfo with the arguments of TVM's constructor."""
    return relax.TensorType(shape, dtype, ndim, "" if vdevice is None else str(vdevice))


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


def _opaque_function_type(*, ret=None, derive_func=None, purity: bool = False, span=None):
    """relax.FuncStructInfo.opaque_func: a function whose parameters are not known."""
    ret = classes["ir.ObjectType"]() if ret is None else ret
    return classes["relax.CallableType"](params=[], ret=ret, is_pure=purity, is_opaque=True)


def _scalar_type(dtype=None, value=None, span=None):
    """relax.PrimStructInfo with the arguments of TVM's constructor."""
    return classes["ir.PrimType"](dtype=dtype or value.dtype, **({} if value is None else {"value": value}))


def _type_of(expr):
    """The type of an expression, also of one that is not part of a function yet."""
    is_open = isinstance(expr, classes["RelaxExpr"]) and not isinstance(expr, classes["relax.Var"])
    return _core.relax_infer_type(expr) if expr.type is None and is_open else expr.type


def get_shape_of(expr):
    """The shape of a tensor that its type says."""
    return _type_of(expr).shape


def _bind_symbolic_vars(self, binding_map: dict):
    """The function with numbers for dimensions, by their variables or names."""
    from .relax_transform import BindSymbolicVars

    return BindSymbolicVars(binding_map, "main")(tw.IRModule({"main": self}))["main"]


def _bind_params(self, binding_map: dict):
    """The function with constants for parameters, by their variables or names."""
    return relax.transform.BindParams("main", binding_map)(tw.IRModule({"main": self}))["main"]


def _script(self, **options) -> str:
    """The text of a part of a program."""
    if isinstance(self, _SeqExpr):
        return "\n".join(str(part).rstrip() for part in (*self.blocks, self.body))
    return str(self)


def _show(self, **options) -> None:
    """Prints the text of a part of a program."""
    print(self.script())


@contextlib.contextmanager
def _testing_scope(self, def_vars=()):
    """A scope outside of any function, for trying what emit and normalize do; what it binds is dropped."""
    self._core.begin_scope([])
    try:
        yield
    finally:
        self._core.abandon_scope()


def _copy_with_new_vars(func):
    """The same function; its variables, and those of its extents, are others."""
    return load_json(save_json(func))


def _tensor_type_of_ndim(ndim: int = -1, dtype: str = "float32", span=None):
    """The type of tensors of `ndim` dimensions, as values were typed before struct_info."""
    return relax.TensorType(None, dtype, ndim)


def add() -> None:
    """Gives node classes and the machine the names that programs for TVM use."""
    for group in ("RelaxExpr", "BaseFunc"):
        for old in ("struct_info", "struct_info_", "checked_type", "ty", "expr_ty"):
            setattr(classes[group], old, property(_type_of))
    classes["ir.GlobalVar"].ty = property(lambda self: self.type)
    for kind in (
        "RelaxExpr",
        "Type",
        "relax.VarBinding",
        "relax.MatchCast",
        "relax.DataflowBlock",
        "relax.PlainBlock",
    ):
        classes[kind].script, classes[kind].show = _script, _show
    classes["relax.Var"].name = property(lambda self: self.name_hint)
    call, func = classes["relax.Call"], classes["relax.Function"]
    attributes = call.attrs.fget
    call.attrs = property(lambda self: _Attrs(attributes(self)))
    call.sinfo_args = property(_written_types)
    func.ret_struct_info = property(lambda self: self.ret_type)
    func.bind_symbolic_vars, func.bind_params = _bind_symbolic_vars, _bind_params
    func.with_attrs = lambda self, attr_map: self.with_attr(dict(attr_map))
    cast = classes["relax.MatchCast"]
    cast.struct_info = cast.ty = property(lambda self: self.pattern)
    classes["relax.Tuple"].fields = classes["ir.TupleType"].fields = property(lambda self: self.elements)
    classes["relax.TupleGetItem"].tuple_value = property(lambda self: self.tuple)
    classes["relax.Var"].vid = property(lambda self: self)
    classes["relax.CallableType"].purity = property(lambda self: self.is_pure)
    classes["Type"].__eq__ = lambda self, other: (
        isinstance(other, classes["Type"]) and structural_equal(self, other)
    )
    classes["Type"].is_base_of = relax_analysis.is_base_of
    classes["Type"].__hash__ = lambda self: hash(structural_hash(self))
    call.ty_args = property(_written_types)
    func.ret_ty = property(lambda self: self.ret_type)
    rewrite = relax.binding_rewrite.DataflowBlockRewrite
    rewrite.add_binding = rewrite.add
    relax.TensorType.vdevice = property(_vdevice_of)
    builder = relax.BlockBuilder
    builder.testing_scope = _testing_scope
    builder.begin_scope = lambda self, params=None: self._core.begin_scope([])
    builder.end_scope = lambda self: self._core.abandon_scope()
    patterns = relax.pattern.Pattern
    patterns.has_struct_info = patterns.has_ty = patterns.has_type
    relax.PyExprMutator.with_struct_info = relax.PyExprMutator.with_type
    vm.VirtualMachine.invoke_closure = lambda self, closure, *args: closure(*args)
    vm.VirtualMachine.module = property(_RuntimeModule)
    tw.Executable.mod = property(lambda self: self)
    tw.Executable.jit = lambda self, **options: self


def node_names() -> dict:
    """Node classes of tvm.relax under other names than ours, and with other constructors."""
    from .nodes import with_constructor

    function_type = with_constructor(classes["relax.CallableType"], _function_type)
    function_type.opaque_func = staticmethod(_opaque_function_type)
    return {
        "Call": with_constructor(classes["relax.Call"], _call),
        "Var": with_constructor(classes["relax.Var"], _var),
        "DataflowVar": with_constructor(classes["relax.DataflowVar"], _dataflow_var),
        "Function": with_constructor(classes["relax.Function"], _function),
        "If": with_constructor(classes["relax.If"], _if),
        "MatchCast": with_constructor(classes["relax.MatchCast"], _match_cast),
        "ShapeExpr": with_constructor(classes["relax.ShapeExpr"], _shape_expr),
        "PrimValue": with_constructor(classes["relax.PrimValue"], _prim_value),
        "ExternFunc": with_constructor(classes["relax.ExternFunc"], _extern_func),
        "TensorStructInfo": with_constructor(relax.TensorType, _tensor_type),
        "TensorType": with_constructor(relax.TensorType, _tensor_type),
        "ShapeStructInfo": with_constructor(classes["relax.ShapeType"], _shape_type),
        "ShapeType": with_constructor(classes["relax.ShapeType"], _shape_type),
        "ObjectStructInfo": classes["ir.ObjectType"],
        "TupleStructInfo": classes["ir.TupleType"],
        "PrimStructInfo": with_constructor(classes["ir.PrimType"], _scalar_type),
        "FuncStructInfo": function_type,
        "StructInfo": classes["Type"],
        "ObjectType": classes["ir.ObjectType"],
        "TupleType": classes["ir.TupleType"],
        "PrimType": with_constructor(classes["ir.PrimType"], _scalar_type),
        "FuncType": function_type,
        "AnyType": classes["ir.ObjectType"],
        "DynTensorType": with_constructor(relax.TensorType, _tensor_type_of_ndim),
        "GlobalVar": classes["ir.GlobalVar"],
        "BindingBlock": classes["relax.PlainBlock"],
        "StringImm": classes["relax.StringValue"],
        "DataTypeImm": classes["relax.DataTypeValue"],
        "VMExecutable": tw.relax.Executable,
        "copy_with_new_vars": _copy_with_new_vars,
        "Type": classes["Type"],
        "VDevice": VDevice,
        "DummyGlobalInfo": DummyGlobalInfo,
        "ExprFunctor": ExprFunctor,
        "prim_value": prim_value,
        "make_shape": _shape_expr,
        "get_shape_of": get_shape_of,
    }
