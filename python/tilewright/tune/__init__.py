"""Tuning: searches for schedules that are faster than those of the rules, and records every trial."""

from .._guard import guard_module
from ..records import (
    Database,
    OrderedUnionDatabase,
    Record,
    RecordFile,
    Task,
    UnionDatabase,
    difference,
    records_in,
    tasks_of,
)
from .measure import MeasureOptions
from .page import report
from .space import DefaultSpace, ScheduleFn, SpaceGenerator
from .statistics import speed_interval
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
    "SpaceGenerator",
    "Task",
    "TaskResult",
    "UnionDatabase",
    "compare",
    "difference",
    "records_in",
    "report",
    "speed_interval",
    "tasks_of",
    "tune",
    "tune_model",
    "tune_tasks",
]
guard_module(__name__, globals(), __all__)
