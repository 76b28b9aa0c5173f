"""tvm.meta_schedule, and tvm.s_tir.meta_schedule since 2026: tuning under TVM's names."""

from tilewright import tune

from . import (
    callbacks,
    candidates,
    database,
    json_files,
    logs,
    models,
    passes,
    running,
    schedulers,
    search,
    spaces,
    tuning,
)
from .rules import RULES, PostOrderApply, create_space

_SPACES = {
    "SpaceGenerator": spaces.PySpaceGenerator,
    "PySpaceGenerator": spaces.PySpaceGenerator,
    "ScheduleFn": spaces.ScheduleFn,
    "PostOrderApply": PostOrderApply,
    "SpaceGeneratorUnion": spaces.SpaceGeneratorUnion,
    "create": create_space,
}
_GRAPHS = {
    name: getattr(tuning, name)
    for name in (
        "ExtractedTask",
        "compile_relax",
        "extract_tasks",
        "extracted_tasks_to_tune_contexts",
        "tune_relax",
        "tune_tasks",
    )
}
_PROGRAMS = {"tune_tir": tuning.tune_tir, "compile_tir": tuning.compile_tir}
_PROFILER = {"Profiler": tune.Profiler}
NAMES = {
    **_PROGRAMS,
    **_GRAPHS,
    **_PROFILER,
    "TuneConfig": tuning.TuneConfig,
    "TuneContext": search.TuneContext,
    "MeasureCandidate": candidates.MeasureCandidate,
    "Builder": running.Builder,
    "Runner": running.Runner,
    "MeasureCallback": callbacks.MeasureCallback,
    "CostModel": models.CostModel,
    "FeatureExtractor": models.FeatureExtractor,
    "Mutator": spaces.Mutator,
    "Postproc": spaces.Postproc,
    "ScheduleRule": RULES["ScheduleRule"],
    "SearchStrategy": search.SearchStrategy,
    "TaskScheduler": schedulers.TaskScheduler,
    "ScheduleFn": spaces.ScheduleFn,
    "PostOrderApply": PostOrderApply,
    "SpaceGenerator": spaces.PySpaceGenerator,
    "derived_object": spaces.derived_object,
    **{name: made for name, made in database.NAMES.items() if name != "create"},
}
#: below tvm.meta_schedule
MODULES = {
    "": lambda: NAMES,
    ".database": lambda: database.NAMES,
    ".space_generator": lambda: _SPACES,
    ".schedule_rule": lambda: RULES,
    ".postproc": lambda: spaces.POSTPROCS,
    ".mutator": lambda: spaces.MUTATORS,
    ".cost_model": lambda: models.MODELS,
    ".feature_extractor": lambda: models.FEATURES,
    ".search_strategy": lambda: search.STRATEGIES,
    ".task_scheduler": lambda: schedulers.SCHEDULERS,
    ".builder": lambda: running.BUILDERS,
    ".runner": lambda: running.RUNNERS,
    ".measure_callback": lambda: callbacks.CALLBACKS,
    ".arg_info": lambda: running.ARGUMENTS,
    ".profiler": lambda: _PROFILER,
    ".tune": lambda: {
        "tune_tasks": tuning.tune_tasks,
        "TuneConfig": tuning.TuneConfig,
        "TuneContext": search.TuneContext,
    },
    ".tune_context": lambda: {"TuneContext": search.TuneContext},
    ".extracted_task": lambda: {"ExtractedTask": tuning.ExtractedTask},
    ".tir_integration": lambda: _PROGRAMS,
    ".relax_integration": lambda: _GRAPHS,
    ".logging": lambda: logs.LOGGING,
    ".utils": lambda: logs.UTILS,
}
PASSES = passes.NAMES
read_json = json_files.add_records
