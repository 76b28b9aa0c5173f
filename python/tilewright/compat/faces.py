"""The names of TVM's modules, a function per module: {name: object of tilewright}."""

import sys

import tilewright as tw
from tilewright import _core, arith, ir, relax, runtime, script, te, tir
from tilewright.build import build_graph

from . import (
    access_path,
    classes,
    data_layouts,
    eras,
    errors,
    functors,
    graphs,
    instructions,
    intrinsics,
    names_of_2018,
    nodes,
    param_files,
    relax_build,
    schedules,
    scopes,
    te_schedule,
    tir_functions,
    traces,
    training,
)
from .lower_and_build import build_as_written, lower, tir_build
from .members import public_names
from .target import KINDS, target_or_current

_DEVICES = {
    "cpu": tw.cpu,
    "cuda": tw.cuda,
    "gpu": tw.cuda,
    "opencl": runtime.opencl,
    "metal": runtime.metal,
    "device": tw.device,
}


def tvm_names() -> dict:
    return {
        "__version__": "0.27.0+tilewright",
        **names_of_2018.names(te_names()),
        "IRModule": ir.IRModule,
        "build": build_as_written,
        "lower": lower,
        "tensor": array,
        "save_json": ir.save_json,
        "load_json": ir.load_json,
        "compile": relax_build.compile_as_written,
        **_DEVICES,
        "device_from_target": _device_from_target,
        "register_func": tw.register_func,
        "register_global_func": tw.register_func,
        "get_global_func": tw.get_global_func,
        "convert": _convert,
        "DataType": nodes.DataType,
        **errors.NAMES,
        **intrinsics.OLD_NAMES,
    }


def _convert(value):
    """A Python value as a run-time or IR value; callables become functions, in lists and dictionaries too."""
    if isinstance(value, (list, tuple)):
        return [_convert(each) for each in value]
    if isinstance(value, dict):
        return {key: _convert(each) for key, each in value.items()}
    if isinstance(value, (str, ir.Object, runtime.Tensor)) or value is None:
        return value
    return _core.convert_function("callable", value) if callable(value) else tir.const(value)


def nd_names() -> dict:
    return {
        "array": array,
        "empty": tw.empty,
        "NDArray": runtime.Tensor,
        "from_dlpack": tw.from_dlpack,
        **_DEVICES,
    }


def array(value, device=None, ctx=None):
    """A tensor with a copy of `value`."""
    return tw.tensor(value, device or ctx or tw.cpu())


def _device_from_target(target, index: int | None = None):
    """The device that programs for a target run on."""
    kind = tw.Target(target).kind
    return tw.device({"llvm": "cpu", "c": "cpu"}.get(kind, kind), index or 0)


def runtime_names() -> dict:
    return {
        **public_names(runtime),
        "convert": _convert,
        "const": tir.const,
        "Object": ir.Object,
        "ObjectPath": access_path.ObjectPath,
        "DataType": nodes.DataType,
        "String": str,
        "num_threads": _core.num_threads,
        "enabled": lambda target: tw.Target(target).kind in KINDS,
        "tensor": array,
        "NDArray": runtime.Tensor,
        "ShapeTuple": runtime.Shape,
        "Tensor": runtime.Tensor,
        "load_module": tw.load_module,
        "PackedFunc": runtime.Function,
        "device_from_target": _device_from_target,
        **param_files.NAMES,
    }


def tir_names() -> dict:
    return {
        **public_names(tir),
        **tir_functions.NAMES,
        **schedule_names(),
        **data_layouts.NAMES,
        **functors.NAMES,
        **nodes.NAMES,
        "convert": _convert,
        "comm_reducer": te.comm_reducer,
        "sum": te.sum,
        "IndexMap": tir.IndexMap,
        "build": tir_build,
        **intrinsics.TIR_NAMES,
    }


def te_names() -> dict:
    return {
        **public_names(te),
        "__getattr__": te.__getattr__,
        "create_prim_func": _create_prim_func,
        "create_prim_func_from_outputs": _create_prim_func_from_outputs,
        "power": tir.pow,
        "logaddexp": tir_functions.logaddexp,
        "CommReducer": tir.CommReducer,
        "Reduce": nodes.NAMES["Reduce"],
        "PlaceholderOp": ir._nodes.classes["te.Placeholder"],
        "ComputeOp": ir._nodes.classes["te.Compute"],
        "ExternOp": ir._nodes.classes["te.Extern"],
        "decl_buffer": nodes.NAMES["decl_buffer"],
        "HybridOp": ir._nodes.classes["te.Extern"],
        "ScanOp": ir._nodes.classes["te.Scan"],
        **te_schedule.NAMES,
    }


def _create_prim_func(ops, index_dtype_override=None):
    """te.create_prim_func with TVM's arguments."""
    return te.create_prim_func(ops, index_dtype_override or "void")


def _create_prim_func_from_outputs(outputs, index_dtype_override=None):
    """te.create_prim_func of the placeholders that `outputs` depend on, in the order of their use, and `outputs`."""
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    inputs = [op.output(0) for op in _core.te_operations([tensor.op for tensor in outputs])]
    placeholder = ir._nodes.classes["te.Placeholder"]
    inputs = [tensor for tensor in inputs if isinstance(tensor.op, placeholder)]
    return _create_prim_func([*inputs, *outputs], index_dtype_override)


def schedule_names() -> dict:
    from tilewright.schedule import Schedule, State

    return {
        "Schedule": nodes.with_constructor(Schedule, schedules.make_schedule),
        "ScheduleState": State,
        "Instruction": instructions.Instruction,
        **scopes.NAMES,
        "InstructionKind": instructions.InstructionKind,
        "ScheduleError": tw.UserError,
        "Trace": traces.TRACE,
        **instructions.HANDLES,
    }


def tensor_intrin_names(name: str):
    """The names of tilewright.tir.tensor_intrin.NAME, which registers its intrinsics when it is first used."""

    def load(attribute: str):
        import importlib

        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(f"tilewright.tir.tensor_intrin.{name}"), attribute)

    return lambda: {"__getattr__": load}


def ffi_names() -> dict:
    return {
        "register_global_func": tw.register_func,
        "register_func": tw.register_func,
        "get_global_func": tw.get_global_func,
        "remove_global_func": tw._core.remove_global_func,
        "Function": runtime.Function,
        "Tensor": runtime.Tensor,
        "from_dlpack": tw.from_dlpack,
        "convert": _convert,
    }


def testing_plugin_names() -> dict:
    """The hooks of pytest, where pytest runs."""
    if "pytest" not in sys.modules:
        return {}
    from .testing import plugin

    return public_names(plugin)


def access_path_names() -> dict:
    return {"AccessPath": access_path.AccessPath, "ObjectPath": access_path.ObjectPath}


def relax_names() -> dict:
    return {
        **public_names(relax),
        **graphs.node_names(),
        **relax_build.NAMES,
        "VirtualMachine": graphs.VirtualMachine,
        "DataflowBlockRewrite": relax.binding_rewrite.DataflowBlockRewrite,
        "convert_to_expr": relax._op_call._value,
        "BasePyModule": relax.BasePyModule,
        "call_tir_with_grad": training.call_tir_with_grad,
        "VMInstrumentReturnKind": runtime.VMInstrumentReturnKind,
    }


def frontend_names(module: str):
    """The names of tilewright.relax.frontend.nn and of its modules."""

    def load() -> dict:
        import importlib

        names = public_names(importlib.import_module(f"tilewright.relax.frontend.nn{module}"))
        if module == ".modules":
            names |= public_names(importlib.import_module("tilewright.relax.frontend.nn.diffusion"))
        return names

    return load


def relax_vm_names() -> dict:
    return {
        "build": _old_relax_build,
        "VirtualMachine": graphs.VirtualMachine,
        "Executable": classes.OldExecutable,
    }


def _old_relax_build(mod, target="llvm", params=None):
    """relax.vm.build of 2022: the executable shows itself under its old name."""
    return classes.OldExecutable.of(build_graph(mod, target, params))


class _EnvFunc:
    """A registered function as a value."""

    @staticmethod
    def get(name: str):
        """The function registered under a name."""
        return tw.get_global_func(name)


def ir_names() -> dict:
    """tvm.ir, and its modules."""
    return {
        **public_names(ir),
        "assert_structural_equal": ir.assert_structural_equal,
        "structural_equal": ir.structural_equal,
        "ObjectPath": access_path.ObjectPath,
        "Range": nodes.NAMES["Range"],
        "Node": ir.Object,
        "Array": list,
        "Map": dict,
        "DictAttrs": dict,
        "GlobalInfo": ir.Object,
        "VDevice": graphs.VDevice,
        "TupleType": ir.TupleType,
        "EnvFunc": _EnvFunc,
        **intrinsics.IR_NAMES,
    }


def op_group_names(group: str):
    """The names of tvm.relax.op.GROUP."""
    return lambda: dict(vars(getattr(relax.op, group)))


def script_names() -> dict:
    return {
        "ir_module": eras.watched(script.ir_module),
        "parse": script.parse,
        "from_source": script.parse,
    }


def script_module_names(module) -> dict:
    names = public_names(module)
    for name in ("prim_func", "function", "ir_module"):
        if name in names:
            names[name] = eras.watched(names[name])
    names["__getattr__"] = module.__getattr__
    return names
