"""From modules to code that runs."""

from . import _core
from .errors import UserError
from .ir._nodes import classes
from .ir.module import IRModule, unwrapped
from .target import Target
from .transform import PassContext

_PrimFunc = classes["tir.PrimFunc"]
_Function = classes["relax.Function"]


class Library:
    """Compiled loop programs: look a function up by name and call it.

    >>> lib = tilewright.build(MyModule, target="llvm")
    >>> lib["mm_relu"](a, b, c)
    """

    def __init__(self, core):
        self._core = core

    def __getitem__(self, name: str):
        """The function called `name`; raises UserError with near names if there is none."""
        return self._core.module[name]

    get_function = __getitem__

    def __call__(self, *args):
        """Calls the function "main", or the only one."""
        names = self._core.names
        return self["main" if "main" in names else names[0]](*args)

    @property
    def function_names(self) -> list:
        """The kernels, as they are called."""
        return self._core.names

    @property
    def entry_name(self) -> str:
        """The function that calling the library calls."""
        return "main" if "main" in self._core.names else self._core.names[0]

    @property
    def mod(self):
        """This library (newer texts write lib.mod.time_evaluator)."""
        return self

    @property
    def module(self):
        """The loaded run-time module."""
        return self._core.module

    def time_evaluator(self, func_name: str, dev=None, number: int = 10, repeat: int = 1, min_repeat_ms: int = 0):
        """A callable that runs `func_name` and returns the measured times; see tilewright.runtime.time_evaluator."""
        from .runtime import time_evaluator

        return time_evaluator(self[func_name], number=number, repeat=repeat, min_repeat_ms=min_repeat_ms)

    def get_source(self, fmt: str = "ll") -> str:
        """The code as text: "ll" (LLVM IR), "asm", or "tir" (lowered programs)."""
        return self._core.source(fmt)

    inspect_source = get_source

    def export_library(self, path) -> None:
        """Writes a shared library (.so), object (.o), LLVM IR (.ll) or assembly (.s), by the ending of `path`.

        Raises UserError if the path cannot be written; an existing file is replaced only by a complete one.
        """
        self._core.export_library(str(path))


def build(mod, target="llvm") -> Library:
    """The loop programs of `mod`, compiled and loaded.

    mod     an IRModule of PrimFuncs, or one PrimFunc
    target  text or Target; default "llvm", this machine
    Raises  UserError for an unknown target or a malformed program
    """
    if isinstance(mod, _PrimFunc):
        mod = IRModule.from_expr(mod)
    return Library(_core.build(unwrapped(mod), Target(target)))


def build_graph(mod, target="llvm", params: dict | None = None):
    """The graph functions and loop programs of `mod`, compiled; run it with VirtualMachine.

    mod     an IRModule with relax functions, or one function
    target  text or Target; default "llvm", this machine
    params  {parameter name: tensor} to bind into "main" before; default none
    """
    if isinstance(mod, _Function):
        mod = IRModule({"main": mod})
    if params:
        from .relax.transform import BindParams

        mod = BindParams("main", params)(mod)
    context = PassContext.current()
    return _core.build_graph(
        unwrapped(mod), Target(target), context.opt_level, context.disabled_pass, context.required_pass, context.config
    )


def compile(source, target="llvm", params: dict | None = None):  # noqa: A001 - the field's name
    """A compiled program: a Library for loop programs, an Executable for graphs.

    source  an IRModule, a function, or the path of an ONNX model
    target  text or Target; default "llvm", this machine
    >>> ex = tilewright.compile("model.onnx"); vm = tilewright.VirtualMachine(ex)
    """
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        from .frontend.onnx import from_onnx

        source = from_onnx(source)
    if isinstance(source, _Function):
        return build_graph(source, target, params)
    if isinstance(source, _PrimFunc):
        return build(source, target)
    if not isinstance(source, IRModule):
        raise UserError(f"cannot compile a Python {type(source).__name__}\nhelp: give a module, a function or an ONNX path")
    has_graph = any(isinstance(func, _Function) for func in source.functions.values())
    return build_graph(source, target, params) if has_graph else build(source, target)
