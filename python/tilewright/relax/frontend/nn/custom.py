"""Operators that the model brings: formulas, loop programs, registered functions, printing."""

from .... import _core
from ....errors import UserError
from ....ir._nodes import classes
from ... import op as graph_op
from ...block_builder import BlockBuilder
from .core import Object
from .tensor import Tensor, as_tensor

_TensorType, _TupleType = classes["relax.TensorType"], classes["ir.TupleType"]
_Call, _Op = classes["relax.Call"], classes["ir.Op"]
_PrimExpr, _Expr = classes["PrimExpr"], classes["RelaxExpr"]


def _builder() -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        raise UserError(
            "nn.op: no function is being built\nhelp: operators are called by forward, while export_tvm or jit runs"
        )
    return builder


def wrap_nested(expr, name: str):
    """A new variable called `name` for a graph expression: a Tensor, or a tuple of what its fields are."""
    var = _builder().emit(expr, name)
    return _wrapped(var, name)


def _wrapped(var, name: str):
    if isinstance(var.type, _TupleType):
        return tuple(wrap_nested(var[n], f"{name}_{n}") for n in range(len(var.type.elements)))
    if isinstance(var.type, _TensorType):
        return Tensor(_expr=var)
    return Object(_expr=var, _name=name)


def _exprs(args) -> list:
    return [arg._expr if hasattr(arg, "_expr") else arg for arg in args]


def tensor_expr_op(tensor_expr_func, name_hint: str, args: list, *, attrs: dict | None = None):
    """The result of a function of te tensors, computed by a loop program.

    args   tensors, and numbers that the function takes
    attrs  attributes of the loop program; default none
    """
    call = _builder().call_te(
        tensor_expr_func, *_exprs(args), primfunc_name_hint=name_hint, primfunc_attrs=attrs
    )
    return wrap_nested(call, name_hint)


def tensor_ir_op(func, name_hint: str, args, out):
    """A call of a loop program, whose parameters are tensors, then results, then sizes.

    func  a PrimFunc, or the GlobalVar of one
    args  tensors, then ints and expressions for the sizes
    out   a placeholder of the result's type, or a list of them
    """
    return _call_loop_program("call_tir", func, name_hint, args, out, {})


def tensor_ir_inplace_op(func, name_hint: str, args, inplace_indices, out):
    """tensor_ir_op whose results take the memory of arguments.

    inplace_indices  for each result the number of the argument, or -1 for memory of its own
    """
    indices = [inplace_indices] if isinstance(inplace_indices, int) else list(inplace_indices)
    return _call_loop_program("call_tir_inplace", func, name_hint, args, out, {"inplace_indices": indices})


def _call_loop_program(op_name: str, func, name_hint: str, args, out, attrs: dict):
    builder = _builder()
    var = func if isinstance(func, classes["ir.GlobalVar"]) else builder.add_func(func, name_hint)
    args = list(args) if isinstance(args, list | tuple) else [args]
    sizes = [arg for arg in args if isinstance(arg, int | _PrimExpr)]
    tensors = [arg._expr for arg in args if not isinstance(arg, int | _PrimExpr)]
    call = getattr(graph_op, op_name)(
        var, tensors, **attrs, out_sinfo=_out_types(out), tir_vars=sizes or None
    )
    return wrap_nested(call, name_hint)


def _out_types(out):
    return [each._expr.type for each in out] if isinstance(out, list | tuple) else out._expr.type


def extern(name: str, args, out):
    """A call of the registered function `name`, which gets the tensors and then the results to write.

    out  a placeholder of the result's type, or a list of them
    """
    return wrap_nested(graph_op.call_dps_packed(name, _exprs(args), _out_types(out)), name)


def print_(tensor: Tensor) -> None:
    """Prints a tensor when the model runs; the model is exported with debug=True."""
    _require_debug("print_")
    _builder().emit(graph_op.print(tensor._expr, format="{}"), "_io")


def debug_func(name: str, *args) -> None:
    """Calls the registered function `name` with these tensors, numbers and strings when the model runs.

    The model is exported with debug=True.
    """
    _require_debug("debug_func")
    values = [_text(arg) if isinstance(arg, str) else as_tensor(arg)._expr for arg in args]
    call = _Call(
        op=classes["relax.ExternFunc"](name), args=values, attrs={}, type_args=[classes["ir.ObjectType"]()]
    )
    _builder().emit(call, "_io")


def _text(value: str):
    return _core.make_node("relax.StringValue", {"value": value})


def _require_debug(what: str) -> None:
    if _builder().current_block_is_dataflow():
        raise UserError(f"nn.op.{what}: a model that prints or calls back is exported with debug=True")
