"""ms.MeasureCandidate, and bases of classes that are written in Python."""

import numpy as np

from tilewright import schedule

from .running import RunnerResult, arguments_of_func


class MeasureCandidate:
    """A schedule to measure, with what its parameters are."""

    def __init__(self, sch, args_info=None):
        self.sch, self.native = sch, None
        self.args_info = list(args_info) if args_info is not None else None


def candidate_of(each) -> MeasureCandidate:
    """A schedule, or a candidate of the search, as MeasureCandidate."""
    sch = each if isinstance(each, schedule.Schedule) else schedule.Schedule._of(each.sch)
    (func,) = [func for _, func in sch.mod.functions_items()]
    made = MeasureCandidate(sch, arguments_of_func(func))
    made.native = None if each is sch else each
    return made


def result_of(seconds: float) -> RunnerResult:
    """A time as RunnerResult; infinity: it failed."""
    return RunnerResult([seconds], None) if np.isfinite(seconds) else RunnerResult(None, "it failed")


class Created(type):
    """SearchStrategy, CostModel and TaskScheduler: create(kind) makes what isinstance then knows."""

    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, cls.native) if "native" in vars(cls) else super().__instancecheck__(value)
