"""Tuning: searches for schedules that are faster than those of the rules, and records every trial."""

from .._guard import guard_module
from ..records import Database, OrderedUnionDatabase, Record, RecordFile, Task, UnionDatabase, tasks_of
from .measure import MeasureOptions
from .space import DefaultSpace, ScheduleFn, SpaceGenerator
from .tuner import TaskResult, best_schedule, tune

__all__ = [
    "Database",
    "DefaultSpace",
    "MeasureOptions",
    "OrderedUnionDatabase",
    "Record",
    "RecordFile",
    "ScheduleFn",
    "SpaceGenerator",
    "Task",
    "TaskResult",
    "UnionDatabase",
    "best_schedule",
    "tasks_of",
    "tune",
]
guard_module(__name__, globals(), __all__)
