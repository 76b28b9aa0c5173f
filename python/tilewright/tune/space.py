"""Spaces: which schedules of a kernel there are to choose from."""

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


class ScheduleFn(SpaceGenerator):
    """The space of a function that schedules with sample_* steps.

    function  takes a Schedule; returns None, another Schedule, or a list of them
    >>> space = tilewright.tune.ScheduleFn(lambda sch: sch.split(i := sch.get_loops("C")[0], sch.sample_perfect_tile(i, n=2)))
    """

    def __init__(self, function):
        if not callable(function):
            raise UserError(f"ScheduleFn: a Python {type(function).__name__} cannot be called")
        self.function = function
        self.name = f"function {getattr(function, '__qualname__', type(function).__name__)}"

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


class DefaultSpace(SpaceGenerator):
    """The default schedule, which is always the first candidate, and designs of the rules in tilewright/tune/rules.

    >>> tilewright.tune.DefaultSpace().designs(tilewright.tune.tasks_of(mm)[0])
    """

    name = "default"
    #: the decisions of the default schedule's rules are sampled too
    has_plans = True

    def designs(self, task) -> list[Trace]:
        return self.explained(task)[0]

    def explained(self, task) -> tuple[list[Trace], list[tuple[str, str, str]]]:
        """The designs, and (block, rule, reason) of every rule that was tried; the reason is empty where it was applied."""
        program = Schedule(task.module, error_render_level="fast")
        return _core.generic_designs(program._core, _core.record_function, task.target)

    def plans(self, task) -> list:
        if not self.has_plans:
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
