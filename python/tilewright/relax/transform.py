"""Passes over graphs.  Each pass of the registry is here under its name (legalize_ops) and in camel case (LegalizeOps)."""

from .. import _core
from .._guard import guard_class
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule
from ..transform import Pass

_Function = classes["relax.Function"]


def _factory(name: str, doc: str, options: list):
    def make(**values):
        return Pass(name, values)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = "\n".join(
        [f"The pass {name}: {doc[0].lower()}{doc[1:]}", "", *(f"{n}  {d}" for n, d, _ in options)]
    )
    return make


for _name, _doc, _level, _options in _core.relax_pass_table():
    globals()[_name] = _factory(_name, _doc, _options)
    globals()["".join(part.capitalize() for part in _name.split("_"))] = globals()[_name]


class BindParams:
    """Makes parameters constants: BindParams("main", {"w0": tensor})(mod)."""

    def __init__(self, func_name: str, params: dict):
        self.func_name, self.params = func_name, params

    def __call__(self, mod: IRModule) -> IRModule:
        """A module whose function `func_name` has the named parameters bound.

        Raises UserError for a name that is no parameter, or a value of another dtype or shape.
        """
        names = {key if isinstance(key, str) else key.name_hint: value for key, value in self.params.items()}
        func = mod[self.func_name]
        if not isinstance(func, _Function):
            raise UserError(f'bind_params: "{self.func_name}" is no graph function')
        result = mod.clone()
        result[self.func_name] = _core.relax_bind_params(func, names)
        return result


guard_class("tilewright.relax.transform.BindParams", BindParams)
