"""Every old or TVM-only name, module by module: what `import tvm` gives.

A function per module returns {name: object of tilewright}; MODULES lists them, parents before children.
"""

import tilewright as tw
from tilewright import ir, relax, runtime, script, te, tir, transform
from tilewright.build import build_graph
from tilewright.build import compile as compile_any

from . import classes, eras

#: modules that scripts import as T, R, I: the parser knows them under these names
SCRIPT_MODULES = {
    "tvm.script.tir": "tvm.script.tir",
    "tvm.script.tirx": "tvm.script.tir",
    "tvm.script.relax": "tvm.script.relax",
    "tvm.script.ir": "tvm.script.ir",
}


def _public(module) -> dict:
    return {name: value for name, value in vars(module).items() if not name.startswith("__")}


def _tvm() -> dict:
    return {
        "__version__": "0.27.0+tilewright",
        "IRModule": ir.IRModule,
        "build": _build_as_written,
        "compile": _compile_as_written,
        "cpu": tw.cpu,
        "cuda": tw.cuda,
        "gpu": tw.cuda,
        "opencl": runtime.opencl,
        "metal": runtime.metal,
        "device": tw.device,
        "register_func": tw.register_func,
        "register_global_func": tw.register_func,
        "get_global_func": tw.get_global_func,
        "convert": _convert,
        "TVMError": tw.UserError,
    }


def _convert(value):
    """A Python value as a run-time or IR value; callables become functions."""
    from tilewright import _core

    return _core.convert_function("callable", value) if callable(value) else tir.const(value)


def _nd() -> dict:
    return {
        "array": _array,
        "empty": tw.empty,
        "NDArray": runtime.Tensor,
        "from_dlpack": tw.from_dlpack,
        "cpu": tw.cpu,
        "cuda": tw.cuda,
        "device": tw.device,
    }


def _array(value, device=None, ctx=None):
    """A tensor with a copy of `value`."""
    return tw.tensor(value, device or ctx or tw.cpu())


def _runtime() -> dict:
    return {
        **_public(runtime),
        "tensor": _array,
        "NDArray": runtime.Tensor,
        "Tensor": runtime.Tensor,
        "load_module": tw.load_module,
        "PackedFunc": runtime.Function,
    }


def _tir() -> dict:
    return {**_public(tir), "Schedule": tw.Schedule, "IndexMap": tir.IndexMap}


def _relax() -> dict:
    return {**_public(relax), "build": build_graph, "VirtualMachine": tw.VirtualMachine}


def _relax_vm() -> dict:
    return {
        "build": _old_relax_build,
        "VirtualMachine": tw.VirtualMachine,
        "Executable": classes.OldExecutable,
    }


def _build_as_written(mod, target="llvm", **options):
    """tvm.build: loop programs run as they are written, so that a lesson sees what its own steps gain."""
    return tw.build(mod, target, schedule=False, **options)


def _compile_as_written(mod, target="llvm", **options):
    """tvm.compile: loop programs run as they are written; kernels of graphs are scheduled by rules."""
    return compile_any(mod, target, schedule=False, **options)


def _old_relax_build(mod, target="llvm", params=None):
    """relax.vm.build of 2022: the executable shows itself under its old name."""
    return classes.OldExecutable.of(build_graph(mod, target, params))


def _script() -> dict:
    return {
        "ir_module": eras.watched(script.ir_module),
        "parse": script.parse,
        "from_source": script.parse,
    }


def _script_module(module) -> dict:
    names = _public(module)
    for name in ("prim_func", "function", "ir_module"):
        if name in names:
            names[name] = eras.watched(names[name])
    names["__getattr__"] = module.__getattr__
    return names


def _testing() -> dict:
    import numpy

    return {"assert_allclose": numpy.testing.assert_allclose}


MODULES = {
    "tvm": _tvm,
    "tvm.ir": lambda: {
        **_public(ir),
        "assert_structural_equal": ir.assert_structural_equal,
        "structural_equal": ir.structural_equal,
    },
    "tvm.ir.module": lambda: {"IRModule": ir.IRModule},
    "tvm.ir.transform": lambda: _public(transform),
    "tvm.transform": lambda: _public(transform),
    "tvm.target": lambda: {"Target": tw.Target},
    "tvm.nd": _nd,
    "tvm.runtime": _runtime,
    "tvm.runtime.ndarray": lambda: {"NDArray": runtime.Tensor, "array": _array},
    "tvm.te": lambda: {**_public(te), "__getattr__": te.__getattr__},
    "tvm.tir": _tir,
    "tvm.tir.function": lambda: {"PrimFunc": tir.PrimFunc},
    "tvm.tir.schedule": lambda: {"Schedule": tw.Schedule},
    "tvm.s_tir": _tir,
    "tvm.tirx": _tir,
    "tvm.relax": _relax,
    "tvm.relax.op": lambda: _public(relax.op),
    "tvm.relax.transform": lambda: {**_public(relax.transform), "FuseTIR": relax.transform.fuse_tir},
    "tvm.relax.vm": _relax_vm,
    "tvm.script": _script,
    "tvm.script.tir": lambda: _script_module(script.tir),
    "tvm.script.tirx": lambda: _script_module(script.tir),
    "tvm.script.relax": lambda: _script_module(script.relax),
    "tvm.script.ir": lambda: _script_module(script.ir),
    "tvm.testing": _testing,
}
