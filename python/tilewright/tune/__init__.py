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
from .callbacks import MeasureCallback
from .measure import Builder, MeasureOptions, Runner
from .model import (
    AnalyticModel,
    BoostedModel,
    GpuModel,
    RandomModel,
    default_model,
    program_features,
    xgboost_library,
)
from .mutator import MutateSamples, Mutator, undecided
from .page import report
from .postproc import (
    DisallowDynamicLoop,
    Postproc,
    RewriteParallelVectorizeUnroll,
    RewriteReductionBlock,
    RewriteTensorize,
)
from .profiler import Profiler
from .scheduler import Gradient, RoundRobin, TaskScheduler
from .space import DefaultSpace, ScheduleFn, ScheduleRule, SpaceGenerator, SpaceUnion
from .statistics import speed_interval
from .strategy import Evolutionary, ReplayFunction, ReplayTrace, SearchContext, SearchStrategy
from .task_tuner import TaskResult
from .tuner import compare, tune, tune_model, tune_tasks

__all__ = [
    "AnalyticModel",
    "BoostedModel",
    "Builder",
    "Database",
    "DefaultSpace",
    "DisallowDynamicLoop",
    "Evolutionary",
    "GpuModel",
    "Gradient",
    "MeasureCallback",
    "MeasureOptions",
    "MutateSamples",
    "Mutator",
    "OrderedUnionDatabase",
    "Postproc",
    "Profiler",
    "RandomModel",
    "Record",
    "RecordFile",
    "ReplayFunction",
    "ReplayTrace",
    "RewriteParallelVectorizeUnroll",
    "RewriteReductionBlock",
    "RewriteTensorize",
    "RoundRobin",
    "Runner",
    "ScheduleFn",
    "ScheduleRule",
    "SearchContext",
    "SearchStrategy",
    "SpaceGenerator",
    "SpaceUnion",
    "Task",
    "TaskResult",
    "TaskScheduler",
    "UnionDatabase",
    "compare",
    "default_model",
    "difference",
    "program_features",
    "records_in",
    "report",
    "speed_interval",
    "tasks_of",
    "tune",
    "tune_model",
    "tune_tasks",
    "undecided",
    "xgboost_library",
]
guard_module(__name__, globals(), __all__)
