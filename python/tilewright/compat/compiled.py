"""Methods of compiled modules and of targets under TVM's names and with its arguments."""

import inspect
import tempfile
from pathlib import Path

import tilewright as tw
from tilewright import runtime
from tilewright.ir._nodes import classes

from .relay.executors import machine_for

_Module = runtime.Module
_TargetNode = classes["ir.Target"]


def _export_library(
    self, file_name, fcompile=None, addons=None, workspace_dir=None, *, export=_Module.export_library, **named
) -> None:
    """Writes the module to a file, by its ending; with fcompile(file, objects, ...) from its object file."""
    if fcompile is None:
        export(self, file_name)
        return
    with tempfile.TemporaryDirectory(dir=workspace_dir) as folder:
        unit = str(Path(folder) / "lib0.o")
        export(self, unit)
        fcompile(str(file_name), [unit, *(addons or [])], **named)


def _time_evaluator(
    self,
    func_name,
    dev=None,
    number=10,
    repeat=1,
    min_repeat_ms=0,
    limit_zero_time_iterations=100,
    cooldown_interval_ms=0,
    repeats_to_cooldown=1,
    cache_flush_bytes=0,
    f_preproc="",
    *,
    measured=_Module.time_evaluator,
):
    """Module.time_evaluator; pauses between measurements are not made, f_preproc may ask for cold caches."""
    if f_preproc.startswith("cache_flush_cpu"):
        cache_flush_bytes = cache_flush_bytes or 64 * 2**20
    return measured(
        self,
        func_name,
        dev,
        number=number,
        repeat=repeat,
        min_repeat_ms=min_repeat_ms,
        cache_flush_bytes=cache_flush_bytes,
    )


def _get_source(self, fmt="", *, source=_Module.get_source) -> str:
    """The code as text: "ll", "asm" (or "s"), "c"."""
    return source(self, "asm" if fmt == "s" else fmt)


def _get_function(self, name: str, query_imports: bool = False):
    """The function of this name."""
    return self[name]


def _item(self, name: str, *, item=_Module.__getitem__):
    """The function of this name; of a loaded graph "default" gives it on a device, as lib["default"](device)."""
    if name == "default" and name not in self.function_names:
        return lambda device=None: machine_for(self, device, {})
    return item(self, name)


def _entry_func(self):
    """The function "main", or the only one."""
    names = self.function_names
    return self["main" if "main" in names else names[0]]


class TargetKind(str):
    """The name of a kind of target, which has the attribute `name` too."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """ "llvm", "c", ..."""
        return str(self)


def _exported(self) -> dict:
    """The target as a dict that Target() takes."""
    found = {"kind": self.kind_name, "keys": [str(key) for key in self.keys]}
    found.update({key: _plain(value) for key, value in dict(self.attrs).items()})
    if self.host is not None:
        found["host"] = _exported(self.host)
    return found


def _plain(value):
    if hasattr(value, "value"):
        return value.value
    if isinstance(value, (str, int, float, bool)):
        return value
    return [_plain(each) for each in value]


def _attribute(name: str, default):
    return property(lambda self: _plain(dict(self.attrs).get(name, default)), doc=f"attribute {name}")


def _save(self, file_name, fmt: str = "") -> None:
    """Writes the module to a file, by its ending; of kernels for a device their text."""
    if self.name in ("cuda", "opencl", "metal"):
        Path(file_name).write_text(self.get_source(fmt) if fmt else self.get_source())
    else:
        self.export_library(file_name)


def add() -> None:
    """Gives modules and targets these methods."""
    _Module.export_library = _export_library
    _Module.save = _save
    _Module.time_evaluator = _time_evaluator
    _Module.get_source = _Module.inspect_source = _get_source
    _Module.get_function = _get_function
    _Module.__getitem__ = _item
    _Module.entry_func = property(_entry_func)
    _Module.entry_name = property(lambda self: _entry_func(self).name)
    _Module.implements_function = lambda self, name, query_imports=False: name in self.function_names
    _Module.imported_modules = property(lambda self: self.imports)
    _TargetNode.kind = property(lambda self: TargetKind(self.kind_name))
    _TargetNode.export = _exported
    _TargetNode.with_host = lambda self, host: tw.Target(self, host)
    for name, default in (("mcpu", ""), ("mattr", []), ("model", "unknown"), ("device", ""), ("arch", "")):
        if not isinstance(inspect.getattr_static(_TargetNode, name, None), property):
            setattr(_TargetNode, "device_name" if name == "device" else name, _attribute(name, default))
    for name, default in (("max_num_threads", 1), ("thread_warp_size", 1)):
        setattr(_TargetNode, name, _attribute(name, default))
