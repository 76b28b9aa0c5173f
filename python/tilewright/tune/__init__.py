"""Tuning: searches for schedules that are faster than those of the rules, and records every trial."""

from .._guard import guard_module
from ..records import Database, OrderedUnionDatabase, Record, RecordFile, Task, UnionDatabase, tasks_of
from .measure import MeasureOptions
from .model import AnalyticModel, BoostedModel, RandomModel, default_model, program_features, xgboost_library
from .space import DefaultSpace, ScheduleFn, SpaceGenerator
from .task_tuner import TaskResult
from .tuner import compare, tune, tune_model, tune_tasks

__all__ = [
    "AnalyticModel",
    "BoostedModel",
    "Database",
    "DefaultSpace",
    "MeasureOptions",
    "OrderedUnionDatabase",
    "RandomModel",
    "Record",
    "RecordFile",
    "ScheduleFn",
    "SpaceGenerator",
    "Task",
    "TaskResult",
    "UnionDatabase",
    "compare",
    "default_model",
    "program_features",
    "tasks_of",
    "tune",
    "tune_model",
    "tune_tasks",
    "xgboost_library",
]
guard_module(__name__, globals(), __all__)
