"""tvm.lower and tvm.build: of loop programs as they are written, and of schedules by stages."""

import tilewright as tw
from tilewright import _core, arith, ir, tir
from tilewright.transform import PassContext

from . import te_schedule
from .target import target_or_current

# the steps of our lowering that tvm.lower had
_IN_LOWER = {
    "lower_match_buffer",
    "lower_init",
    "place_allocations",
    "lower_blocks",
    "compact_buffers",
    "interleave_virtual_threads",
    "double_buffer",
    "partition_loops",
    "flatten_buffers",
    "share_storage",
    "unroll_loops",
    "vectorize_loops",
    "remove_no_op",
}


def lower(inp, args=None, name: str = "main", binds: dict | None = None, simple_mode: bool = False):
    """tvm.lower of loop programs: blocks become loops over flat buffers, step by step as before code is generated; of a
    schedule by stages in the form of its time."""
    of_stages = isinstance(inp, te_schedule.Schedule)
    if of_stages:
        inp = te_schedule.scheduled(inp, args, name, binds)
    mod = inp if isinstance(inp, ir.IRModule) else ir.IRModule({name: inp})
    mod = _with_added_passes(mod, 0, 0)
    lowered = _lowered_from_stages if of_stages else _lowered
    funcs = {
        var.name_hint: lowered(func) if isinstance(func, tir.PrimFunc) else func
        for var, func in mod.functions_items()
    }
    return _with_added_passes(ir.IRModule(funcs, mod.attrs, mod.global_infos), 1, 3)


def _with_added_passes(mod, first: int, last: int):
    """The module after the passes that PassContext(config={"tir.add_lower_pass": [(phase, pass), ...]}) adds in these phases: 0
    before blocks become loops, 1 to 3 behind."""
    added = _added_passes()
    for phase in range(first, last + 1):
        for each in (each for at, each in added if at == phase):
            mod = each(mod)
    return mod


def _added_passes() -> list:
    return getattr(PassContext.current(), "lower_passes", [])


def _lowered(func):
    return arith.simplify_program(_flattened(func))


def _flattened(func):
    for step, _ in _core.lowering_steps("llvm"):
        if step in _IN_LOWER:
            func = _core.lowering_step(step, func)
    return func


def _lowered_from_stages(func):
    return te_schedule.flat(te_schedule.guarded(_flattened(func)))


def build_as_written(
    mod, args_or_target=None, target=None, target_host=None, name: str | None = None, binds=None, **options
):
    """tvm.build: loop programs run as they are written, so that a lesson sees what its own steps gain.

    mod             a module, a function, or a schedule by stages
    args_or_target  of a schedule its arguments (also args=), else the target
    target          default the one around, else the machine at hand
    target_host     the target of the code that launches kernels
    name            of a function that is no part of a module, as until 2024
    binds           {tensor: buffer} of a schedule's arguments
    """
    if isinstance(mod, te_schedule.Schedule):
        args = options.pop("args", args_or_target)
        mod = te_schedule.scheduled(mod, args, name or "default_function", binds)
    elif target is None:
        target = args_or_target
    if target_host is not None:
        target = tw.Target(target, target_host)
    if _added_passes() and isinstance(mod, ir.IRModule | tir.PrimFunc):
        mod = lower(mod, name=name or "main")
    if name and isinstance(mod, tir.PrimFunc):
        mod = mod.with_attr("global_symbol", name)
    return tw.build(mod, target_or_current(target), schedule=False, **options)


def tir_build(mod, target=None, pipeline="default"):
    """tvm.tir.build: loop programs run as they are written."""
    return build_as_written(mod, target)
