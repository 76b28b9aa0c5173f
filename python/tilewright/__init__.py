"""tilewright: a machine learning compiler and runtime.

import tilewright
ex = tilewright.compile("model.onnx")
y = tilewright.VirtualMachine(ex)["main"](x)
"""

from . import errors, ir, runtime, script, target, tir, transform
from .build import build, compile
from .errors import ArgumentError, InternalError, Unsupported, UserError
from .ir import IRModule
from .runtime import (
    Device,
    Executable,
    Module,
    Tensor,
    VirtualMachine,
    cpu,
    cuda,
    device,
    empty,
    from_dlpack,
    get_global_func,
    load_module,
    metal,
    opencl,
    register_func,
    tensor,
)
from .target import Target
from .tir import tensor_intrin as _tensor_intrin  # noqa: F401 - tir.tensor_intrin

ir.Target = Target  # as TVM's programs write it

__version__ = "0.1.0"

__all__ = [
    "ArgumentError", "Device", "Executable", "IRModule", "InternalError", "Module", "Schedule", "Target", "Tensor", "Unsupported",
    "UserError", "VirtualMachine", "build", "compile", "cpu", "cuda", "device", "empty", "errors", "from_dlpack",
    "get_global_func", "instrument", "ir", "load_module", "metal", "models", "opencl", "register_func", "relax", "runtime", "schedule", "script", "target", "te",
    "tensor", "tir", "transform",
]  # fmt: skip


def __getattr__(name: str):
    """Packages that not every program needs are loaded when they are first used."""
    import importlib

    if name == "Schedule":
        return importlib.import_module(".schedule", __name__).Schedule
    if name in (
        "arith",
        "compat",
        "frontend",
        "instrument",
        "models",
        "records",
        "relax",
        "schedule",
        "te",
        "testing",
        "topi",
        "tune",
    ):
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'tilewright' has no attribute {name!r}")
