"""Running compiled graphs, and timing functions."""

from .. import _core
from ..errors import UserError

Executable = _core.Executable
Executable.__module__ = "tilewright.runtime"


def _export_library(self, path) -> None:
    """Writes the model, kernels and code in one, as a shared library: load_module(path) and VirtualMachine run it."""
    _core.export_library(self.kernels, str(path))


Executable.export_library = _export_library


class VirtualMachine:
    """Runs the functions of a compiled graph.

    executable  what tilewright.compile or relax.build gave, or a module loaded from a file
    device      where it runs; default the CPU
    >>> vm = tilewright.VirtualMachine(ex, tilewright.cpu())
    >>> y = vm["main"](np.ones((1, 784), "float32"))
    """

    def __init__(self, executable, device=None, memory_cfg=None, profile: bool = False):
        executable = getattr(executable, "executable", executable)
        if isinstance(executable, _core.Executable):
            self._machine = executable.machine()
        elif isinstance(executable, _core.Module):
            self._machine = _core.machine_of_module(executable)
        else:
            raise UserError(
                f"a VirtualMachine runs an Executable or a loaded module, not a Python {type(executable).__name__}"
            )
        self._functions: dict = {}

    def __getitem__(self, name: str):
        """The function called `name`; raises UserError with near names if there is none."""
        if name not in self._functions:
            self._functions[name] = self._machine.get_function(name)
        return self._functions[name]

    @property
    def function_names(self) -> list:
        """The functions that can be called."""
        return self._machine.function_names

    def time_evaluator(
        self,
        func_name: str,
        dev=None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: int = 0,
        cache_flush_bytes: int = 0,
    ):
        """A callable that runs `func_name` and returns the measured times; see tilewright.runtime.time_evaluator."""
        return time_evaluator(
            self[func_name],
            number=number,
            repeat=repeat,
            min_repeat_ms=min_repeat_ms,
            cache_flush_bytes=cache_flush_bytes,
        )


def time_evaluator(
    function, *, number: int = 10, repeat: int = 1, min_repeat_ms: int = 0, cache_flush_bytes: int = 0
):
    """A callable that runs `function` on its arguments and returns times in seconds: mean, median, min, max, std, results.

    number         calls per measurement, >= 1; default 10
    repeat         measurements, >= 1; default 1
    min_repeat_ms  `number` grows until a measurement takes at least so long; milliseconds, default 0
    cache_flush_bytes  other memory of this size is written before each measurement, bytes, 0 to 2**30; default 0:
                   caches stay warm
    """

    def measure(*args):
        return _core.time_function(
            function,
            *args,
            number=number,
            repeat=repeat,
            min_repeat_ms=min_repeat_ms,
            cache_flush_bytes=cache_flush_bytes,
        )

    return measure


def set_num_threads(count: int) -> None:
    """Lets parallel loops that this thread starts use `count` threads; 0 means the default."""
    _core.set_num_threads(count)
