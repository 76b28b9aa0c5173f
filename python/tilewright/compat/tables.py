"""The modules that `import tvm` gives, parents before children; faces.py says what is in them."""

from tilewright import ir, relax, runtime, script, te, tir, topi
from tilewright import transform as tw_transform

from . import (
    access_path,
    analysis,
    arith,
    classes,
    errors,
    graphs,
    instrument,
    nodes,
    printing,
    relax_transform,
    target,
    testing,
    training,
    transform,
)
from . import ir_builder as builder
from .contrib import cc, nvcc, popen_pool, utils
from .faces import (
    access_path_names,
    array,
    build_as_written,
    compile_as_written,
    ffi_names,
    frontend_names,
    nd_names,
    public_names,
    relax_names,
    relax_vm_names,
    runtime_names,
    schedule_names,
    script_module_names,
    script_names,
    tensor_intrin_names,
    testing_plugin_names,
    tir_names,
    tvm_names,
)
from .ir_builder import ir as builder_ir
from .ir_builder import tir as builder_tir
from .testing import schedule

#: modules that scripts import as T, R, I: the parser knows them under these names
SCRIPT_MODULES = {
    "tvm.script.tir": "tvm.script.tir",
    "tvm.script.tirx": "tvm.script.tir",
    "tvm.script.relax": "tvm.script.relax",
    "tvm.script.ir": "tvm.script.ir",
}


#: below tvm.tir, and tvm.s_tir since 2026
_OF_TIR = {
    "schedule": schedule_names,
    "schedule.schedule": schedule_names,
    "schedule.trace": schedule_names,
    "schedule.testing": lambda: public_names(schedule),
    "stmt_functor": lambda: nodes.STMT_FUNCTOR,
    "analysis": lambda: analysis.NAMES,
    "transform": lambda: transform.TIR_NAMES,
    "function": lambda: {"PrimFunc": tir.PrimFunc},
    "tensor_intrin": dict,
    "tensor_intrin.x86": tensor_intrin_names("x86"),
    "tensor_intrin.arm_cpu": tensor_intrin_names("arm_cpu"),
    "tensor_intrin.cuda": tensor_intrin_names("cuda"),
}

MODULES = {
    "tvm": tvm_names,
    "tvm.ir": lambda: {
        **public_names(ir),
        "assert_structural_equal": ir.assert_structural_equal,
        "structural_equal": ir.structural_equal,
        "ObjectPath": access_path.ObjectPath,
    },
    "tvm.ir.module": lambda: {"IRModule": ir.IRModule},
    "tvm.ir.transform": lambda: {**public_names(tw_transform), **transform.IR_NAMES},
    "tvm.ir.instrument": lambda: instrument.NAMES,
    "tvm.instrument": lambda: instrument.NAMES,
    "tvm.transform": lambda: {**public_names(tw_transform), **transform.IR_NAMES},
    "tvm.target": lambda: {"Target": target.Target},
    "tvm.target.target": lambda: {"Target": target.Target},
    "tvm.nd": nd_names,
    "tvm.runtime": runtime_names,
    "tvm.runtime.ndarray": lambda: {"NDArray": runtime.Tensor, "array": array},
    "tvm.te": lambda: {**public_names(te), "__getattr__": te.__getattr__},
    "tvm.tir": tir_names,
    "tvm.topi": lambda: public_names(topi),
    "tvm.topi.nn": lambda: public_names(topi.nn),
    "tvm.s_tir": tir_names,
    **{f"tvm.{tir}.{name}": names for tir in ("tir", "s_tir") for name, names in _OF_TIR.items()},
    "tvm.tirx": tir_names,
    "tvm.arith": lambda: arith.NAMES,
    "tvm.error": lambda: errors.NAMES,
    "tvm.driver": lambda: {"build": build_as_written, "compile": compile_as_written},
    "tvm.contrib": dict,
    "tvm.contrib.utils": lambda: {"tempdir": utils.tempdir, "TempDirectory": utils.TempDirectory},
    "tvm.contrib.cc": lambda: cc.CC_NAMES,
    "tvm.contrib.clang": lambda: cc.CLANG_NAMES,
    "tvm.contrib.nvcc": lambda: nvcc.NAMES,
    "tvm.contrib.popen_pool": lambda: popen_pool.NAMES,
    "tvm.relax": relax_names,
    "tvm.relax.analysis": graphs.analysis_names,
    "tvm.relax.dpl": graphs.pattern_names,
    "tvm.relax.dpl.pattern": graphs.pattern_names,
    "tvm.relax.dpl.rewrite": graphs.pattern_names,
    "tvm.relax.dpl.context": graphs.pattern_names,
    "tvm.relax.expr_functor": lambda: graphs.EXPR_FUNCTOR,
    "tvm.relax.op": lambda: {**public_names(relax.op), **training.OP_NAMES},
    "tvm.relax.op.grad": lambda: vars(relax.op.grad),
    "tvm.relax.op.builtin": lambda: vars(relax.op.builtin),
    "tvm.relax.op.memory": lambda: vars(relax.op.memory),
    "tvm.relax.op.vm": lambda: vars(relax.op.vm),
    "tvm.relax.transform": lambda: {
        **public_names(relax.transform),
        **relax_transform.NAMES,
        **training.TRANSFORM_NAMES,
    },
    "tvm.relax.training": lambda: public_names(relax.training),
    "tvm.relax.training.loss": lambda: public_names(relax.training.loss),
    "tvm.relax.training.optimizer": lambda: public_names(relax.training.optimizer),
    "tvm.relax.training.setup_trainer": lambda: {"SetupTrainer": relax.training.SetupTrainer},
    "tvm.relax.training.trainer": lambda: {"Trainer": relax.training.Trainer},
    "tvm.relax.training.utils": lambda: training.UTILS_NAMES,
    "tvm.relax.base_py_module": lambda: {"BasePyModule": relax.BasePyModule},
    "tvm.relax.frontend": lambda: {"detach_params": relax.frontend.detach_params},
    **{
        f"tvm.relax.frontend.nn{module}": frontend_names(module)
        for module in ("", ".core", ".modules", ".op", ".spec", ".subroutine", ".visitor")
    },
    "tvm.relax.testing": dict,
    "tvm.relax.testing.nn": lambda: public_names(relax.testing.nn),
    "tvm.relax.testing.vm": lambda: public_names(relax.testing.vm),
    "tvm.relax.testing.matmul": lambda: public_names(relax.testing.matmul),
    "tvm.relax.vm": relax_vm_names,
    "tvm.script": script_names,
    "tvm.script.tir": lambda: script_module_names(script.tir),
    "tvm.script.tirx": lambda: script_module_names(script.tir),
    "tvm.script.relax": lambda: script_module_names(script.relax),
    "tvm.script.ir": lambda: script_module_names(script.ir),
    "tvm.script.parser": lambda: {"parse": script.parse, "from_source": script.parse},
    "tvm.script.ir_builder": lambda: {"IRBuilder": builder.IRBuilder},
    "tvm.script.ir_builder.base": lambda: {"IRBuilder": builder.IRBuilder},
    "tvm.script.ir_builder.ir": lambda: builder_ir.NAMES,
    "tvm.script.ir_builder.tir": lambda: builder_tir.NAMES,
    "tvm.script.highlight": lambda: {"cprint": printing.cprint},
    "tvm.testing": lambda: testing.NAMES,
    "tvm.testing.utils": lambda: testing.NAMES,
    "tvm.testing.plugin": testing_plugin_names,
    "tvm.runtime.access_path": access_path_names,
    "tvm_ffi": ffi_names,
    "tvm_ffi.access_path": access_path_names,
}
