"""tvm.contrib.utils: a folder that goes away."""

import shutil
import tempfile
from pathlib import Path


class TempDirectory:
    """A new folder, removed with the object.

    custom_path     use this folder instead
    keep_for_debug  leave it in place; default False
    """

    def __init__(self, custom_path=None, keep_for_debug: bool = False):
        if custom_path:
            Path(custom_path).mkdir(parents=True, exist_ok=True)
        self.temp_dir = str(custom_path or tempfile.mkdtemp())
        self._keep = keep_for_debug

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.temp_dir)

    def relpath(self, name: str) -> str:
        """The path of `name` in the folder."""
        return str(self.path / name)

    def listdir(self) -> list:
        """The names in the folder."""
        return [entry.name for entry in self.path.iterdir()]

    def remove(self) -> None:
        """Removes the folder now."""
        if self.temp_dir and not self._keep:
            shutil.rmtree(self.temp_dir, ignore_errors=True)
        self.temp_dir = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()

    def __del__(self):
        if getattr(self, "temp_dir", None):
            self.remove()

    def __truediv__(self, name):
        return self.path / name


def tempdir(custom_path=None, keep_for_debug: bool = False) -> TempDirectory:
    """A TempDirectory."""
    return TempDirectory(custom_path, keep_for_debug)


def is_source_path(path) -> bool:
    """True if the name is that of a C++ or CUDA source."""
    return Path(path).suffix in (".cc", ".cpp", ".c", ".cu", ".cxx")


def which(exec_name: str) -> str | None:
    """The path of a program; None if it is not installed."""
    return shutil.which(exec_name)


NAMES = {
    "TempDirectory": TempDirectory,
    "is_source_path": is_source_path,
    "tempdir": tempdir,
    "which": which,
}
