"""Running compiled graphs, and timing functions."""

import types

from .. import _core
from ..errors import Unsupported, UserError
from .signature import TensorInfo, inputs_of, main_of, outputs_of, signatures

_CPU = 1  # the number of the CPU among the kinds of devices, as in DLPack


def devices_of(what: str, device) -> list:
    """The devices that `device` (a device, its name, a list of them, or None) means; `what` opens messages."""
    devices = device if isinstance(device, list | tuple) else [device]
    found = []
    for each in devices:
        if isinstance(each, str):
            each = _core.Device(each)
        if each is not None and not isinstance(each, _core.Device):
            raise UserError(
                f"{what}: device is a Python {type(each).__name__}, expected a device\nhelp: e.g. tilewright.cpu()"
            )
        found += [] if each is None else [each]
    return found


def require_cpu(what: str, device) -> None:
    """Raises Unsupported unless `device` (a device, its name, a list of one, or None) is the CPU; `what` opens the message."""
    for each in devices_of(what, device):
        if each.device_type != _CPU:
            raise Unsupported(
                f"{what}: this program is code of the CPU, it cannot run on {each}\nhelp: leave the device out, or pass tilewright.cpu()"
            )


#: the answers of an instrument before a call: NO_OP makes it, SKIP_RUN leaves it out
VMInstrumentReturnKind = types.SimpleNamespace(NO_OP=0, SKIP_RUN=1)


class VirtualMachine:
    """Runs the functions of a compiled graph.  Several threads may call them at once.

    vm["main"](x, y) takes arguments by position, vm["main"](y=y, x=x) by the names of the model's inputs; names that are no
    identifiers go through a dict: vm["main"](**{"input:0": x}).  docs/calling.md says what results share with arguments.

    executable  what tilewright.compile or relax.build gave, or a module loaded from a file
    device      where it runs: a device, its name, or a list with one for each device of the module's
                I.module_global_infos({"vdevice": [...]}), in their order; default the first of each kind that the program
                was compiled for, or those that the module names.  Arguments from elsewhere are copied there; results stay there.
    Raises      Unsupported for a device of another kind, UserError if there are too few
    >>> vm = tilewright.VirtualMachine(ex, tilewright.cpu())
    >>> y = vm["main"](np.ones((1, 784), "float32"))
    """

    def __init__(self, executable, device=None):
        places = devices_of("VirtualMachine", device)
        executable = getattr(executable, "executable", executable)
        if isinstance(executable, _core.Executable):
            self._machine = executable.machine(places)
        elif isinstance(executable, _core.Module):
            self._machine = _core.machine_of_module(executable, places)
        else:
            raise UserError(
                f"a VirtualMachine runs an Executable or a loaded module, not a Python {type(executable).__name__}"
            )
        self._source = executable
        self._functions: dict = {}
        self._inputs: dict = {}  # of set_input, by function
        self._outputs: dict = {}  # of invoke_stateful, by function

    def __getitem__(self, name: str):
        """The function called `name`; raises UserError with near names if there is none."""
        if name not in self._functions:
            self._functions[name] = self._machine.get_function(name)
        return self._functions[name]

    @property
    def function_names(self) -> list:
        """The functions that can be called."""
        return self._machine.function_names

    @property
    def inputs(self) -> list[TensorInfo]:
        """The inputs of "main", or of the only function; raises UserError if there are several and none is main."""
        return inputs_of(self._machine, main_of(self._machine))

    @property
    def outputs(self) -> list[TensorInfo]:
        """The outputs of "main", or of the only function; raises UserError if there are several and none is main."""
        return outputs_of(self._machine, main_of(self._machine))

    def inputs_of(self, func_name: str) -> list[TensorInfo]:
        """The inputs of a function; raises UserError with near names if there is none."""
        return inputs_of(self._machine, func_name)

    def outputs_of(self, func_name: str) -> list[TensorInfo]:
        """The outputs of a function; raises UserError with near names if there is none."""
        return outputs_of(self._machine, func_name)

    def __repr__(self) -> str:
        return f"<VirtualMachine {signatures(self._machine)}>"

    def __reduce__(self):
        # the arguments of set_input, save_function and set_instrument belong to this process
        return VirtualMachine, (self._source,)

    def __copy__(self) -> "VirtualMachine":
        return VirtualMachine(self._source)

    def __deepcopy__(self, memo) -> "VirtualMachine":
        return VirtualMachine(self._source)

    def _ordered(self, func_name: str, args: tuple, kwargs: dict) -> tuple:
        """The arguments in the order of the function's parameters."""
        return self._machine.ordered(func_name, *args, **kwargs) if kwargs else args

    def set_input(self, func_name: str, *args, **kwargs) -> None:
        """Keeps arguments for invoke_stateful, by position or by name; nothing is copied.

        Raises UserError for a name that is no parameter, one given twice, or one that is left out.
        """
        self[func_name]
        self._inputs[func_name] = self._ordered(func_name, args, kwargs)

    def invoke_stateful(self, func_name: str) -> None:
        """Runs a function on what set_input kept; get_outputs gives the result.

        Raises UserError if set_input was not called for it, and what the function raises.
        """
        if func_name not in self._inputs:
            raise UserError(
                f'invoke_stateful: "{func_name}" has no inputs\nhelp: vm.set_input("{func_name}", ...) comes first'
            )
        self._outputs[func_name] = self[func_name](*self._inputs[func_name])

    def get_outputs(self, func_name: str):
        """The result of the last invoke_stateful of a function; raises UserError if there was none."""
        if func_name not in self._outputs:
            raise UserError(
                f'get_outputs: "{func_name}" was not run\nhelp: vm.invoke_stateful("{func_name}") comes first'
            )
        return self._outputs[func_name]

    def save_function(
        self, func_name: str, saved_name: str, *args, include_return: bool = True, **kwargs
    ) -> None:
        """Makes vm[saved_name], a function without arguments that calls `func_name` on these.

        include_return  False: it returns None, e.g. for timing without the cost of the result; default True
        Raises          UserError if the machine has a function `saved_name`, or the arguments do not fit by name
        """
        if saved_name in self.function_names:
            raise UserError(f'save_function: there is a function "{saved_name}" already')
        function, values = self[func_name], self._ordered(func_name, args, kwargs)

        def call():
            result = function(*values)
            return result if include_return else None

        self._functions[saved_name] = _core.convert_function(saved_name, call)

    def set_instrument(self, instrument) -> None:
        """Calls `instrument` before and after every kernel and packed call; None stops that.

        instrument  (function, name, before_run, result, *args): args are the tensors and scalars of the call, of a kernel
                    its results last; result is None before, and of kernels.  If it gives VMInstrumentReturnKind.SKIP_RUN
                    before a call, the call is left out.
        The tensors belong to the machine and are overwritten by later calls: copy what you keep, e.g. by
        numpy.array(arg.numpy()).  No other thread may use the machine while it is set.
        """
        if instrument is not None and not callable(instrument):
            raise UserError(f"set_instrument: a Python {type(instrument).__name__} cannot be called")
        self._machine.set_instrument(instrument)

    def profile(self, func_name: str, *args, **kwargs):
        """A tilewright.runtime.profile.Profile of one call: time and bytes of each kernel; print it for a table.

        The call runs once before, so that memory and caches are warm.  No other thread may use the machine meanwhile.
        >>> print(tilewright.VirtualMachine(ex).profile("main", np.ones((1, 784), "float32")))
        """
        import time

        from .profile import Profile

        function, values = self[func_name], self._ordered(func_name, args, kwargs)
        function(*values)
        durations = []

        def call() -> None:
            start = time.perf_counter()
            function(*values)
            durations.append((time.perf_counter() - start) * 1e6)

        records = self._machine.record_calls(call)
        return Profile(records, durations[0], lambda name: self._machine.note(f"nodes.{name}").splitlines())

    def time_evaluator(
        self,
        func_name: str,
        dev=None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: int = 0,
        cache_flush_bytes: int = 0,
    ):
        """A callable that runs `func_name` and returns the measured times; see tilewright.runtime.time_evaluator.

        dev     the machine's device, one of them, or None
        Raises  UserError for another device
        """
        devices = self._machine.devices
        for each in devices_of("time_evaluator", dev):
            if each not in devices:
                runs_on = ", ".join(map(str, devices))
                raise UserError(f"time_evaluator: the machine runs on {runs_on}, not on {each}")
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

    Where an argument or the result is on a GPU, the times are between events of that device.

    number         calls per measurement, >= 1; default 10
    repeat         measurements, >= 1; default 1
    min_repeat_ms  `number` grows until a measurement takes at least so long; milliseconds, default 0
    cache_flush_bytes  other memory of this size is written before each measurement, bytes, 0 to 2**30; default 0:
                   caches stay warm
    """

    def measure(*args):
        if isinstance(function, _core.ModelFunction):
            args = function.with_pairs(*args)
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
