"""tvm.meta_schedule, and tvm.s_tir.meta_schedule since 2026: tuning under TVM's names."""

from pathlib import Path

from tilewright import tune
from tilewright.errors import UserError

_SEED = 0


class ScheduleFn(tune.ScheduleFn):
    """The space of a function; rules, postprocessors and mutators of TVM have no effect on it."""

    def __init__(self, sch_fn, sch_rules=(), postprocs=(), mutator_probs=None):
        super().__init__(sch_fn)


class PostOrderApply(tune.DefaultSpace):
    """The default space."""

    def __init__(
        self,
        f_block_filter=None,
        sch_rules="from-target",
        postprocs="from-target",
        mutator_probs="from-target",
    ):
        super().__init__()


def _space(space):
    if isinstance(space, tune.SpaceGenerator):
        return space
    if callable(space):
        return ScheduleFn(space)
    if space == "post-order-apply":
        return tune.DefaultSpace()
    raise UserError(f'space is {space!r}, expected "post-order-apply", a function or a SpaceGenerator')


def _options(runner) -> tune.MeasureOptions:
    if runner == "local" or runner is None:
        return tune.MeasureOptions()
    if isinstance(runner, LocalRunner):
        return runner.options
    raise UserError(f'runner is a Python {type(runner).__name__}, expected "local" or a LocalRunner')


class EvaluatorConfig:
    """How often a candidate is measured."""

    def __init__(
        self, number: int = 3, repeat: int = 1, min_repeat_ms: int = 100, enable_cpu_cache_flush: bool = False
    ):
        self.number, self.repeat, self.min_repeat_ms = number, repeat, min_repeat_ms
        self.enable_cpu_cache_flush = enable_cpu_cache_flush


class LocalRunner:
    """Measures on this machine, in processes of their own."""

    def __init__(self, timeout_sec: float = 30, evaluator_config: EvaluatorConfig | None = None, **_ignored):
        config = evaluator_config or EvaluatorConfig()
        self.options = tune.MeasureOptions(
            min_repeat_ms=config.min_repeat_ms,
            rounds=max(1, config.repeat),
            timeout=timeout_sec,
            cache_flush_bytes=64 << 20 if config.enable_cpu_cache_flush else 0,
        )


def tune_tir(
    mod,
    target,
    work_dir,
    max_trials_global,
    *,
    max_trials_per_task=None,
    num_trials_per_iter=64,
    builder="local",
    runner="local",
    database="json",
    cost_model="xgb",
    measure_callbacks="default",
    task_scheduler="gradient",
    space="post-order-apply",
    strategy="evolutionary",
    num_tuning_cores="physical",
    seed=None,
    module_equality="structural",
    special_space=None,
    post_optimization=False,
    task_name="main",
):
    """Tunes each loop program of `mod` and returns the database; with a space given, that of this space alone.

    Records lie in the file tune.db in work_dir, whichever kind of database is named.
    """
    chosen = _space(space)
    if isinstance(database, tune.RecordFile):
        records = database
    else:
        folder = Path(work_dir)
        folder.mkdir(parents=True, exist_ok=True)
        records = tune.RecordFile(folder / "tune.db")
    tune.tune(
        mod,
        target,
        database=records,
        trials=max_trials_global,
        per_iteration=min(num_trials_per_iter, max_trials_global),
        space=chosen,
        seed=_SEED if seed is None else seed,
        options=_options(runner),
    )
    return records if isinstance(chosen, tune.DefaultSpace) else records.of_space(chosen.name)


def compile_tir(database, mod, target):
    """The Schedule of the fastest record; None if there is none."""
    return database.schedule_for(mod, target)


class JSONDatabase(tune.RecordFile):
    """Records in a file beside the path that is given for TVM's JSON of workloads."""

    def __init__(
        self,
        path_workload=None,
        path_tuning_record=None,
        *,
        work_dir=None,
        allow_missing=True,
        module_equality="structural",
    ):
        if work_dir is None and path_tuning_record is None:
            raise UserError("JSONDatabase: neither work_dir nor path_tuning_record is given")
        folder = Path(work_dir) if work_dir is not None else Path(path_tuning_record).parent
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder / "tune.db")


class MemoryDatabase(tune.RecordFile):
    """Records in memory."""

    def __init__(self, module_equality="structural"):
        super().__init__()


NAMES = {
    "tune_tir": tune_tir,
    "compile_tir": compile_tir,
    "Database": tune.Database,
    "JSONDatabase": JSONDatabase,
    "MemoryDatabase": MemoryDatabase,
    "ScheduleFn": ScheduleFn,
    "PostOrderApply": PostOrderApply,
    "SpaceGenerator": tune.SpaceGenerator,
}
_DATABASES = {
    "Database": tune.Database,
    "JSONDatabase": JSONDatabase,
    "MemoryDatabase": MemoryDatabase,
    "UnionDatabase": tune.UnionDatabase,
    "OrderedUnionDatabase": tune.OrderedUnionDatabase,
}
_SPACES = {"ScheduleFn": ScheduleFn, "PostOrderApply": PostOrderApply, "SpaceGenerator": tune.SpaceGenerator}
_RUNNERS = {"LocalRunner": LocalRunner, "EvaluatorConfig": EvaluatorConfig}
#: below tvm.meta_schedule
MODULES = {
    "": lambda: NAMES,
    ".database": lambda: _DATABASES,
    ".space_generator": lambda: _SPACES,
    ".tir_integration": lambda: {"tune_tir": tune_tir, "compile_tir": compile_tir},
    ".runner": lambda: _RUNNERS,
}
