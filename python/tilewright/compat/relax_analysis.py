"""tvm.relax.analysis: ours, and questions about types under TVM's names."""

import enum

import tilewright as tw
from tilewright import _core, ir, relax, tir
from tilewright.ir._nodes import classes

_Function, _GlobalVar = classes["relax.Function"], classes["ir.GlobalVar"]


class BaseCheckResult(enum.Enum):
    """The answer whether a type is a subtype of another: never, after a check when it runs, or always."""

    FAIL_L0 = 0
    FAIL_L1 = 1
    FAIL_L2 = 2
    PASS = 3


def struct_info_base_check(base, derived) -> BaseCheckResult:
    """The answer whether values of type `derived` are of type `base`."""
    answer = _core.relax_is_subtype(derived, base)
    return (BaseCheckResult.FAIL_L0, BaseCheckResult.FAIL_L2, BaseCheckResult.PASS)[answer]


def struct_info_lca(lhs, rhs):
    """The smallest type that both belong to."""
    return _core.relax_common_type(lhs, rhs)


def is_base_of(self, derived) -> bool:
    """True if all values of type `derived` are of this type."""
    return _core.relax_is_subtype(derived, self) == 2


def has_reshape_pattern(func) -> bool:
    """True if a loop program gives the elements of its first buffer in their order, in another shape."""
    if len(func.buffers) != 2 or not all(func.buffers):
        return False
    types = [relax.TensorType(buffer.shape, str(buffer.dtype)) for buffer in func.buffers]
    builder, x = relax.BlockBuilder(), relax.Var("x", types[0])
    callee = builder.add_func(func, "reshape")
    with builder.function("main", [x]):
        with builder.dataflow():
            lv = builder.emit(relax.op.call_tir(callee, [x], types[1]))
            out = builder.emit_output(relax.op.abs(lv))
        builder.emit_func_output(out)
    main = relax.transform.rewrite_dataflow_reshape()(builder.get())["main"]
    return "call_tir" not in main.script()


def get_static_type(sinfo):
    """The type without what it says of extents."""
    return erase_to_well_defined(sinfo)


def erase_to_well_defined(sinfo, shape_var_map=None, var_map=None):
    """The type without extents that use variables outside of the maps, whose values stand for the others."""
    values = dict(shape_var_map or {})
    return _core.relax_erase_dims(tir.substitute(sinfo, values) if values else sinfo, list(values.values()))


def derive_call_ret_struct_info(func_sinfo, call, ctx=None):
    """The type of the result of a call of a function of type `func_sinfo`."""
    return _core.relax_infer_type(call)


def _unique(nodes) -> list:
    found: list = []
    for node in nodes:
        if not any(node.same_as(known) for known in found):
            found.append(node)
    return found


def tir_vars_in_struct_info(sinfo) -> list:
    """The dimensions that a type uses, each once."""
    found: list = []
    tir.post_order_visit(sinfo, lambda node: found.append(node) if isinstance(node, tir.Var) else None)
    return _unique(found)


def definable_tir_vars_in_struct_info(sinfo) -> list:
    """The dimensions that a parameter of a type defines: those that stand alone as extents."""
    return _unique(_core.relax_defined_dims(sinfo))


def _is_pure(call) -> bool:
    if isinstance(call.op, classes["ir.Op"]):
        return _core.relax_op_is_pure(call.op.name)
    return bool(getattr(call.op.type, "is_pure", False))


def contains_impure_call(expr, own_name=None) -> bool:
    """True if a graph calls something that has an effect; `own_name`, what calls itself, does not count."""
    impure: list = []

    class Calls(relax.PyExprVisitor):
        def visit_function_(self, func):
            if func is expr:  # functions inside are values
                super().visit_function_(func)

        def visit_call_(self, call):
            super().visit_call_(call)
            is_own = own_name is not None and getattr(call.op, "same_as", lambda _: False)(own_name)
            if not is_own and not _is_pure(call):
                impure.append(call)

    Calls().visit_expr(expr)
    return bool(impure)


def detect_recursion(mod) -> list:
    """The groups of graph functions that call each other in a circle, each in order of the module."""
    names = [var.name_hint for var, func in mod.functions.items() if isinstance(func, _Function)]
    calls = {name: {v.name_hint for v in relax.analysis.all_global_vars(mod[name])} for name in names}
    reached = {name: set(calls[name]) for name in names}
    for _ in names:
        for name in names:
            for other in list(reached[name]):
                reached[name] |= reached.get(other, set())
    groups: list = []
    for name in names:
        group = [other for other in names if other in reached[name] and name in reached.get(other, ())]
        if name in reached[name] and group not in groups:
            groups.append(group)
    return [[mod.get_global_var(name) for name in group] for group in groups]


def rec_global_vars(expr) -> list:
    """The functions of the module that `expr` names."""
    return relax.analysis.all_global_vars(expr)


def computable_at_compile_time(func) -> list:
    """The variables of a function that depend on parameters after `num_input` alone."""
    known = set(func.params[int(func.attrs.get("num_input", 0)) :])
    found: list = []
    for block in func.body.blocks:
        for binding in block.bindings:
            used = relax.analysis.free_vars(binding.value)
            if all(var in known for var in used) and not contains_impure_call(binding.value):
                known.add(binding.var)
                found.append(binding.var)
    return found


def collect_non_negative_expressions(sinfo) -> list:
    """The extents that the type speaks of and that are no numbers, each once: none of them is negative."""
    found: list = []

    def look(node):
        for part in getattr(node, "elements", None) or getattr(node, "params", None) or ():
            look(part)
        extents = node if isinstance(node, classes["relax.ShapeType"]) else getattr(node, "shape", None)
        for extent in getattr(extents, "values", None) or ():
            is_new = not any(ir.structural_equal(extent, known) for known in found)
            if not isinstance(extent, tir.IntImm) and is_new:
                found.append(extent)

    look(sinfo)
    return found


def estimate_memory_usage(mod) -> str:
    """The memory plan of each function as it would be compiled: tensors, peak, and the least that is possible."""
    plans = tw.compile(mod).plans
    return "\n".join(f"Function {name}:\n{plan}" for name, plan in plans.items())


NAMES = {
    made.__name__: made
    for made in (
        BaseCheckResult,
        collect_non_negative_expressions,
        computable_at_compile_time,
        contains_impure_call,
        definable_tir_vars_in_struct_info,
        derive_call_ret_struct_info,
        detect_recursion,
        erase_to_well_defined,
        estimate_memory_usage,
        get_static_type,
        has_reshape_pattern,
        rec_global_vars,
        struct_info_base_check,
        struct_info_lca,
        tir_vars_in_struct_info,
    )
}


#: since 2026 what was called struct_info is called type
_OF_2026 = {
    "definable_tir_vars_in_type": definable_tir_vars_in_struct_info,
    "derive_call_ret_type": derive_call_ret_struct_info,
    "tir_vars_in_type": tir_vars_in_struct_info,
    "type_base_check": struct_info_base_check,
    "type_lca": struct_info_lca,
    "check_well_formed": relax.analysis.well_formed,
    "used_vars": relax.analysis.all_vars,
}


def names() -> dict:
    """tvm.relax.analysis."""
    from .keywords import spelled

    ours = {name: getattr(relax.analysis, name) for name in relax.analysis.__all__}
    theirs = {
        name: spelled(function, ty="sinfo", func_ty="func_sinfo") if callable(function) else function
        for name, function in {**NAMES, **_OF_2026}.items()
        if not isinstance(function, type)
    }
    return {**ours, **NAMES, **theirs}
