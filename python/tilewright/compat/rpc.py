"""tvm.rpc: a session on this machine; there are no remote ones."""

import shutil
from pathlib import Path

import tilewright as tw
from tilewright.errors import Unsupported

from .contrib.utils import TempDirectory


class LocalSession:
    """What a session on another machine offers, on this one: files of its own, and the devices that are here."""

    def __init__(self):
        self._folder = TempDirectory()

    def upload(self, data, target=None) -> None:
        """Puts a file, or bytes, into the session's folder under the name `target`, default the file's own."""
        if isinstance(data, bytes | bytearray):
            Path(self._folder.relpath(target)).write_bytes(data)
        else:
            shutil.copyfile(data, self._folder.relpath(target or Path(data).name))

    def download(self, path: str) -> bytearray:
        """The bytes of a file of the session."""
        return bytearray(Path(self._folder.relpath(path)).read_bytes())

    def remove(self, path: str) -> None:
        """Removes a file of the session."""
        Path(self._folder.relpath(path)).unlink()

    def load_module(self, path: str):
        """The module in a file that was uploaded."""
        return tw.load_module(self._folder.relpath(path))

    def get_function(self, name: str):
        """The function that is registered under a name."""
        return tw.get_global_func(name)

    def device(self, dev_type: str, dev_id: int = 0):
        """A device of this machine."""
        return tw.device(dev_type, dev_id)

    context = device

    def cpu(self, dev_id: int = 0):
        """The CPU of this machine."""
        return tw.cpu(dev_id)

    def cuda(self, dev_id: int = 0):
        """A CUDA device of this machine."""
        return tw.cuda(dev_id)

    def cl(self, dev_id: int = 0):
        """An OpenCL device of this machine."""
        return tw.runtime.opencl(dev_id)

    def metal(self, dev_id: int = 0):
        """A Metal device of this machine."""
        return tw.runtime.metal(dev_id)


def _missing(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    raise Unsupported(
        f"rpc.{name}: programs run on this machine alone\n"
        "help: rpc.LocalSession() has the functions of a session; for another machine export_library(path, cc=...) makes a file to copy"
    )


NAMES = {"LocalSession": LocalSession, "__getattr__": _missing}
