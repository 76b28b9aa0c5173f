"""Passes over graphs.  Each pass of the registry is here under its name (legalize_ops) and in camel case (LegalizeOps)."""

from .. import _core
from .._guard import guard, guard_class
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule, unwrapped
from ..transform import Pass, PassInfo, run_watched

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
        return run_watched(PassInfo(0, "bind_params"), mod, self._bound)

    def _bound(self, mod: IRModule) -> IRModule:
        names = {key if isinstance(key, str) else key.name_hint: value for key, value in self.params.items()}
        func = mod[self.func_name]
        if not isinstance(func, _Function):
            raise UserError(f'bind_params: "{self.func_name}" is not a graph function')
        result = mod.clone()
        result[self.func_name] = _core.relax_bind_params(func, names)
        return result


class Gradient:
    """Adds the function FUNC_adjoint, which gives (what FUNC gives, (gradients, ...)): Gradient("main")(mod).

    func_name      a graph function without branches
    require_grads  parameters (or their names) whose gradients are asked for; default all of floating-point tensors
    target_index   which value is differentiated if FUNC gives a tuple; a floating-point tensor without dimensions
    Raises         UserError if one of these is not there, Unsupported for an operator that has no gradient.
    """

    def __init__(self, func_name: str, require_grads=None, target_index: int = 0):
        self.func_name, self.target_index = func_name, target_index
        is_one = require_grads is not None and not isinstance(require_grads, list | tuple)
        self.require_grads = [require_grads] if is_one else require_grads

    def __call__(self, mod: IRModule) -> IRModule:
        """The module with FUNC_adjoint."""
        return run_watched(PassInfo(0, "gradient"), mod, self._differentiated)

    def _differentiated(self, mod: IRModule) -> IRModule:
        node = unwrapped(mod)
        required = self._positions(mod) if self.require_grads is not None else None
        result = _core.relax_gradient(node, self.func_name, required, self.target_index, _te_gradients)
        return IRModule._of(result)

    def _positions(self, mod: IRModule) -> list:
        func = dict(zip([var.name_hint for var in mod], mod.functions.values(), strict=True)).get(
            self.func_name
        )
        params = list(func.params) if isinstance(func, _Function) else []
        positions = []
        for wanted in self.require_grads:
            is_name = isinstance(wanted, str)
            found = [
                n
                for n, param in enumerate(params)
                if (param.name_hint == wanted if is_name else param.same_as(wanted))
            ]
            shown = wanted if is_name else wanted.name_hint
            if params and not found:
                known = ", ".join(param.name_hint for param in params)
                raise UserError(
                    f"gradient: {shown} is no parameter of {self.func_name}\nhelp: its parameters are {known}"
                )
            if found and found[0] in positions:
                raise UserError(f"gradient: the gradient of {shown} is required twice")
            positions += found[:1]
        return positions


#: gradients of loop programs, by the name that call_tir_with_grad gives
_te_gradients: dict = {}


def register_te_gradient(name: str, function=None):
    """`function`, which R.call_tir_with_grad(..., te_grad_name=name) has as its gradient from now on.

    function  (gradient of the output, or the list of them; inputs...; te_grad_kwargs) -> te tensors, one per input;
              not given: register_te_gradient(name) is a decorator
    """

    def register(function):
        _te_gradients[name] = function
        return function

    return register if function is None else register(function)


for _class in (BindParams, Gradient):
    guard_class(f"tilewright.relax.transform.{_class.__name__}", _class)
register_te_gradient = guard("tilewright.relax.transform.register_te_gradient", register_te_gradient)
