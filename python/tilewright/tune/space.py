"""Spaces: which schedules of a kernel there are to choose from."""

import hashlib

from .. import _core
from ..errors import Unsupported, UserError
from ..schedule import Schedule, Trace


class SpaceGenerator:
    """Which schedules there are; a subclass needs designs(task).

    name  of the space, which its records carry
    """

    name = "custom"

    def designs(self, task) -> list:
        """Schedules of task.module, or their traces, whose samples are to be decided."""
        raise Unsupported(
            f"{type(self).__name__} has no method designs(task)\nhelp: define it, as tune.ScheduleFn does"
        )

    def plans(self, task) -> list:
        """Designs that the rules of the default schedule complete: what they decide is sampled."""
        return []


def _parts_of(code) -> list:
    """What a code object computes, without addresses, lines and names of files."""
    constants = [_parts_of(each) if hasattr(each, "co_code") else repr(each) for each in code.co_consts]
    return [code.co_code.hex(), code.co_names, code.co_varnames, constants]


def _digest(function) -> str:
    """8 digits that tell functions of one name apart, so that records of a function that was changed are not its records.

    Values that it takes from around, e.g. by closures, are no part of it.
    """
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return hashlib.sha256(repr(code and _parts_of(code)).encode()).hexdigest()[:8]


class ScheduleFn(SpaceGenerator):
    """The space of a function that schedules with sample_* steps.

    function  takes a Schedule; returns None, another Schedule, or a list of them
    >>> space = tilewright.tune.ScheduleFn(lambda sch: sch.split(i := sch.get_loops("C")[0], sch.sample_perfect_tile(i, n=2)))
    """

    def __init__(self, function):
        if not callable(function):
            raise UserError(f"ScheduleFn: a Python {type(function).__name__} cannot be called")
        self.function = function
        name = getattr(function, "__qualname__", type(function).__name__)
        self.name = f"function {name} {_digest(function)}"

    def designs(self, task) -> list[Schedule]:
        return self.sampled(task, 0)

    def sampled(self, task, seed: int) -> list[Schedule]:
        """What the function makes of the program, with samples drawn from `seed`."""
        sch = Schedule(task.module, seed=seed)
        result = self.function(sch)
        found = result if isinstance(result, list) else [sch if result is None else result]
        if not found or not all(isinstance(each, Schedule) for each in found):
            raise UserError(
                f"{self.name} returned {result!r}, expected None, a Schedule or a list of them\n"
                "help: a space function changes the schedule that it is given"
            )
        return found


class ScheduleRule:
    """A rule of DefaultSpace that is written in Python; a subclass needs apply(sch, block).

    name  of the rule, which explained() gives
    >>> class Columns(tilewright.tune.ScheduleRule):
    ...     name = "columns"
    ...     def apply(self, sch, block):
    ...         if len(loops := sch.get_loops(block)) != 3:
    ...             return "it has no three loops"
    ...         sch.split(loops[1], sch.sample_perfect_tile(loops[1], n=2))
    ...         return [sch]
    """

    name = "custom"

    def apply(self, sch: Schedule, block) -> list[Schedule] | str:
        """Schedules of which each has more steps than `sch`, which may be changed; or why there is none, in words.

        What a primitive raises is such a reason.
        """
        raise Unsupported(
            f"{type(self).__name__} has no method apply(sch, block)\nhelp: return a list of schedules, or a text that says why not"
        )


def _core_rule(rule):
    """What C++ takes for a rule: the name of one of its own, or (name, function)."""
    if isinstance(rule, str):
        return rule
    name = getattr(rule, "name", None)
    if not isinstance(name, str) or not callable(getattr(rule, "apply", None)):
        raise UserError(
            f"DefaultSpace: rule {rule!r} is no name of a rule, and no object with a name and a method apply\n"
            f"help: the rules are {', '.join(name for name, _ in _core.schedule_rules())}"
        )

    def apply(core, block):
        sch = Schedule._of(core).copy()
        try:
            found = rule.apply(sch, block)
        except (UserError, Unsupported) as error:
            return str(error).splitlines()[0].removeprefix("error: ")
        if isinstance(found, str):
            return found
        found = [found] if isinstance(found, Schedule) else found
        if not isinstance(found, list | tuple) or not all(isinstance(each, Schedule) for each in found):
            raise UserError(
                f"rule {name} returned {found!r}, expected a list of schedules, or a text that says why there is none"
            )
        return [each._core for each in found]

    return (name, apply)


def _name_of(rule) -> str:
    return rule if isinstance(rule, str) else str(getattr(rule, "name", rule))


class DefaultSpace(SpaceGenerator):
    """The default schedule, which is always the first candidate, and designs that rules make.

    rules     names of rules in tilewright/tune/rules, and objects with name and apply(sch, block) as ScheduleRule has them, in
              the order in which they run; default: all of the folder
    by_block  {name of a block: the only rule that it gets, whatever its attribute "schedule_rule" says}; default none
    allow_reassociation  rules that add floats in another order than the program take part; default False
    plans     what the rules of the default schedule decide is sampled, too; default: if `rules` is not given
    Raises    UserError for names that no rule has
    >>> tilewright.tune.DefaultSpace().designs(tilewright.tune.tasks_of(mm)[0])
    >>> tilewright.tune.DefaultSpace(rules=["auto_inline", "multi_level_tiling"])
    """

    name = "default"

    def __init__(
        self,
        rules: list | None = None,
        by_block: dict | None = None,
        *,
        allow_reassociation: bool = False,
        plans: bool | None = None,
    ):
        self._has_plans = rules is None if plans is None else plans
        names = [_name_of(rule) for rule in rules or ()]
        names += [f"{block}: {_name_of(rule)}" for block, rule in (by_block or {}).items()]
        if rules is not None or by_block:
            self.name = "default by " + (", ".join(names) or "no rule")
        self._allows_other_sums = allow_reassociation
        self._rules = None if rules is None else [_core_rule(each) for each in rules]
        self._by_block = {block: _core_rule(rule) for block, rule in (by_block or {}).items()}

    def designs(self, task) -> list[Trace]:
        return self.explained(task)[0]

    def explained(self, task) -> tuple[list[Trace], list[tuple[str, str, str]]]:
        """The designs, and (block, rule, reason) of every rule that was tried; the reason is empty where it was applied."""
        program = Schedule(task.module, error_render_level="fast")
        return _core.generic_designs(
            program._core,
            _core.record_function,
            task.target,
            self._rules,
            self._by_block,
            self._allows_other_sums,
        )

    def plans(self, task) -> list:
        if not self._has_plans:
            return []
        plan = _core.plan_design(Schedule(task.module)._core, _core.record_function, task.target)
        return [] if plan is None else [plan]


class SpaceUnion(SpaceGenerator):
    """The designs of several spaces as one space of a user's: the answer comes from it, also if the default schedule is faster.

    Raises UserError if there is none, or one is no space
    >>> space = tilewright.tune.SpaceUnion(tilewright.tune.DefaultSpace(), tilewright.tune.ScheduleFn(lambda sch: None))
    """

    def __init__(self, *spaces: SpaceGenerator):
        for each in spaces:
            if not isinstance(each, SpaceGenerator):
                raise UserError(f"SpaceUnion: a Python {type(each).__name__} is no SpaceGenerator")
        if not spaces:
            raise UserError("SpaceUnion: there is no space")
        self.spaces = list(spaces)
        self.name = "union of " + ", ".join(each.name for each in spaces)

    def designs(self, task) -> list:
        return [design for each in self.spaces for design in each.designs(task)]

    def plans(self, task) -> list:
        return [plan for each in self.spaces for plan in each.plans(task)]


def traces_of(designs: list) -> list[Trace]:
    """The traces of designs."""
    return [each.trace if isinstance(each, Schedule) else each for each in designs]


def has_samples(trace) -> bool:
    """True if the trace draws samples, so that it stands for several candidates."""
    return _core.trace_has_samples(trace)
