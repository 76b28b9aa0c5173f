"""Modules whose forward becomes a separate function instead of being written out at each call."""

import contextvars
import functools

from ....ir._nodes import classes
from ...block_builder import BlockBuilder
from ...expr_functor import PyExprMutator
from .tensor import Tensor, _Var

#: {builder, class and types: the GlobalVar of the function}, while a model is exported
_made: contextvars.ContextVar[dict] = contextvars.ContextVar("subroutines of the export", default=None)


class SubroutineMixin:
    """A class with define_subroutine = True: calls of forward call one private function per type of arguments."""

    define_subroutine: bool = False

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        forward = cls.__dict__.get("forward")
        if forward is None or hasattr(forward, "__wrapped__"):
            return

        @functools.wraps(forward)
        def call(self, *args, **kwargs):
            can_call = self.define_subroutine and _made.get() is not None and not kwargs
            if can_call and all(isinstance(arg, Tensor) for arg in args):
                return _call_subroutine(self, forward, args)
            return forward(self, *args, **kwargs)

        cls.forward = call


def recording() -> contextvars.Token:
    """Opens the table of subroutines of one export, until `stop`."""
    return _made.set({})


def stop(token: contextvars.Token) -> None:
    """Closes the table."""
    _made.reset(token)


def _call_subroutine(module, forward, args) -> Tensor:
    """The result of a call of the function that computes module.forward for arguments of these types."""
    builder, made = BlockBuilder.current(), _made.get()
    params = list(module.parameters())
    values = [*args, *params]
    key = (id(builder), type(module), repr(sorted(_settings(module))), tuple(map(repr, values)))
    if key not in made:
        made[key] = _taken_over(builder, *_subroutine(module, forward, args))
    call = made[key](*(value._expr for value in values))
    return Tensor(_expr=builder.emit(call, module_name(module)))


def _settings(module) -> list:
    """The attributes other than parameters and modules, by which two objects of a class differ."""
    plain = (bool, int, float, str, list, tuple, type(None))
    return [(key, repr(value)) for key, value in vars(module).items() if isinstance(value, plain)]


def module_name(module) -> str:
    """The class name in lower case with underscores."""
    name = type(module).__name__
    parts = [
        f"_{c.lower()}" if c.isupper() and n and name[n - 1].islower() else c.lower()
        for n, c in enumerate(name)
    ]
    return "".join(parts)


def _subroutine(module, forward, args) -> tuple:
    """The name of the function, and the module that holds it and what it calls."""
    named = list(module.named_parameters())
    inputs = [_Var(f"arg{n}", arg._expr.type) for n, arg in enumerate(args)]
    weights = [_Var(path.replace(".", "_"), param._expr.type) for path, param in named]
    saved = [param._expr for _, param in named]
    builder, name = BlockBuilder(), module_name(module)
    with builder.function(name, [*inputs, *weights], private=True):
        with builder.dataflow():
            for (_, param), weight in zip(named, weights, strict=True):
                param._expr = weight
            try:
                result = forward(module, *(Tensor(_expr=var) for var in inputs))
            finally:
                for (_, param), expr in zip(named, saved, strict=True):
                    param._expr = expr
            output = builder.emit_output(result._expr)
        builder.emit_func_output(output)
    return name, builder.get()


def _taken_over(builder, name: str, source):
    """The GlobalVar under which `builder` has the function `name` of `source` and all that it calls."""
    names: dict = {}

    class Renamed(PyExprMutator):
        def visit_global_var_(self, var):
            return names.get(var.name_hint, var)

    others = [(var, func) for var, func in source.functions.items() if var.name_hint != name]
    for var, func in others:
        is_graph = not isinstance(func, classes["tir.PrimFunc"])
        names[var.name_hint] = builder.add_func(
            Renamed().visit_expr(func) if is_graph else func, var.name_hint
        )
    return builder.add_func(Renamed().visit_expr(source[name]), name)
