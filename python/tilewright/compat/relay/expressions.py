"""Expressions and functions of tvm.relay, which are those of relax: every call has its type when it is made."""

import numpy

from tilewright import _core, ir, relax, runtime, tir
from tilewright.errors import UserError
from tilewright.ir._nodes import classes

_Call, _Tuple, _Item = (classes[f"relax.{name}"] for name in ("Call", "Tuple", "TupleGetItem"))
Expr = _Expr = classes["RelaxExpr"]
_VARS = (classes["relax.Var"], classes["relax.DataflowVar"])
_FUNCTIONS = tuple(classes[name] for name in ("relax.Function", "tir.PrimFunc", "relax.ExternFunc"))


def Any():
    """An extent that is known when the graph runs."""
    return tir.Var("any_dim", "int64")


def TensorType(shape, dtype: str = "float32"):
    """The type of tensors of this shape and dtype."""
    return relax.TensorType(tuple(shape), dtype)


class Weight:
    """A variable without a shape; the layer that reads it first says which it has."""

    def __init__(self, name_hint: str, dtype: str):
        self.name_hint, self.dtype, self.var = name_hint, dtype, None

    def of_shape(self, shape):
        """The variable, which has this shape from now on if it had none."""
        if self.var is None:
            self.var = relax.Var(self.name_hint, TensorType(shape, self.dtype))
        return self.var

    def known(self):
        """The variable; raises UserError if nothing has said its shape."""
        if self.var is None:
            raise UserError(
                f"relay.var: the shape of {self.name_hint} is not known\n"
                f'help: as in relay.var("{self.name_hint}", shape=(1, 64)); without a shape it can be a weight of nn.dense(units=), '
                "nn.conv2d(channels=, kernel_size=), nn.bias_add, nn.prelu and norms"
            )
        return self.var


def var(name_hint: str, type_annotation=None, shape=None, dtype: str = "float32", span=None):
    """A variable, from its type or from shape and dtype; without them, a weight whose layer knows its shape.

    >>> x = tilewright.compat.relay.expressions.var("x", shape=(1, 64), dtype="float32")
    """
    if isinstance(type_annotation, list | tuple):
        type_annotation, shape = None, type_annotation
    if type_annotation is None and shape is None:
        return Weight(name_hint, dtype)
    return relax.Var(name_hint, TensorType(shape, dtype) if type_annotation is None else type_annotation)


def weight_of_shape(value, shape):
    """`value`, whose shape is `shape` if it is a variable without one."""
    return value.of_shape(shape) if isinstance(value, Weight) else typed(value)


def const(value, dtype: str | None = None, span=None):
    """A constant, from a number, an array or a tensor; numbers of Python are int32 and float32."""
    if isinstance(value, runtime.Tensor) and dtype is None:
        return relax.const(value)
    array = value.numpy() if isinstance(value, runtime.Tensor) else numpy.asarray(value)
    if dtype is None and not isinstance(value, numpy.ndarray | numpy.generic | runtime.Tensor):
        dtype = {"float64": "float32", "int64": "int32"}.get(array.dtype.name)
    return relax.const(array.astype(dtype) if dtype else array)


def typed(expr):
    """`expr` as a value whose type is known; numbers and arrays become constants."""
    if isinstance(expr, TupleWrapper):
        return expr.astuple()
    if isinstance(expr, Weight):
        return expr.known()
    if not isinstance(expr, _Expr):
        return const(expr)
    if expr.type is not None:
        return expr
    if isinstance(expr, _Call):
        expr = expr.replace(args=[typed(arg) if arg.type is None else arg for arg in expr.args])
    elif isinstance(expr, _Tuple):
        expr = expr.replace(elements=[typed(each) for each in expr.elements])
    return expr.replace(type=_core.relax_infer_type(expr))


def type_of(expr):
    """The type of a value."""
    return typed(expr).type


def shape_of(expr) -> list:
    """The extents of a value; raises UserError if it is no tensor of known rank."""
    shape = getattr(type_of(expr), "shape", None)
    if shape is None:
        raise UserError(
            f"relay: the shape of {expr} is not known\nhelp: give the variables that it is made of shapes"
        )
    return [int(extent) if isinstance(extent, tir.IntImm) else extent for extent in shape]


def Tuple(fields, span=None):
    """Several values as one."""
    return typed(relax.Tuple([typed(each) for each in fields]))


def TupleGetItem(tuple_value, index: int, span=None):
    """The part of a tuple."""
    return typed(relax.TupleGetItem(typed(tuple_value), index))


class TupleWrapper:
    """The results of an operator that has several: can be unpacked, and indexed."""

    def __init__(self, tuple_value, size: int):
        self.tuple_value, self.size = tuple_value, size

    def astuple(self):
        """The tuple itself."""
        return self.tuple_value

    def __getitem__(self, index: int):
        if not -self.size <= index < self.size:
            raise IndexError(f"result {index} of {self.size} that there are")
        return TupleGetItem(self.tuple_value, index % self.size)

    def __len__(self) -> int:
        return self.size

    def __iter__(self):
        return (self[n] for n in range(self.size))


class _Constructor:
    """A function that makes expressions, and the class of them for isinstance."""

    def __init__(self, make, made: type):
        self._make, self._class = make, made
        self.__doc__ = make.__doc__

    def __call__(self, *args, **options):
        return self._make(*args, **options)

    def __instancecheck__(self, value) -> bool:
        return isinstance(value, self._class)


def free_vars(expr) -> list:
    """The variables that an expression uses, in order of first use."""
    if isinstance(expr, _FUNCTIONS):
        return relax.analysis.free_vars(expr)
    found, seen, waiting = [], set(), [typed(expr)]
    while waiting:  # a stack: networks are deeper than Python's calls may be
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        parts = parts_of(each)
        waiting.extend(reversed(parts))
        found += [each] if isinstance(each, _VARS) else [] if parts else relax.analysis.free_vars(each)
    return found


def Function(params, body, ret_type=None, type_params=None, attrs=None, span=None):
    """A function of these parameters; what the body uses several times is computed once.

    Raises UserError for a variable that is no parameter
    """
    params, body = [each.known() if isinstance(each, Weight) else each for each in params], typed(body)
    missing = [each.name_hint for each in free_vars(body) if not any(each.same_as(p) for p in params)]
    if missing:
        raise UserError(
            f"relay.Function: {', '.join(missing)} of the body is no parameter\n"
            "help: relay.analysis.free_vars(body) lists what the body uses"
        )
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(_named(builder, body))
        builder.emit_func_output(result)
    made = builder.get()["main"]
    return made.replace(attrs=None) if attrs is None else made.with_attr(attrs)


def parts_of(expr) -> list:
    """The expressions that a call or a tuple is made of."""
    if isinstance(expr, _Call):
        return list(expr.args)
    if isinstance(expr, _Tuple):
        return list(expr.elements)
    return [expr.tuple] if isinstance(expr, _Item) else []


def with_parts(expr, parts: list):
    """The call or tuple of other expressions; `expr` itself if they are the same."""
    if all(new.same_as(old) for new, old in zip(parts, parts_of(expr), strict=True)):
        return expr
    if isinstance(expr, _Call):
        return expr.replace(args=parts)
    return expr.replace(elements=parts) if isinstance(expr, _Tuple) else expr.replace(tuple=parts[0])


def _named(builder, body):
    """`body`, whose parts the builder computes: each once, however often it is used."""
    names, waiting = {}, [body]
    while waiting:
        expr = waiting[-1]
        missing = [part for part in parts_of(expr) if part not in names]
        if expr in names or not missing:
            waiting.pop()
        if expr not in names and not missing:
            replaced = with_parts(expr, [names[part] for part in parts_of(expr)])
            is_computed = isinstance(expr, _Call | _Item)
            names[expr] = builder.emit(replaced) if is_computed else replaced
        waiting.extend(missing)
    return names[body]


def as_module(value) -> ir.IRModule:
    """The module of a function or expression, as "main"; a module as it is."""
    if isinstance(value, ir.IRModule):
        return value
    if not isinstance(value, _FUNCTIONS):
        value = Function(free_vars(value), value)
    return ir.IRModule({"main": value})


def add(from_expr=ir.IRModule.from_expr) -> None:
    """Lets IRModule.from_expr take expressions, too, whose free variables become parameters."""

    def any_from_expr(expr, functions=None, type_defs=None):
        """A module with a function, or with one that computes an expression."""
        is_graph = isinstance(expr, _Expr | TupleWrapper) and not isinstance(expr, _FUNCTIONS)
        return as_module(expr) if is_graph else from_expr(expr)

    ir.IRModule.from_expr = staticmethod(any_from_expr)


NAMES = {
    "Any": Any,
    "TensorType": TensorType,
    "TupleType": ir.TupleType,
    "var": var,
    "const": const,
    "Tuple": _Constructor(Tuple, _Tuple),
    "TupleGetItem": _Constructor(TupleGetItem, _Item),
    "TupleWrapper": TupleWrapper,
    "Function": _Constructor(Function, classes["relax.Function"]),
    "GlobalVar": ir.GlobalVar,
    "Var": classes["relax.Var"],
    "Constant": classes["relax.Constant"],
    "Call": _Call,
    "Expr": _Expr,
}
ANALYSIS = {"free_vars": free_vars, "all_vars": relax.analysis.all_vars}
