"""ms.tune_tir, tune_relax and their relatives: tuning with TVM's arguments."""

from pathlib import Path

from tilewright import relax, tir, tune
from tilewright.build import build_graph
from tilewright.build import compile as compile_any
from tilewright.errors import UserError
from tilewright.ir.module import IRModule
from tilewright.target import Target

from . import database as databases
from .callbacks import native_callbacks
from .models import create_model
from .rules import create_space
from .running import native_builder, native_runner
from .schedulers import Tunes, create_scheduler
from .search import TuneContext, create_strategy, limited
from .spaces import require_default


class TuneConfig:
    """Options of tuning, as in 2022: tune_tir(mod, target, config, work_dir) then returns the Schedule."""

    def __init__(
        self,
        max_trials_global: int = 64,
        num_trials_per_iter: int = 64,
        *,
        max_trials_per_task: int | None = None,
        strategy="evolutionary",
        task_scheduler="gradient",
        adaptive_training=None,
    ):
        require_default("TuneConfig", adaptive_training=(adaptive_training, None))
        self.max_trials_global, self.max_trials_per_task = max_trials_global, max_trials_per_task
        self.num_trials_per_iter, self.strategy = num_trials_per_iter, strategy
        self.task_scheduler = task_scheduler


def _database(database, work_dir, module_equality: str):
    """(where records go, the database that the user gave or None)."""
    if isinstance(database, tune.RecordFile):
        return database, None
    if isinstance(database, tune.Database):
        return databases.MemoryDatabase(), database
    if database == "memory":
        return databases.MemoryDatabase(module_equality), None
    if database != "json":
        raise UserError(f'database is {database!r}, expected "json", "memory" or a Database')
    return databases.JSONDatabase(work_dir=work_dir, module_equality=module_equality), None


def _commit(records: tune.RecordFile, database) -> None:
    """Adds what was measured to a database that the user wrote."""
    for each in records.get_all_tuning_records():
        database.commit_workload(each.workload.mod)
        database.commit_tuning_record(each)


def _tune(
    tasks: list,
    *,
    work_dir,
    max_trials_global: int,
    max_trials_per_task: int | None = None,
    num_trials_per_iter: int = 64,
    builder="local",
    runner="local",
    database="json",
    cost_model="xgb",
    measure_callbacks="default",
    task_scheduler="gradient",
    module_equality: str = "structural",
    post_optimization: bool = False,
    seed: int | None = None,
    space=None,
    strategy="evolutionary",
    **unknown,
):
    """Tunes tasks and returns the database.

    Raises UserError for unknown options
    """
    if unknown:
        options = ", ".join(sorted(_tune.__kwdefaults__))
        raise UserError(f'tuning has no option "{next(iter(unknown))}"\nhelp: the options are {options}')
    require_default("tune_tasks", post_optimization=(bool(post_optimization), False))
    records, own = _database(database, work_dir, module_equality)
    scheduler = create_scheduler(task_scheduler)
    runs, options = native_runner(runner)
    per_iteration = min(num_trials_per_iter, max_trials_global)
    with limited(max_trials_global, per_iteration):
        tune.tune_tasks(
            tasks,
            database=records,
            trials=max_trials_global,
            trials_per_task=max_trials_per_task,
            per_iteration=per_iteration,
            space=space,
            seed=0 if seed is None else max(seed, 0),
            cost_model=None if cost_model == "xgb" else create_model(cost_model),  # one for each task
            strategy=create_strategy(strategy),
            postprocs=getattr(space, "postprocs", None) or (),
            mutators=getattr(space, "mutators", None) or (),
            scheduler=scheduler,
            callbacks=native_callbacks(measure_callbacks, scheduler, tasks),
            builder=native_builder(builder),
            runner=runs,
            executor=None,
            options=options,
        )
    if own is not None:
        _commit(records, own)
        return own
    return records


def _answering(records, space):
    """The database that answers from a space: from that of the user alone, also if the default schedule is faster."""
    is_default = space is None or isinstance(space, tune.DefaultSpace)
    if is_default or not isinstance(records, databases.FileDatabase):
        return records
    return records.of_space(space.name)


def tune_tir(
    mod,
    target,
    work_dir=None,
    max_trials_global=None,
    *,
    config: TuneConfig | None = None,
    space="post-order-apply",
    num_tuning_cores="physical",
    special_space=None,
    task_name: str = "main",
    num_threads=None,
    **options,
):
    """Tunes each loop program of `mod` and returns the database; with a space given, that of this space alone.

    Records lie in the file tune.db in work_dir; num_tuning_cores, num_threads and task_name have no effect.
    With config, a TuneConfig, it returns the Schedule, as in 2022.
    """
    if isinstance(work_dir, TuneConfig):
        config, work_dir = work_dir, max_trials_global
    if config is not None:
        options = vars(config) | options
        max_trials_global = options.pop("max_trials_global")
    if special_space:
        raise UserError(
            "tune_tir: special_space cannot be given\nhelp: tune each function with its own space="
        )
    if max_trials_global is None:
        raise UserError("tune_tir: max_trials_global is missing")
    chosen = create_space(space)
    tasks = tune.tasks_of(mod, target)
    records = _tune(tasks, work_dir=work_dir, max_trials_global=max_trials_global, space=chosen, **options)
    answering = _answering(records, chosen)
    return answering if config is None else compile_tir(answering, mod, target)


def compile_tir(database, mod, target):
    """The Schedule of the fastest record; None if there is none."""
    if hasattr(database, "query_schedule"):
        return database.query_schedule(mod, target)
    return database.schedule_for(mod, target)


# ---------------------------------------------------------------- graphs


class ExtractedTask:
    """A loop program of a graph.

    task_name   of the kernel
    mod         the program alone
    target      for what
    dispatched  [mod]
    weight      how often the graph calls it
    """

    def __init__(self, task_name: str, mod, target, dispatched=None, weight: int = 1):
        self.task_name, self.mod, self.target = task_name, mod, Target(target)
        self.dispatched, self.weight = list(dispatched or [mod]), weight


def _bound(mod, params):
    mod = mod if isinstance(mod, IRModule) else IRModule({"main": mod})
    return relax.transform.BindParams("main", params)(mod) if params else mod


def _tasks_of_graph(mod, target, params, op_names=None) -> list:
    """The loop programs of a graph as compiling makes them, and those that are in it already."""
    mod = _bound(mod, params)
    found = list(tune.tasks_of(mod, target)) if _programs(mod) else []
    known = {each.key for each in found}
    if any(isinstance(func, relax.Function) for _, func in mod.functions_items()):
        for each in tune.tasks_of(compile_any(mod, target).legalized, target):
            if each.key not in known:
                found.append(each)
    chosen = [
        each
        for each in found
        if each.is_measurable and (not op_names or any(name in each.name for name in op_names))
    ]
    if not chosen:
        raise UserError("there is no loop program with known extents to tune")
    return chosen


def _programs(mod) -> list:
    return [func for _, func in mod.functions_items() if isinstance(func, tir.PrimFunc)]


def extract_tasks(mod, target, params=None, module_equality: str = "structural") -> list[ExtractedTask]:
    """The loop programs of a graph; equal ones are one task."""
    return [
        ExtractedTask(each.name, each.module, each.target, None, each.weight)
        for each in _tasks_of_graph(mod, target, params)
    ]


def extracted_tasks_to_tune_contexts(
    extracted_tasks: list,
    work_dir,
    space="post-order-apply",
    strategy="evolutionary",
    num_tuning_cores="physical",
    seed: int | None = None,
    num_threads=None,
) -> tuple[list[TuneContext], list[float]]:
    """(a TuneContext of each task, their weights); work_dir and the numbers of threads have no effect."""
    contexts = [
        TuneContext(
            each.dispatched[0],
            target=each.target,
            space_generator=space,
            search_strategy=strategy,
            task_name=each.task_name,
            rand_state=-1 if seed is None else seed,
        )
        for each in extracted_tasks
    ]
    return contexts, [float(each.weight) for each in extracted_tasks]


def tune_tasks(*, tasks: list, task_weights: list, work_dir, max_trials_global: int, **options):
    """Tunes contexts, each in its space and by its strategy, and returns the database."""
    chosen = []
    for context, weight in zip(tasks, task_weights, strict=True):
        (task,) = tune.tasks_of(context.mod, context.target or "llvm", exactly_one=True)
        task.name, task.weight = context.task_name, weight
        if context.space_generator is not None:
            task.space = context.space_generator
            task.postprocs = getattr(task.space, "postprocs", ())
            task.mutators = getattr(task.space, "mutators", ())
        if context.search_strategy is not None:
            task.strategy = context.search_strategy
        chosen.append(task)
    seeds = [context.rand_state for context in tasks]
    return _tune(
        chosen,
        work_dir=work_dir,
        max_trials_global=max_trials_global,
        seed=seeds[0] if seeds else None,
        **options,
    )


Tunes.tune_tasks = staticmethod(tune_tasks)


def tune_relax(
    mod,
    params,
    target,
    work_dir,
    max_trials_global: int,
    max_trials_per_task: int | None = None,
    op_names=None,
    *,
    space="post-order-apply",
    num_tuning_cores="physical",
    num_threads=None,
    **options,
):
    """Tunes the loop programs of a graph and returns the database."""
    return _tune(
        _tasks_of_graph(mod, target, params, op_names),
        work_dir=work_dir,
        max_trials_global=max_trials_global,
        max_trials_per_task=max_trials_per_task,
        space=create_space(space),
        **options,
    )


def compile_relax(database, mod, target, params=None, enable_warning: bool = False):
    """The graph compiled with the schedules of a database."""
    mod = apply_database(_bound(mod, params), database, target)
    with database:
        return build_graph(mod, target)


def apply_database(mod, database, target="llvm"):
    """`mod` with the schedules of a database for its loop programs; those without a record stay as they are."""
    changed = {}
    for var, func in mod.functions_items():
        changed[var.name_hint] = func
        if not isinstance(func, tir.PrimFunc) or func.attrs.get("tir.is_scheduled"):
            continue
        tasks = tune.tasks_of(func, target)
        if len(tasks) != 1 or not tasks[0].is_measurable:
            continue
        sch = compile_tir(database, tasks[0].module, target)
        if sch is not None:
            ((_, scheduled),) = sch.mod.functions_items()
            symbol = func.attrs.get("global_symbol")
            scheduled = scheduled.without_attr("global_symbol")
            changed[var.name_hint] = scheduled.with_attr("global_symbol", symbol) if symbol else scheduled
    return IRModule(changed, mod.attrs, mod.global_infos)


# ---------------------------------------------------------------- passes


def _database_of(work_dir):
    found = tune.Database.current()
    if work_dir is not None and (found is None or Path(work_dir, "tune.db").exists()):
        return databases.JSONDatabase(work_dir=work_dir)
    return found
