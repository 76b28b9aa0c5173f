"""Tests of schedules: before, steps, after."""

from ..errors import ArgumentError, UserError
from ..ir import BaseFunc, assert_structural_equal
from ..ir.module import IRModule
from ..schedule import Schedule, Trace
from ..script import parse


def check_schedule(before, steps, after=None, samples: int = 3, seed: int = 0) -> Schedule:
    """The schedule of `before` after `steps`, once all of this holds: it is the program `after`; it computes the same numbers;
    its trace, saved and loaded, makes the same program again.

    before   a module or a function, or the text of one
    steps    a function that is called with the schedule
    after    as before; names of functions do not count where both are functions; default: any program
    samples  how many sets of random arguments both programs are interpreted with, >= 1; default 3
    seed     of the schedule and of the arguments; default 0
    Raises   StructuralMismatch if the program is another one than `after`, or the trace makes another one; UserError of a step
             that is refused, and at the first number that differs
    >>> sch = tilewright.testing.check_schedule(mm, lambda sch: sch.parallel(sch.get_loops("C")[0]))
    """
    before = _program(before)
    sch = Schedule(before, seed=seed)
    steps(sch)
    if after is not None:
        assert_structural_equal(sch.mod, _as_module(_program(after), before))
    sch.verify(samples=samples, seed=seed)
    replayed = Schedule(before, seed=seed)
    Trace.load_json(sch.trace.save_json()).apply_to_schedule(replayed)
    assert_structural_equal(replayed.mod, sch.mod)
    return sch


def check_refused(before, steps, message: str) -> None:
    """Nothing if `steps` are refused with a UserError whose text is `message`.

    before   a module or a function, or the text of one
    steps    a function that is called with the schedule
    message  the whole text, or its first line
    Raises   AssertionError with both texts if the text is another one, or nothing is refused
    >>> tilewright.testing.check_refused(mm, lambda sch: sch.get_block("D"), 'error: get_block: the module has no block "D"')
    """
    sch = Schedule(_program(before))
    try:
        steps(sch)
    except UserError as error:
        found = str(error).strip()
        wanted = message.strip()
        if found != wanted and found.partition("\n")[0] != wanted:
            raise AssertionError(
                f"refused with another text\n--- found\n{found}\n--- expected\n{wanted}"
            ) from None
        return
    raise AssertionError(f"nothing was refused\n--- expected\n{message.strip()}")


def _program(given):
    """The module or function itself, or that of a text."""
    program = parse(given) if isinstance(given, str) else given
    if not isinstance(program, IRModule | BaseFunc):
        raise ArgumentError(
            f"a Python {type(program).__name__} is no program\nhelp: give a module, a function or a text"
        )
    return program


def _as_module(after, before) -> IRModule:
    """`after` as a module that can be compared with the one that a schedule makes of `before`."""
    if isinstance(after, IRModule):
        return after
    if isinstance(before, IRModule):
        if len(before) != 1:
            raise ArgumentError(
                "check_schedule: after is a function, and before a module of several\nhelp: give a module"
            )
        (name,) = (var.name_hint for var in before)
        return IRModule(
            {name: after.with_attr("global_symbol", before[name].attrs.get("global_symbol"))}, before.attrs
        )
    return IRModule.from_expr(after.with_attr("global_symbol", before.attrs.get("global_symbol")))
