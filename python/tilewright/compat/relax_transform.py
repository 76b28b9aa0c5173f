"""tvm.relax.transform: passes over graphs under TVM's names, with TVM's arguments."""

import inspect

from tilewright import _core, relax, tir
from tilewright.errors import UserError
from tilewright.relax import transform
from tilewright.transform import Sequential

from .backend_patterns import FusionPattern
from .keywords import spelled
from .members import public_names
from .meta_schedule import PASSES
from .training import TRANSFORM_NAMES
from .transform import ModulePass, dataflowblock_pass, function_pass


def EliminateCommonSubexpr(call_only: bool = False):
    """Computes equal values once."""
    return transform.eliminate_common_subexpr(call_only=call_only)


def CanonicalizeBindings():
    """Replaces variables that are other names of a value by the first one."""
    return transform.canonicalize_bindings()


def BindSymbolicVars(binding_map: dict, func_name: str | None = None):
    """Replaces dimensions, given by name or variable, by numbers."""
    extents = {
        getattr(key, "name_hint", getattr(key, "name", key)): int(value) for key, value in binding_map.items()
    }
    return transform.bind_symbolic_vars(binding_map=extents, func_name=func_name or "")


def ToNonDataflow():
    """Makes dataflow blocks plain blocks."""
    return transform.to_non_dataflow()


def ConvertToDataflow(min_size: int = 2):
    """Puts bindings without side effects into dataflow blocks; `min_size` has no effect."""
    return transform.to_dataflow()


def DeadCodeElimination(entry_functions=None):
    """Removes bindings and functions that nothing uses."""
    return transform.dead_code_elimination(entry_functions=list(entry_functions or []))


def DecomposeOpsForInference(func_name: str | None = None):
    """Replaces composite operators by simple ones; batch norms use the statistics that they are given."""
    return transform.decompose_ops(func_name=func_name or "")


def DecomposeOpsForTraining(func_name: str | None = None):
    """Replaces composite operators by simple ones; batch norms use the statistics of their data."""
    return transform.decompose_ops(training=True, func_name=func_name or "")


def CombineParallelMatmul(check=None):
    """Makes one matmul of those that multiply one value by several weights."""
    if check is not None:
        raise UserError(
            "CombineParallelMatmul: check cannot be asked\nhelp: combine_parallel_matmul(min_branches=3) says how many are enough"
        )
    return transform.combine_parallel_matmul()


def FuseTransposeMatmul():
    """Lets matmuls read operands before they are transposed."""
    return transform.fuse_transpose_matmul()


def FuseOps(fuse_opt_level: int = -1):
    """Groups cheap operators with the operator before them into one function; at level 0 there are no groups."""
    return transform.fuse_ops(**({"max_size": 1} if fuse_opt_level == 0 else {}))


def FuseTIR():
    """Makes a loop program of each function of FuseOps, and removes the programs that it replaces."""
    return Sequential([transform.fuse_tir(), transform.dead_code_elimination()])


def TopologicalSort(order: str = "depth-first", direction: str = "from-inputs"):
    """Sorts the bindings of dataflow blocks, depth first or breadth first, from inputs or from outputs."""
    return transform.topological_sort(order=order, direction=direction)


def UpdateVDevice(new_vdevice, index: int):
    """Replaces device `index` of I.module_global_infos, and with it that of all tensors there."""
    info = new_vdevice.info() if hasattr(new_vdevice, "info") else new_vdevice
    return transform.update_vdevice(new_vdevice=info, index=index)


def AlterOpImpl(
    op_impl_map: dict,
    op_buffer_transforms: dict,
    op_buffer_axis_separators=None,
    op_buffer_input_axis_separators=None,
):
    """Replaces loop programs by operator_name; index maps may be functions."""
    if any((op_buffer_axis_separators or {}).values()) or any(
        (op_buffer_input_axis_separators or {}).values()
    ):
        raise UserError(
            "AlterOpImpl: axis separators cannot be given\nhelp: sch.set_axis_separator sets them"
        )
    maps = {
        name: [tir.index_map(each) if inspect.isfunction(each) else each for each in given]
        for name, given in op_buffer_transforms.items()
        if given
    }
    return transform.alter_op_impl(op_impl_map=op_impl_map, op_buffer_transforms=maps)


def CallTIRRewrite():
    """Allocates outputs, which calls of loop programs then take as arguments."""
    return transform.call_tir_rewrite()


def VMBuiltinLower():
    """Makes allocations of storages and tensors, and their release, calls of the virtual machine."""
    return transform.lower_runtime_builtin()


class _WithLegalizations(relax.PyExprMutator):
    def __init__(self, mod, makers: dict):
        super().__init__(mod)
        self.makers = makers

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        maker = self.makers.get(getattr(call.op, "name", None))
        return call if maker is None else maker(self.builder_, self.builder_.normalize(call))


class _Legalize:
    """Legalises operators of the map by its functions (builder, call) -> expression, then all others but `skip`."""

    def __init__(self, makers: dict, skip: list):
        self.makers, self.skip = makers, skip

    def __call__(self, mod):
        for var, func in mod.functions.items():
            if self.makers and isinstance(func, relax.Function):
                mutator = _WithLegalizations(mod, self.makers)
                changed = mutator.visit_expr(func)
                if not changed.same_as(func):
                    mutator.builder_.update_func(var, changed)
                    mod = mutator.builder_.get()
        return transform.legalize_ops(keep=self.skip)(mod)


def LegalizeOps(customize_legalize_map: dict | None = None, skip_ops=None, enable_warning: bool = False):
    """Replaces operators by calls of loop programs; {operator: function(builder, call)} makes those of some."""
    names = [getattr(name, "name", name) for name in skip_ops or []]
    return _Legalize(dict(customize_legalize_map or {}), names)


def ConvertLayout(desired_layouts: dict, layout_cb=None):
    """Puts the channels of images last where {operator: [layout of images, of weights]} asks for NHWC.

    Raises UserError for other operators and layouts: convert_layout knows NHWC with HWIO or OHWI.
    """
    wanted = {name: list(layouts) for name, layouts in desired_layouts.items()}
    if layout_cb is not None or list(wanted) != ["relax.nn.conv2d"] or wanted["relax.nn.conv2d"][0] != "NHWC":
        raise UserError(
            'ConvertLayout: only {"relax.nn.conv2d": ["NHWC", "OHWI" or "HWIO"]} is served, for all convolutions'
        )
    convert = transform.convert_layout(always=True, kernel_layout=(wanted["relax.nn.conv2d"] + ["OHWI"])[1])
    return Sequential([convert, transform.remove_identities(), _WithoutDeadBindings()])


class _WithoutDeadBindings:
    def __call__(self, mod):
        for var, func in mod.functions.items():
            if isinstance(func, relax.Function):
                mod = mod.clone()
                mod[var] = relax.analysis.remove_all_unused(func)
        return mod


class _OtherParameters(relax.PyExprMutator):
    """Gives parameters the types that `changed` says, a function from a variable to a type or None."""

    def __init__(self, mod, changed):
        super().__init__(mod)
        self.changed = changed

    def visit_function_(self, func):
        types = [self.changed(param) for param in func.params]
        params = [
            param if type is None else self.with_type(param, type)
            for param, type in zip(func.params, types, strict=True)
        ]
        for old, new in zip(func.params, params, strict=True):
            self.set_var_remap(old, new)
        body = self.visit_with_new_scope(func.body, params)
        return _core.relax_with_body(func.replace(params=params, ret_type=None), params, body)


def UpdateParamStructInfo(sinfo_func):
    """Gives parameters the types that a function of the variable returns (None: the old one), and infers all others."""

    def run(func, mod, ctx):
        return _OtherParameters(mod, sinfo_func).visit_expr(func)

    return function_pass(run, opt_level=0, name="UpdateParamStructInfo")


class _Unchecked(relax.PyExprMutator):
    """Replaces call_pure_packed by a call of its function."""

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if getattr(call.op, "name", "") != "relax.call_pure_packed":
            return call
        return relax.Call(
            op=call.args[0], args=list(call.args[1:]), attrs=call.attrs, type_args=call.type_args
        )


def RemovePurityChecking():
    """Sets the attribute relax.force_pure of pure functions, which may then call functions that are not pure."""

    def run(func, mod, ctx):
        if not func.is_pure or func.attrs.get("relax.force_pure"):
            return func
        return _Unchecked(mod).visit_expr(func).with_attr("relax.force_pure", True)

    return function_pass(run, opt_level=0, name="RemovePurityChecking")


NAMES = {
    made.__name__: made
    for made in (
        EliminateCommonSubexpr,
        CanonicalizeBindings,
        BindSymbolicVars,
        ToNonDataflow,
        ConvertToDataflow,
        DeadCodeElimination,
        DecomposeOpsForInference,
        DecomposeOpsForTraining,
        CombineParallelMatmul,
        ConvertLayout,
        FuseTransposeMatmul,
        FuseOps,
        FuseTIR,
        TopologicalSort,
        UpdateVDevice,
        AlterOpImpl,
        CallTIRRewrite,
        VMBuiltinLower,
        LegalizeOps,
        RemovePurityChecking,
        UpdateParamStructInfo,
    )
} | {
    "function_pass": function_pass,
    "dataflowblock_pass": dataflowblock_pass,
    "AnnotateTIROpPattern": transform.annotate_tir_op_pattern,
    "RealizeVDevice": transform.realize_vdevice,
    "RemoveRedundantReshape": transform.remove_identities,
    "FunctionPass": ModulePass,
    "FoldBatchnormToConv2D": transform.fold_batch_norm,
    "UpdateParamType": spelled(UpdateParamStructInfo, ty_func="sinfo_func"),
    "FusionPattern": FusionPattern,
    "DataflowBlockPass": ModulePass,
}


def names() -> dict:
    """tvm.relax.transform."""
    return {**public_names(transform), **NAMES, **TRANSFORM_NAMES, **PASSES}
