"""Passes and the context in which they run."""

import functools

from . import _core
from ._guard import guard_module
from ._stack import ContextStack
from .errors import UserError
from .ir.module import IRModule, unwrapped

_open = ContextStack()


class PassContext:
    """How passes run inside a `with` block.

    opt_level      0..3; default 2
                   0  one loop program per operator
                   1  also constants are folded, identities and dead code dropped; results are the same to the bit
                   2  also scales and batch norms go into constant weights, which changes rounding, and programs are fused
                   3  as 2
    required_pass  names of passes that run whatever the level; default none
    disabled_pass  names of passes that are skipped; default none
    config         {"pass_name.option": value}; default none.  list_configs() has all, with types
    instruments    objects that watch the passes which run, those of tilewright.instrument or your own; default none
    Raises         UserError for a level out of range, for a pass or config key that does not exist, and for a config value
                   of another type
    docs/graph-passes.md has the list of passes with their levels.
    >>> with tilewright.transform.PassContext(opt_level=0): ex = tilewright.compile(mod)
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass=(),
        disabled_pass=(),
        config: dict | None = None,
        instruments=(),
    ):
        self.opt_level = opt_level
        self.instruments = list(instruments or ())
        self.required_pass = list(required_pass or ())
        self.disabled_pass = list(disabled_pass or ())
        self.config = dict(config or {})
        _core.check_pass_context(self.opt_level, self.disabled_pass, self.required_pass, self.config)

    @staticmethod
    def current() -> "PassContext":
        """The innermost context of this thread, or one with defaults."""
        return _open.top or PassContext()

    @staticmethod
    def list_configs() -> dict:
        """{"pass_name.option": {"type": ..., "doc": ...}}: every key that config may have."""
        return {
            f"{name}.{option}": {"type": type_name, "doc": doc}
            for name, _, _, options in _core.relax_pass_table()
            for option, doc, type_name in options
        }

    def should_run(self, mod: IRModule, info: "PassInfo") -> bool:
        """True if no instrument refuses the pass."""
        return all(each.should_run(mod, info) for each in self.instruments if hasattr(each, "should_run"))

    def tell(self, method: str, *args) -> None:
        """Calls a method of every instrument that has it."""
        for each in self.instruments:
            if hasattr(each, method):
                getattr(each, method)(*args)

    def hooks(self):
        """The callbacks that C++ calls before and after its passes; None if there are no instruments."""
        if not self.instruments:
            return None
        return (
            lambda node, name, level: self.should_run(IRModule._of(node), PassInfo(level, name)),
            lambda node, name, level: self.tell("run_before_pass", IRModule._of(node), PassInfo(level, name)),
            lambda node, name, level: self.tell("run_after_pass", IRModule._of(node), PassInfo(level, name)),
        )

    def __enter__(self) -> "PassContext":
        self.tell("enter_pass_ctx")
        return _open.push(self)

    def __exit__(self, *exception) -> None:
        _open.pop()
        self.tell("exit_pass_ctx")


class PassInfo:
    """The name of a pass and the opt_level at which it runs."""

    def __init__(self, opt_level: int, name: str, required=None, traceable: bool = False):
        self.opt_level, self.name = opt_level, name
        self.required, self.traceable = list(required or ()), traceable

    def __repr__(self) -> str:
        return f"PassInfo(opt_level={self.opt_level}, name={self.name!r})"


def run_watched(info: PassInfo, mod: IRModule, run) -> IRModule:
    """`run(mod)`, seen by the instruments of the context; `mod` itself if one of them refuses the pass."""
    context = PassContext.current()
    if not context.should_run(mod, info):
        return mod
    context.tell("run_before_pass", mod, info)
    result = _with_python_functions(run(mod), mod)
    context.tell("run_after_pass", result, info)
    return result


def _with_python_functions(result: IRModule, mod: IRModule) -> IRModule:
    """`result`, which a pass made of `mod`, with the Python functions of `mod`, which passes do not see."""
    if result is not mod and isinstance(result, IRModule):
        result.pyfuncs = {**mod.pyfuncs, **result.pyfuncs}
    return result


class Pass:
    """A pass: call it on a module."""

    def __init__(self, name: str, options: dict):
        self.name, self.options = name, options

    @property
    def info(self) -> "PassInfo":
        """The name of the pass and its level."""
        level = next(level for name, _, level, _ in _core.relax_pass_table() if name == self.name)
        return PassInfo(level, self.name)

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module; `mod` itself if nothing changed."""
        node, context = unwrapped(mod), PassContext.current()
        result = _core.relax_run_pass(self.name, node, self.options, context.config, context.hooks())
        return mod if result.same_as(node) else _with_python_functions(IRModule._of(result), mod)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


class ModulePass:
    """A pass that a Python function is; made by module_pass."""

    def __init__(self, function, opt_level: int, name: str):
        self.function, self.opt_level, self.name = function, opt_level, name

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module; `mod` itself if the context's level is below that of the pass."""
        context = PassContext.current()
        if self.name in context.disabled_pass:
            return mod
        if self.opt_level > context.opt_level and self.name not in context.required_pass:
            return mod
        return run_watched(PassInfo(self.opt_level, self.name), mod, lambda mod: self._result(mod, context))

    def _result(self, mod: IRModule, context: PassContext) -> IRModule:
        result = self.function(mod, context)
        if not isinstance(result, IRModule):
            raise UserError(f"pass {self.name}: gave a Python {type(result).__name__}, expected an IRModule")
        return result

    def __repr__(self) -> str:
        return f"{self.name}()"


def module_pass(function=None, opt_level: int = 0, name: str | None = None):
    """A pass made from a function (mod, context) -> IRModule, or from a class with such a method transform_module.

    opt_level  0..3: the pass runs when the context has at least this level; default 0
    name       by which PassContext knows it; default that of the function or class
    A class stays a class: each of its instances is a pass.
    >>> @tilewright.transform.module_pass(opt_level=1)
    ... def drop_helpers(mod, context): return tilewright.IRModule({"main": mod["main"]})
    >>> drop_helpers(mod)
    """

    def make(target):
        shown = name or target.__name__
        if not isinstance(target, type):
            return functools.wraps(target, updated=())(ModulePass(target, opt_level, shown))

        class PassOfClass(target):
            def __call__(self, mod: IRModule) -> IRModule:
                return ModulePass(self.transform_module, opt_level, shown)(mod)

        return functools.wraps(target, updated=())(PassOfClass)

    return make if function is None else make(function)


class Sequential:
    """Several passes, one after the other."""

    def __init__(self, passes, opt_level: int = 0, name: str = "sequential"):
        self.passes, self.name = list(passes), name

    def __call__(self, mod: IRModule) -> IRModule:
        for step in self.passes:
            mod = step(mod)
        return mod


guard_module(
    __name__,
    globals(),
    [
        name
        for name in list(globals())
        if not name.startswith("_")
        and name not in ("guard_module", "functools", "ContextStack", "IRModule", "UserError", "unwrapped")
    ],
)
