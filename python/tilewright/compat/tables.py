"""The modules that `import tvm` gives, parents before children; faces.py says what is in them."""

from tilewright import relax, runtime, script, tir
from tilewright import transform as tw_transform

from . import (
    access_path,
    analysis,
    arith,
    backend_patterns,
    classes,
    data_layouts,
    errors,
    functors,
    graphs,
    hybrid,
    instrument,
    intrinsics,
    meta_schedule,
    names_of_2018,
    printing,
    regions,
    relax_analysis,
    relax_build,
    relax_onnx,
    relax_testing,
    relax_transform,
    relay,
    rpc,
    scopes,
    statement_builder,
    target,
    te_schedule,
    testing,
    tir_functions,
    topi,
    training,
    transform,
)
from . import ir_builder as builder
from .contrib import cblas, cc, nvcc, popen_pool, tar, utils
from .faces import (
    access_path_names,
    array,
    build_as_written,
    ffi_names,
    frontend_names,
    ir_names,
    lower,
    nd_names,
    op_group_names,
    public_names,
    relax_names,
    relax_vm_names,
    runtime_names,
    schedule_names,
    script_module_names,
    script_names,
    te_names,
    tensor_intrin_names,
    testing_plugin_names,
    tir_names,
    tvm_names,
)
from .ir_builder import ir as builder_ir
from .ir_builder import relax as builder_relax
from .ir_builder import tir as builder_tir
from .testing import schedule

#: modules that scripts import as T, R, I: the parser knows them under these names
SCRIPT_MODULES = {
    "tvm.script.tir": "tvm.script.tir",
    "tvm.script.tirx": "tvm.script.tir",
    "tvm.script.relax": "tvm.script.relax",
    "tvm.script.ir": "tvm.script.ir",
    "tvm.script.parser.tir": "tvm.script.tir",
    "tvm.script.parser.relax": "tvm.script.relax",
    "tvm.script.parser.ir": "tvm.script.ir",
}


#: below tvm.tir, and tvm.s_tir since 2026
_OF_TIR = {
    "schedule": schedule_names,
    **{
        f"schedule.{part}": schedule_names
        for part in ("analysis", "instruction", "schedule", "state", "trace")
    },
    "schedule.testing": lambda: public_names(schedule),
    "stmt_functor": lambda: tir_functions.STMT_FUNCTOR,
    "analysis": lambda: analysis.NAMES,
    "transform": lambda: transform.TIR_NAMES,
    "block_scope": lambda: scopes.NAMES,
    "sblock_scope": lambda: scopes.NAMES,
    "data_layout": lambda: data_layouts.NAMES,
    "functor": lambda: functors.FUNCTOR_NAMES,
    "function": lambda: {"PrimFunc": tir.PrimFunc},
    "ir_builder": lambda: statement_builder.NAMES,
    "tensor_intrin": dict,
    "tensor_intrin.x86": tensor_intrin_names("x86"),
    "tensor_intrin.arm_cpu": tensor_intrin_names("arm_cpu"),
    "tensor_intrin.cuda": tensor_intrin_names("cuda"),
}

#: below tvm.contrib, and tvm.support since 2026
_TOOLS = {
    "utils": lambda: utils.NAMES,
    "cc": lambda: cc.CC_NAMES,
    "tar": lambda: tar.NAMES,
    "clang": lambda: cc.CLANG_NAMES,
    "nvcc": lambda: nvcc.NAMES,
    "popen_pool": lambda: popen_pool.NAMES,
}

MODULES = {
    "tvm": tvm_names,
    "tvm.ir": ir_names,
    **{f"tvm.ir.{part}": ir_names for part in ("base", "expr", "global_info", "module", "op", "type")},
    "tvm.ir.transform": lambda: {**public_names(tw_transform), **transform.IR_NAMES},
    "tvm.ir.instrument": lambda: instrument.NAMES,
    "tvm.instrument": lambda: instrument.NAMES,
    "tvm.transform": lambda: {**public_names(tw_transform), **transform.IR_NAMES},
    "tvm.target": lambda: {
        "Target": target.Target,
        "register_intrin_rule": intrinsics.register_intrin_rule,
        **names_of_2018.OF_TARGET,
    },
    "tvm.target.intrin": lambda: intrinsics.OLD_NAMES,
    "tvm.target.target": lambda: {"Target": target.Target},
    "tvm.nd": nd_names,
    "tvm.runtime": runtime_names,
    "tvm.runtime.ndarray": lambda: {"NDArray": runtime.Tensor, "array": array},
    **{
        f"tvm.runtime.{part}": runtime_names
        for part in ("container", "device", "object", "packed_func", "relax_vm", "vm")
    },
    "tvm.te": te_names,
    "tvm.te.operation": te_names,
    "tvm.te.schedule": lambda: te_schedule.OF_SCHEDULE,
    "tvm.te.tensor_intrin": lambda: te_schedule.NAMES,
    "tvm.te.hybrid": lambda: hybrid.NAMES,
    "tvm.hybrid": lambda: hybrid.NAMES,
    "tvm.te.tag": te_names,
    "tvm.tir": tir_names,
    **topi.MODULES,
    "tvm.s_tir": lambda: {**tir_names(), "renew_defs": tir_functions.renew_defs},
    "tvm.tirx": tir_names,
    **{
        f"tvm.{above}meta_schedule{name}": names
        for above in ("", "s_tir.")
        for name, names in meta_schedule.MODULES.items()
    },
    **{f"tvm.{tir}.{name}": names for tir in ("tir", "s_tir", "tirx") for name, names in _OF_TIR.items()},
    **{f"tvm.tir.{part}": tir_names for part in ("buffer", "expr", "op", "stmt")},
    **{f"tvm.{name}": lambda: {**arith.NAMES, **regions.NAMES} for name in ("arith", "sym")},
    "tvm.error": lambda: errors.NAMES,
    "tvm.driver": lambda: {
        "build": build_as_written,
        "lower": lower,
        "compile": relax_build.compile_as_written,
    },
    **{f"tvm.{folder}": dict for folder in ("contrib", "support")},
    "tvm.rpc": lambda: rpc.NAMES,
    "tvm.contrib.cblas": lambda: {"matmul": cblas.matmul, "batch_matmul": cblas.batch_matmul},
    **{f"tvm.{folder}.{name}": names for folder in ("contrib", "support") for name, names in _TOOLS.items()},
    "tvm.relax": relax_names,
    **{
        f"tvm.relax.{part}": relax_names
        for part in ("block_builder", "expr", "pipeline", "struct_info", "type", "utils", "vm_build")
    },
    "tvm.relax.analysis": relax_analysis.names,
    "tvm.relax.dpl": graphs.pattern_names,
    "tvm.relax.dpl.pattern": graphs.pattern_names,
    "tvm.relax.dpl.rewrite": graphs.pattern_names,
    "tvm.relax.dpl.context": graphs.pattern_names,
    "tvm.relax.binding_rewrite": lambda: public_names(relax.binding_rewrite),
    "tvm.relax.backend": lambda: backend_patterns.REGISTRY,
    "tvm.relax.backend.patterns": lambda: backend_patterns.PATTERNS,
    "tvm.relax.backend.pattern_registry": lambda: backend_patterns.REGISTRY,
    "tvm.relax.expr_functor": lambda: graphs.EXPR_FUNCTOR,
    "tvm.relax.op": lambda: {**public_names(relax.op), **training.OP_NAMES},
    "tvm.relax.op.grad": lambda: vars(relax.op.grad),
    **{
        f"tvm.relax.op.{group}": op_group_names(group)
        for group in ("builtin", "ccl", "memory", "nn", "vision", "vm")
    },
    "tvm.relax.op.image": lambda: {**op_group_names("image")(), **training.IMAGE_NAMES},
    **{
        f"tvm.relax.op.{file}": lambda: public_names(relax.op)
        for file in (
            *("base", "binary", "create", "datatype", "index", "linear_algebra", "manipulate", "mask"),
            *("qdq", "sampling", "search", "set", "sorting", "statistical", "ternary", "unary"),
        )
    },
    "tvm.relax.transform": relax_transform.names,
    "tvm.relax.transform.transform": relax_transform.names,
    "tvm.relax.training": lambda: public_names(relax.training),
    "tvm.relax.training.loss": lambda: {**public_names(relax.training.loss), **training.LOSS_NAMES},
    "tvm.relax.training.optimizer": lambda: public_names(relax.training.optimizer),
    "tvm.relax.training.setup_trainer": lambda: {"SetupTrainer": relax.training.SetupTrainer},
    "tvm.relax.training.trainer": lambda: {"Trainer": relax.training.Trainer},
    "tvm.relax.training.utils": lambda: training.UTILS_NAMES,
    "tvm.relax.base_py_module": lambda: {"BasePyModule": relax.BasePyModule},
    "tvm.relax.frontend": lambda: {"detach_params": relax.frontend.detach_params},
    "tvm.relax.frontend.onnx": lambda: relax_onnx.NAMES,
    **{
        f"tvm.relax.frontend.nn{module}": frontend_names(module)
        for module in ("", ".core", ".modules", ".op", ".spec", ".subroutine", ".visitor")
    },
    "tvm.relax.testing": lambda: {
        **public_names(relax.testing.nn),
        **public_names(relax.testing.matmul),
        **relax_testing.NAMES,
        **relax_testing.CHECKPOINTS,
        "start_checkpoint": relax.op.grad.start_checkpoint,
        "end_checkpoint": relax.op.grad.end_checkpoint,
    },
    "tvm.relax.testing.attention": lambda: relax_testing.NAMES,
    "tvm.relax.testing.nn": lambda: {**public_names(relax.testing.nn), **relax_testing.CHECKPOINTS},
    "tvm.relax.testing.vm": lambda: public_names(relax.testing.vm),
    "tvm.relax.testing.matmul": lambda: public_names(relax.testing.matmul),
    "tvm.relax.vm": relax_vm_names,
    **relay.MODULES,
    "tvm.script": script_names,
    "tvm.script.tir": lambda: script_module_names(script.tir),
    "tvm.script.tirx": lambda: script_module_names(script.tir),
    "tvm.script.relax": lambda: script_module_names(script.relax),
    "tvm.script.ir": lambda: script_module_names(script.ir),
    "tvm.script.parser": script_names,
    "tvm.script.parser.ir": lambda: script_module_names(script.ir),
    "tvm.script.parser.relax": lambda: script_module_names(script.relax),
    "tvm.script.parser.tir": lambda: script_module_names(script.tir),
    "tvm.script.ir_builder": lambda: {"IRBuilder": builder.IRBuilder},
    "tvm.script.ir_builder.base": lambda: {"IRBuilder": builder.IRBuilder},
    "tvm.script.ir_builder.ir": lambda: builder_ir.NAMES,
    "tvm.script.ir_builder.relax": lambda: builder_relax.NAMES,
    **{f"tvm.script.ir_builder.{tir}": lambda: builder_tir.NAMES for tir in ("tir", "tirx")},
    "tvm.script.highlight": lambda: {"cprint": printing.cprint},
    "tvm.testing": lambda: testing.NAMES,
    "tvm.testing.utils": lambda: testing.NAMES,
    "tvm.testing.plugin": testing_plugin_names,
    "tvm.runtime.access_path": access_path_names,
    "tvm._ffi": lambda: {**ffi_names(), **errors.NAMES},
    "tvm._ffi.base": lambda: errors.NAMES,
    "tvm.ffi": ffi_names,
    "tvm_ffi": ffi_names,
    "tvm_ffi.access_path": access_path_names,
}
