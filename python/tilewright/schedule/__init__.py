"""Schedules: a module and the checked steps that transform it."""

from inspect import isfunction

from .. import _core
from ..ir.module import IRModule, unwrapped
from ..tir import index_map

BlockRV = _core.BlockHandle
LoopRV = _core.LoopHandle
ExprRV = _core.ExprHandle
Trace = _core.Trace


class Schedule:
    """A program and the steps that transform it; every step is proved legal or refused with the reason.

    mod         a module, or a function, which becomes the module's "main"
    seed        of what sample_* primitives draw; default 0
    debug_mask  verify the program after every step if not 0 or "none"; default 0
    >>> sch = tilewright.Schedule(MyModule)
    >>> i, j, k = sch.get_loops(sch.get_block("C"))
    """

    def __init__(self, mod, *, seed: int | None = None, debug_mask=0, error_render_level: str = "detail"):
        if not isinstance(mod, IRModule):
            mod = IRModule.from_expr(mod)
        verify = debug_mask not in (0, "none", None)
        self._core = _core.Schedule(unwrapped(mod), abs(seed or 0), verify)

    @classmethod
    def _of(cls, core) -> "Schedule":
        self = cls.__new__(cls)
        self._core = core
        return self

    @property
    def mod(self) -> IRModule:
        """The program as it is now."""
        return IRModule._of(self._core.module())

    @property
    def trace(self) -> Trace:
        """What has been done: printable as Python, savable as JSON, replayable with trace.apply_to_schedule(sch)."""
        return self._core.trace()

    def get(self, handle):
        """What a handle stands for now: a For, a Block or an int."""
        return self._core.get(handle)

    def copy(self) -> "Schedule":
        """An independent schedule that understands the same handles."""
        return Schedule._of(self._core.copy())

    def fork(self, seed: int) -> "Schedule":
        """A copy whose samples are drawn from `seed`."""
        return Schedule._of(self._core.fork(seed))

    def show(self, **options) -> None:
        """Prints the program and the trace."""
        self.mod.show(**options)
        print(self.trace)


def _method(name: str, doc: str, returns: str, args: list):
    maps = {n: arg for n, (arg, _, type_name, *_) in enumerate(args) if type_name.startswith("IndexMap")}

    def call(self, *positional, **named):
        positional = list(positional)
        for n, arg in maps.items():  # a Python function may stand for an index map
            if n < len(positional) and isfunction(positional[n]):
                positional[n] = index_map(positional[n])
            elif isfunction(named.get(arg)):
                named[arg] = index_map(named[arg])
        return self._core.run(name, positional, named)

    call.__name__ = name
    call.__qualname__ = f"Schedule.{name}"
    lines = [
        f"    {arg}  {text}" + ("" if required else f"; default {default!r}")
        for arg, text, _, default, required, _ in args
    ]
    call.__doc__ = "\n".join([doc.strip(), "", *lines, f"    Returns  {returns}"])
    return call


for _name, _doc, _returns, _args in _core.primitive_table():
    setattr(Schedule, _name, _method(_name, _doc, _returns, _args))

Trace.apply_to_schedule = lambda self, sch: self.apply_to(sch._core)
Trace.as_json = lambda self: self.save_json()
Trace.show = lambda self: print(self)
