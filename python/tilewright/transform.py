"""Passes and the context in which they run."""

import threading

from . import _core
from ._guard import guard_module
from .ir.module import IRModule, unwrapped

_local = threading.local()


class PassContext:
    """How passes run inside a `with` block.

    opt_level      0..3; default 2
                   0  one loop program per operator
                   1  also constants are folded, identities and dead code dropped; results are the same to the bit
                   2  also scales and batch norms go into constant weights, which changes rounding, and programs are fused
                   3  as 2
    required_pass  names of passes that run whatever the level; default none
    disabled_pass  names of passes that are skipped; default none
    config         {"pass_name.option": value}; default none
    Raises         UserError for a level out of range, and for a pass or config key that does not exist
    docs/graph-passes.md has the list of passes with their levels.
    >>> with tilewright.transform.PassContext(opt_level=0): ex = tilewright.compile(mod)
    """

    def __init__(self, opt_level: int = 2, required_pass=(), disabled_pass=(), config: dict | None = None):
        self.opt_level = opt_level
        self.required_pass = list(required_pass or ())
        self.disabled_pass = list(disabled_pass or ())
        self.config = dict(config or {})
        _core.check_pass_context(self.opt_level, self.disabled_pass, self.required_pass, self.config)

    @staticmethod
    def current() -> "PassContext":
        """The innermost context of this thread, or one with defaults."""
        stack = getattr(_local, "stack", None)
        return stack[-1] if stack else PassContext()

    def __enter__(self) -> "PassContext":
        if not hasattr(_local, "stack"):
            _local.stack = []
        _local.stack.append(self)
        return self

    def __exit__(self, *exception) -> None:
        _local.stack.pop()


class Pass:
    """A pass: call it on a module."""

    def __init__(self, name: str, options: dict):
        self.name, self.options = name, options

    def __call__(self, mod: IRModule) -> IRModule:
        """The transformed module; `mod` itself if nothing changed."""
        node = unwrapped(mod)
        result = _core.relax_run_pass(self.name, node, self.options, 3)
        return mod if result.same_as(node) else IRModule._of(result)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"


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
        if not name.startswith("_") and name not in ("guard_module", "IRModule", "unwrapped")
    ],
)
