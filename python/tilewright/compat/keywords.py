"""Arguments under the names that TVM gives them, beside ours: of methods, constructors and functions."""

import functools
import inspect

from tilewright import ir, relax, runtime
from tilewright.ir._nodes import classes
from tilewright.relax.frontend import nn
from tilewright.relax.pattern import nodes as patterns


def spelled(function, **ours):
    """`function` that takes its arguments by other names as well: spelled(is_op, op_name="name")."""

    @functools.wraps(function)
    def call(*args, **named):
        for name in ours.keys() & named.keys():
            if ours[name] in named:
                raise TypeError(f"{function.__name__}() got values for both {name!r} and {ours[name]!r}")
            named[ours[name]] = named.pop(name)
        return function(*args, **named)

    call.__spellings__ = {**getattr(function, "__spellings__", {}), **ours}
    return call


def without(function, *names: str):
    """`function` that takes, and leaves out, arguments that change nothing here."""

    @functools.wraps(function)
    def call(*args, **named):
        return function(*args, **{name: value for name, value in named.items() if name not in names})

    call.__spellings__ = {**getattr(function, "__spellings__", {}), **dict.fromkeys(names)}
    return call


_TYPE = {"ty": "type", "struct_info": "type", "sinfo": "type"}
#: (class, method): {TVM's name: ours}
_METHODS = {
    (relax.BlockBuilder, "add_func"): {"func_name": "name_hint"},
    (relax.BlockBuilder, "emit_output"): {"output": "expr"},
    (relax.BlockBuilder, "emit_match_cast"): _TYPE,
    (relax.BlockBuilder, "match_cast"): _TYPE,
    (relax.BlockBuilder, "update_func"): {"gv": "var", "updated_func": "func"},
    (relax.PyExprMutator, "set_var_remap"): {"old_var": "var", "vid": "var", "new_var": "new"},
    (relax.PyExprMutator, "with_type"): _TYPE,
    (relax.BasePyModule, "call_tir"): {"out_ty": "out_sinfo"},
    (relax.BasePyModule, "call_dps_packed"): {"out_ty": "out_sinfo"},
    (relax.Executable, "export_library"): {"file_name": "path"},
    (relax.training.Trainer, "update"): {"input_instances": "inputs"},
    (relax.training.optimizer.SGD, "__init__"): {"lr": "learning_rate"},
    (relax.training.optimizer.MomentumSGD, "__init__"): {"lr": "learning_rate"},
    (relax.training.optimizer.Adam, "__init__"): {"lr": "learning_rate"},
    (patterns.Pattern, "has_type"): _TYPE,
    (patterns.AttrPattern, "__init__"): {"pattern": "inner"},
    (patterns.CallPattern, "__init__"): {"varg_default_wildcard": "has_more"},
    (patterns.DataTypePattern, "__init__"): {"pattern": "inner"},
    (patterns.KindPattern, "__init__"): {"name_hint": "name", "global_symbol": "name"},
    (patterns.NotPattern, "__init__"): {"to_reject": "inner"},
    (patterns.PrimArrPattern, "__init__"): {"shape": "extents"},
    (patterns.ShapePattern, "__init__"): {"pattern": "inner"},
    (patterns.TupleGetItemPattern, "__init__"): {"tuple_value": "source"},
    (patterns.TypePattern, "__init__"): {"pattern": "inner", **_TYPE},
    (relax.pattern.PatternMatchingRewriter, "from_module"): {"mod": "module"},
    (relax.pattern.PatternContext, "match_dfb"): {"dfb": "block"},
    (nn.Tensor, "from_struct_info"): {"ty": "struct_info"},
    (nn.ParameterList, "append"): {"param": "object"},
    (nn.ParameterList, "extend"): {"params": "iterable"},
    (ir.IRModule, "get_attr"): {"attr_key": "key"},
    (ir.IRModule, "update_func"): {"var": "name"},
    (ir.IRModule, "with_attr"): {"attr_key": "key", "attr_value": "value"},
    (ir.IRModule, "with_attrs"): {"attr_map": "attrs"},
    (ir.IRModule, "without_attr"): {"attr_key": "key"},
    (classes["BaseFunc"], "with_attr"): {"attr_key_or_dict": "key", "attr_value": "value"},
    (classes["BaseFunc"], "without_attr"): {"attr_key": "key"},
}
#: (class, method): arguments of TVM that change nothing here
_IGNORED = {
    (runtime.vm.VirtualMachine, "time_evaluator"): (
        *("cooldown_interval_ms", "repeats_to_cooldown", "f_preproc"),
    ),
    (relax.Executable, "export_library"): ("fcompile", "addons", "workspace_dir"),
    (patterns.CallPattern, "__init__"): ("add_constraint",),
    (relax.pattern.PatternContext, "__init__"): ("incremental",),
}
#: functions by module and name: {TVM's name: ours}
_FUNCTIONS = {
    "tvm": {
        "cpu": {"dev_id": "index"},
        "cuda": {"dev_id": "index"},
        "gpu": {"dev_id": "index"},
        "opencl": {"dev_id": "index"},
        "metal": {"dev_id": "index"},
        "device": {"device_type": "name", "dev_type": "name", "dev_id": "index"},
        "register_global_func": {"func_name": "name_or_func", "f": "func"},
        "register_func": {"func_name": "name_or_func", "f": "func"},
        "get_global_func": {"func_name": "name"},
    },
    "tvm.relax.analysis": {
        "post_order_visit": {"fvisit": "visit"},
        "udchain": {"dfb": "func"},
        "check_well_formed": {"obj": "program", "check_ty": "check_struct_info"},
        "well_formed": {"obj": "program", "mod": "program", "check_ty": "check_struct_info"},
    },
    "tvm.relax.dpl": {
        "is_call_dps_packed": {"func_name": "name"},
        "is_call_packed": {"func_name": "name"},
        "is_call_tir": {"func_name": "name"},
        "is_op": {"op_name": "name"},
        "is_shape": {"shape": "extents"},
        "is_tuple": {"fields": "elements"},
        "is_tuple_get_item": {"tuple_value": "source"},
        "rewrite_bindings": {"ctx": "context"},
    },
    "tvm.relax.op.memory": {"alloc_tensor": {"runtime_device_ind": "runtime_device_index"}},
    "tvm.relax.op.vm": {
        "alloc_storage": {"shape": "size"},
        "alloc_tensor": {"runtime_device_ind": "runtime_device_index"},
    },
    "tvm.relax.frontend.nn.op": {
        "maximum": {"x1": "a", "x2": "b"},
        "minimum": {"x1": "a", "x2": "b"},
    },
}


def _from_expr(expr, functions: dict | None = None) -> ir.IRModule:
    """IRModule.from_expr, and further functions by their names or variables."""
    mod = _module_of(expr)
    for name, function in (functions or {}).items():
        mod[name] = function
    return mod


_module_of = ir.IRModule.from_expr


def add(modules: dict) -> None:
    """Gives methods, and functions of the modules {name: module}, the arguments that programs for TVM name."""
    for (owner, name), ours in _METHODS.items():
        changed = spelled(getattr(owner, name), **ours)
        is_static = isinstance(inspect.getattr_static(owner, name), staticmethod)
        setattr(owner, name, staticmethod(changed) if is_static else changed)
    nn.Tensor.from_ty = staticmethod(nn.Tensor.from_struct_info)
    ir.IRModule.from_expr = staticmethod(_from_expr)
    for (owner, name), names in _IGNORED.items():
        setattr(owner, name, without(getattr(owner, name), *names))
    changed = {}
    for path, functions in _FUNCTIONS.items():
        for name, ours in functions.items():
            function = modules[path].__dict__[name]
            changed[id(function)] = function, spelled(function, **ours)
    for module in modules.values():
        for name, value in list(module.__dict__.items()):
            if id(value) in changed and changed[id(value)][0] is value:
                module.__dict__[name] = changed[id(value)][1]
