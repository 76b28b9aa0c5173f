"""Running programs: tensors, devices, functions, modules, the virtual machine."""

import atexit
import operator

from .. import _core, errors
from .._core import Device, Function, Tensor
from .._guard import guard_class, guard_module
from .executable import Executable, load_bytes
from .module import Module
from .signature import TensorInfo
from .tensors import empty, from_dlpack, load_module, tensor
from .vm import VirtualMachine, VMInstrumentReturnKind, set_num_threads, time_evaluator

for _class in (Device, Function, _core.ModelFunction, Tensor):
    _class.__module__ = "tilewright.runtime"


def device(name: str, index: int = 0) -> Device:
    """The device called `name` ("cpu", "cuda", "opencl", "metal", also "cpu:0") with number `index`.

    Raises UserError for an unknown name.
    """
    return Device(name if ":" in str(name) else f"{name}:{index}")


def cpu(index: int = 0) -> Device:
    """The CPU."""
    return device("cpu", index)


def cuda(index: int = 0) -> Device:
    """An NVIDIA GPU."""
    return device("cuda", index)


def opencl(index: int = 0) -> Device:
    """An OpenCL device."""
    return device("opencl", index)


def metal(index: int = 0) -> Device:
    """An Apple GPU."""
    return device("metal", index)


class Shape(tuple):
    """A shape: a tuple of ints that is one argument of a compiled function, and what such a function returns.

    extents  ints, or what has __index__; default none
    Raises   UserError for other values
    >>> tilewright.runtime.Shape((5, 7))
    """

    __slots__ = ()
    __tilewright_shape__ = True

    def __new__(cls, extents=()):
        try:
            return super().__new__(cls, map(operator.index, extents))
        except TypeError as problem:
            raise errors.UserError(f"a shape is made of integers: {problem}") from None


_registered: set[str] = set()


@atexit.register
def _prepare_exit() -> None:
    """Python bodies must not outlive the interpreter; threads that are in a call when the process ends stay behind."""
    for name in _registered:
        _core.remove_global_func(name)
    _core.prepare_exit()


def register_func(name_or_func, func=None, override: bool = False):
    """Registers a Python function under a name, for `call_dps_packed`, `call_packed` and other languages.

    name_or_func  the name; or the function itself, which is then registered under its __name__
    func          the function; left out when used as a decorator
    override      replace a function of that name; default False
    Returns       the function, or a decorator
    Raises        UserError if the name is taken and override is False
    >>> @tilewright.register_func("env.relu", override=True)
    ... def relu(x, out): ...
    """
    if callable(name_or_func):
        func, name_or_func = name_or_func, name_or_func.__name__

    def register(body):
        _core.register_func(name_or_func, body, override)
        _registered.add(name_or_func)
        return body

    return register if func is None else register(func)


def get_global_func(name: str, allow_missing: bool = False):
    """The registered function `name`; None if there is none and allow_missing, else UserError with near names."""
    return _core.find_global_func(name) if allow_missing else _core.get_global_func(name)


__all__ = [
    "Device", "Executable", "Function", "Module", "Shape", "Tensor", "TensorInfo", "VMInstrumentReturnKind", "VirtualMachine", "cpu", "cuda", "device", "empty",
    "from_dlpack", "get_global_func", "load_bytes", "load_module", "metal", "opencl", "register_func", "set_num_threads", "tensor", "time_evaluator",
]  # fmt: skip


guard_module(
    "tilewright.runtime",
    globals(),
    [name for name in __all__ if name not in ("Device", "Function", "Module")],
)
# a look-up by name is part of many calls; the bindings check what they are given
guard_class("tilewright.runtime.Module", Module, skip=("__getitem__",))
