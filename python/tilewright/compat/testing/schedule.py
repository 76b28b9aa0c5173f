"""tvm.tir.schedule.testing: traces that replay, programs that are equal but for their names."""

import tilewright as tw
from tilewright import ir
from tilewright.ir._nodes import classes

from ..schedules import make_schedule


def assert_structural_equal_ignore_global_symbol(s1, s2, map_free_vars: bool = False) -> None:
    """assert_structural_equal of functions or modules, whatever their global_symbol attributes say."""
    ir.assert_structural_equal(_nameless(s1), _nameless(s2), map_free_vars)


def _nameless(program):
    if isinstance(program, classes["BaseFunc"]):
        return program.without_attr("global_symbol")
    if not isinstance(program, tw.IRModule):
        return program
    return tw.IRModule(
        {var.name_hint: _nameless(func) for var, func in program.functions.items()}, program.attrs
    )


def verify_trace_roundtrip(sch, mod, *, debug_mask="all", text_format=("python", "json")):
    """A schedule of `mod` on which the trace of `sch` has been replayed, once per format; the last one.

    text_format  "json": the trace saved and loaded; "python": its text is run
    Raises       AssertionError where a replayed program differs
    """
    formats = [text_format] if isinstance(text_format, str) else list(text_format)
    replayed = sch
    for name in formats:
        replayed = make_schedule(mod, debug_mask=debug_mask)
        if name == "json":
            loaded = type(sch.trace).load_json(sch.trace.save_json())
            loaded.apply_to_schedule(replayed)
        else:
            exec(sch.trace.text(), {"tilewright": tw, "tir": tw.tir}, {"sch": replayed})
        ir.assert_structural_equal(replayed.mod, sch.mod)
    return replayed
