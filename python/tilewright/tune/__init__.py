"""Tuning: searches for schedules that are faster than those of the rules, and records every trial."""

from .._guard import guard_module
from ..records import Database, OrderedUnionDatabase, Record, RecordFile, Task, UnionDatabase, tasks_of
from .measure import MeasureOptions
from .space import DefaultSpace, ScheduleFn, ScheduleRule, SpaceGenerator
from .task_tuner import TaskResult
from .tuner import compare, tune, tune_model, tune_tasks

__all__ = [
    "Database",
    "DefaultSpace",
    "MeasureOptions",
    "OrderedUnionDatabase",
    "Record",
    "RecordFile",
    "ScheduleFn",
    "ScheduleRule",
    "SpaceGenerator",
    "Task",
    "TaskResult",
    "UnionDatabase",
    "compare",
    "tasks_of",
    "tune",
    "tune_model",
    "tune_tasks",
]
guard_module(__name__, globals(), __all__)
