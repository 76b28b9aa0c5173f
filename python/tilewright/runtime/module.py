"""Modules of compiled functions: look up, time, print their code, export."""

from .. import _core

Module = _core.Module
Module.__module__ = "tilewright.runtime"


def _time_evaluator(
    self,
    func_name: str,
    dev=None,
    number: int = 10,
    repeat: int = 1,
    min_repeat_ms: int = 0,
    cache_flush_bytes: int = 0,
):
    """A callable that runs function `func_name` on its arguments and returns the measured times.

    func_name      a function of this module
    dev            where it runs; default where its arguments are, whose clock measures the time
    number         runs per measurement; default 10
    repeat         measurements; default 1
    min_repeat_ms  at least so long a measurement, milliseconds; number grows; default 0
    cache_flush_bytes  other memory of this size is written before each measurement, bytes, 0 to 2**30; default 0:
                   caches stay warm
    >>> lib.time_evaluator("mm_relu", tilewright.cpu())(a, b, c).mean
    """
    from .vm import devices_of, time_evaluator

    for device in devices_of("time_evaluator", dev):
        device.sync()  # says why if it is not there
    return time_evaluator(
        self[func_name],
        number=number,
        repeat=repeat,
        min_repeat_ms=min_repeat_ms,
        cache_flush_bytes=cache_flush_bytes,
    )


def _get_source(self, fmt: str = "") -> str:
    """The code of this module as text: "ll" (LLVM IR) or "asm" for target llvm, "c" for target c, "lowered" (lowered programs) for each.

    fmt  default "": the first that the target has
    """
    return _core.module_source(self, fmt)


def _export_library(self, path) -> None:
    """Writes the module to `path`: a shared library (.so), object (.o), archive (.a, .tar), LLVM IR (.ll), assembly (.s), C (.c) or lowered programs (.tir), by its ending.

    Raises UserError if the path cannot be written; an existing file is replaced only by a complete one.
    """
    _core.export_library(self, str(path))


Module.time_evaluator = _time_evaluator
Module.get_source = Module.inspect_source = _get_source
Module.export_library = _export_library
Module.mod = property(lambda self: self, doc="this module")


def _call(self, *args):
    """Calls the function "main", or the only one."""
    names = self.function_names
    return self["main" if "main" in names else names[0]](*args)


Module.__call__ = _call
