"""Operators that users name, and rules of what a call is on a target."""

import atexit

from .. import _core
from ..errors import UserError

# rules must not outlive the interpreter
atexit.register(_core.clear_intrinsic_rules)


def register_op(name: str, *, pure: bool = True) -> None:
    """Makes `name` an operator of loop programs: call_intrin makes calls of it.

    name  "tir." and a word, e.g. "tir.mylog"
    pure  False: calls have side effects, so that they are neither moved nor left out; default True
    Raises UserError for a name that is no such word, or that is an operator already
    >>> tilewright.tir.register_op("tir.mylog")
    >>> tilewright.tir.call_intrin("float32", "tir.mylog", tilewright.tir.Var("x", "float32"))
    """
    _core.register_op(name, pure)


def register_intrin_rule(name: str, target: str, rule=None, *, level: int = 10):
    """Says what calls of operator `name` are in code for `target`; a decorator if `rule` is left out.

    name    "tir.mylog", or an operator of tilewright that is to be something else: "tir.exp"
    target  "llvm", "c", "cuda", "opencl", "metal"; "default": all, after the rules for the target
    rule    rule(call) returns an expression of the call's dtype, or None to leave the call
    level   rules of a higher level are asked first, and one of the same level is replaced; default 10
    Raises UserError for a target that does not exist
    >>> @tilewright.tir.register_intrin_rule("tir.mylog", "opencl")
    ... def native(call):
    ...     return tilewright.tir.call_pure_extern("float32", "native_log", call.args[0]) if call.dtype == "float32" else None
    """
    if rule is None:
        return lambda function: register_intrin_rule(name, target, function, level=level)
    if not callable(rule):
        raise UserError(f"register_intrin_rule: a Python {type(rule).__name__} is no function")
    _core.add_intrinsic_rule(name, target, level, rule)
    return rule


def call_pure_extern(dtype: str, name: str, *args):
    """A call of the C function `name`, which has no side effect.

    >>> tilewright.tir.call_pure_extern("float32", "expf", tilewright.tir.Var("x", "float32"))
    """
    return _core.call_op(dtype, "call_pure_extern", [name, *args])
