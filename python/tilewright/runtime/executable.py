"""Executables and modules as values: what they hold, their bytes, pickling."""

import tempfile
from pathlib import Path

from .. import _core
from ..errors import ArgumentError, UserError
from ..ir.module import wrapped
from .signature import inputs_of, main_of, outputs_of, signatures

Executable = _core.Executable
Executable.__module__ = "tilewright.runtime"
Module = _core.Module


def _export_library(self, path) -> None:
    """Writes the model, kernels and code in one, as a shared library: load_module(path) and VirtualMachine run it."""
    if hasattr(self, "_library"):
        if Path(path).suffix != ".so":
            raise UserError(
                f"{path} cannot be written: this executable was loaded from bytes, which are a .so\nhelp: name it .so"
            )
        Path(path).write_bytes(library_bytes(self._library))
        return
    _core.export_library(self.kernels, str(path))


def library_bytes(module) -> bytes:
    """The shared library that a module is, or can be exported as.

    Raises UserError for a module without one: of a virtual machine, or of a file that is gone.
    """
    if (kept := getattr(module, "_bytes", None)) is not None:
        return kept
    if module.kind == "library":
        try:
            return Path(module.name).read_bytes()
        except OSError as problem:
            raise UserError(f"the library {module.name} cannot be read again: {problem.strerror}") from None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.so"
        _core.export_library(module, str(file))
        return file.read_bytes()


def _to_bytes(self) -> bytes:
    """The model, kernels and code in one; tilewright.runtime.load_bytes has it back, also in another process.

    >>> vm = tilewright.VirtualMachine(tilewright.runtime.load_bytes(ex.to_bytes()))
    """
    return library_bytes(getattr(self, "_library", self.kernels))


def load_bytes(data: bytes):
    """The module that Executable.to_bytes, or a file of export_library, holds.

    Raises UserError if the bytes are no shared library of this machine, or damaged.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.so"
        file.write_bytes(data)
        try:
            module = _core.load_module(str(file))  # stays mapped when the file is gone
        except UserError as error:
            text = str(error).removeprefix("error: ").replace(str(file), "the bytes")
            raise UserError(text) from None
    module._bytes = bytes(data)  # for the next pickle
    return module


def _stats(self) -> str:
    """The numbers of functions, instructions, kernels and constants in the executable, and the bytes of constants."""
    return "\n".join(f"{name}: {count:,}" for name, count in self.counts().items())


def _module_property(name: str, doc: str) -> property:
    node = getattr(Executable, name)

    def get(self):
        return wrapped(node.__get__(self))

    return property(get, doc=doc)


def _executable_of(data: bytes):
    """An executable that pickle has brought."""
    module = load_bytes(data)
    executable = _core.executable_of_library(module)
    executable._library = module  # holds the bytes
    return executable


def _main(describe):
    def get(self):
        machine = self.machine()
        return describe(machine, main_of(machine))

    return get


def _executable_repr(self) -> str:
    counts = self.counts()
    num_kernels = counts["kernels and packed functions"]
    holds = (
        f"{num_kernels} kernel{'s' * (num_kernels != 1)}, {counts['bytes of constants']:,} bytes of constants"
    )
    return f"<Executable {signatures(self.machine())}; {holds}>"


def _module_repr(self) -> str:
    names = self.function_names  # their arguments are known only where they are loaded
    return f"<Module {self.kind}: {', '.join([*names[:8], '...'] if len(names) > 8 else names)}>"


Executable.legalized = _module_property("legalized", "The module after the graph passes: what is compiled.")
Executable.lowered = _module_property(
    "lowered", "The same module with its memory as statements, as it becomes code."
)
Executable.inputs = property(
    _main(inputs_of),
    doc='What "main", or the only function, takes: a list of TensorInfo; raises UserError if there are several and none is main.',
)
Executable.outputs = property(
    _main(outputs_of),
    doc='What "main", or the only function, gives: a list of TensorInfo; raises UserError if there are several and none is main.',
)
Executable.export_library = _export_library
Executable.to_bytes = _to_bytes
Executable.stats = _stats
Executable.__repr__ = _executable_repr
Executable.__reduce__ = lambda self: (_executable_of, (self.to_bytes(),))
Module.__repr__ = _module_repr
Module.__reduce__ = lambda self: (load_bytes, (library_bytes(self),))


def _refuse_function(self):
    raise ArgumentError(
        f"function {self.name} is code of this process and cannot be pickled\nhelp: pickle its VirtualMachine or Module, and look it up there"
    )


_core.Function.__reduce__ = _refuse_function
for _class in (Executable, Module, _core.Function):  # they do not change
    _class.__copy__ = lambda self: self
    _class.__deepcopy__ = lambda self, memo: self
