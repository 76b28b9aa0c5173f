"""Running compiled graphs, and timing functions."""

from .. import _core
from ..errors import Unsupported, UserError

_CPU = 1  # the number of the CPU among the kinds of devices, as in DLPack

Executable = _core.Executable
Executable.__module__ = "tilewright.runtime"


def _export_library(self, path) -> None:
    """Writes the model, kernels and code in one, as a shared library: load_module(path) and VirtualMachine run it."""
    _core.export_library(self.kernels, str(path))


Executable.export_library = _export_library


def require_cpu(what: str, device) -> None:
    """Raises Unsupported unless `device` (a device, its name, a list of one, or None) is the CPU; `what` opens the message."""
    devices = device if isinstance(device, list | tuple) else [device]
    for each in devices:
        if isinstance(each, str):
            each = _core.Device(each)
        if each is not None and not isinstance(each, _core.Device):
            raise UserError(
                f"{what}: device is a Python {type(each).__name__}, expected a device\nhelp: e.g. tilewright.cpu()"
            )
        if each is not None and each.device_type != _CPU:
            raise Unsupported(
                f"{what}: this program is code of the CPU, it cannot run on {each}\nhelp: leave the device out, or pass tilewright.cpu()"
            )


class VirtualMachine:
    """Runs the functions of a compiled graph.

    executable  what tilewright.compile or relax.build gave, or a module loaded from a file
    device      where it runs: a device, its name or a list of one; default the CPU
    memory_cfg  must be None: memory is planned when the graph is compiled
    profile     must be False: tilewright.runtime.time_evaluator measures
    Raises      Unsupported for a device other than the CPU: the kernels are code of the CPU
    >>> vm = tilewright.VirtualMachine(ex, tilewright.cpu())
    >>> y = vm["main"](np.ones((1, 784), "float32"))
    """

    def __init__(self, executable, device=None, memory_cfg=None, profile: bool = False):
        require_cpu("VirtualMachine", device)
        if memory_cfg is not None:
            raise Unsupported(
                "VirtualMachine: memory_cfg cannot be given\nhelp: memory is planned when the graph is compiled"
            )
        if profile:
            raise Unsupported(
                "VirtualMachine: profile=True cannot be given\nhelp: tilewright.runtime.time_evaluator measures functions"
            )
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
        require_cpu("time_evaluator", dev)
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
