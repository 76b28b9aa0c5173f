"""The loop of tuning: which task next, until the trials or the time are used up."""

import time
from concurrent.futures import Executor

from ..errors import UserError
from ..records import RecordFile, tasks_of
from .arguments import require_above, require_flags, require_kinds, require_whole
from .callbacks import checked_callbacks
from .measure import Builder, Executors, MeasureOptions, Runner
from .model import default_model
from .mutator import weighted
from .postproc import checked_postprocs
from .profiler import Profiler
from .progress import Progress
from .scheduler import Gradient, TaskScheduler, chosen_by
from .space import DefaultSpace, SpaceGenerator
from .stop import Stop
from .strategy import SearchStrategy
from .task_tuner import TaskResult, TaskTuner

#: arguments that a task may have of its own
_OWN = ("space", "strategy", "postprocs", "mutators", "cost_model")


#: classes of arguments that may be None, and their names in errors
_PARTS = {
    "space": (SpaceGenerator, "tune.SpaceGenerator"),
    "strategy": (SearchStrategy, "tune.SearchStrategy"),
    "scheduler": (TaskScheduler, "tune.TaskScheduler"),
    "builder": (Builder, "tune.Builder"),
    "runner": (Runner, "tune.Runner"),
    "options": (MeasureOptions, "tune.MeasureOptions"),
    "executor": (Executor, "concurrent.futures.Executor"),
    "measure_executor": (Executor, "concurrent.futures.Executor"),
}


def _require_parts(**parts) -> None:
    given = {name: value for name, value in parts.items() if value is not None}
    require_kinds("tune", **{name: (value, *_PARTS[name]) for name, value in given.items()})


def _require_model(model) -> None:
    if model is not None and not all(callable(getattr(model, name, None)) for name in ("predict", "update")):
        raise UserError(
            f"tune: cost_model is a Python {type(model).__name__}, expected an object with predict(candidates) and "
            "update(candidates, seconds)\nhelp: tune.default_model() makes one"
        )


def tune_tasks(
    tasks: list,
    *,
    database: RecordFile,
    trials: int = 64,
    trials_per_task: int | None = None,
    per_iteration: int = 16,
    space: SpaceGenerator | None = None,
    seed: int = 0,
    cost_model=None,
    strategy: SearchStrategy | None = None,
    postprocs=(),
    mutators=(),
    scheduler: TaskScheduler | None = None,
    callbacks=(),
    allow_reassociation: bool = False,
    builder: Builder | None = None,
    runner: Runner | None = None,
    executor=None,
    measure_executor=None,
    options: MeasureOptions | None = None,
    time_limit: float | None = None,
    resume: bool = False,
    quiet: bool = False,
) -> list[TaskResult]:
    """Measures candidates for each task, and records every trial in `database`; Ctrl-C ends it after the trial in flight.

    tasks       the programs: tasks_of(mod); one with an attribute space, strategy, postprocs, mutators or cost_model is
                tuned with these
    time_limit  in s, > 0; default none
    Others, Returns, Raises  as in tune; a task that cannot be built or measured raises the reason
    """
    require_whole("tune", 1, trials=trials, per_iteration=per_iteration)
    if trials_per_task is not None:
        require_whole("tune", 1, trials_per_task=trials_per_task)
    require_whole("tune", 0, 2**63 - 1, seed=seed)
    if time_limit is not None:
        require_above("tune", 0, time_limit=time_limit)
        time_limit = float(time_limit)
    require_flags("tune", allow_reassociation=allow_reassociation, resume=resume, quiet=quiet)
    require_kinds(
        "tune",
        database=(database, RecordFile, "tune.RecordFile"),
        postprocs=(postprocs, list | tuple, "a list"),
        callbacks=(callbacks, list | tuple, "a list"),
        mutators=(mutators, dict | list | tuple, "{mutator: weight} or a list"),
    )
    _require_parts(space=space, strategy=strategy, scheduler=scheduler, builder=builder, runner=runner)
    _require_parts(options=options, executor=executor, measure_executor=measure_executor)
    _require_model(cost_model)
    weighted(mutators)
    scheduler = scheduler or Gradient()
    plan = {
        "space": space or DefaultSpace(allow_reassociation=allow_reassociation),
        "seed": int(seed),
        "per_iteration": per_iteration,
        "cost_model": cost_model,
        "allow_reassociation": allow_reassociation,
        "strategy": strategy,
        "postprocs": checked_postprocs(postprocs),
        "mutators": mutators,
        "callbacks": checked_callbacks(callbacks),
        "resume": resume,
    }
    tuners: list[TaskTuner] = []
    with (
        Stop(time_limit) as stop,
        Executors(executor, measure_executor, options, stop, builder, runner) as executors,
        Progress(quiet, trials, stop) as progress,
    ):

        def results() -> list[TaskResult]:
            return [each.result for each in tuners]

        if cost_model is None and tasks:
            plan["cost_model"] = cost_model = default_model(tasks[0].target, plan["seed"])
            progress.note(f"cost model: {type(cost_model).__name__}")
        try:
            for task in tasks:
                if stop.is_interrupted or (tuners and stop.is_set()):
                    break
                own = {name: value for name in _OWN if (value := getattr(task, name, None)) is not None}
                tuner = TaskTuner(task, database, executors=executors, **plan | own)
                tuners.append(tuner)
                if tuner.result.unmeasured:
                    progress.note(f"{task.name}: not measured: {tuner.result.unmeasured}; ranked by GpuModel")
                tuner.on_trial = lambda: progress.show(results())
                with Profiler.timeit("default"):
                    tuner.measure_default()
                progress.show(results())
            left = trials
            while left > 0 and not stop.is_set():
                tuner = chosen_by(scheduler, tuners)
                if tuner is None:
                    break
                most = left if trials_per_task is None else min(left, trials_per_task - tuner.result.trials)
                left -= tuner.run(most)
                if trials_per_task is not None and tuner.result.trials >= trials_per_task:
                    tuner.result.is_done = True
                progress.line(results(), tuner.result)
        except KeyboardInterrupt:
            stop.is_interrupted = True
        if stop.is_interrupted:
            progress.note("interrupted: all trials so far are recorded")
        for each in tuners:
            each.result.is_done = True
        progress.show(results())
    return results()


def tune(mod, target="llvm", **options) -> list[TaskResult]:
    """Measures candidates for each loop program of `mod`, and records every trial in `database`.

    mod            a module of loop programs, or one PrimFunc
    target         text or Target; default "llvm", this machine
    database       a RecordFile: where records go
    trials         how many candidates to measure, of all programs together, >= 1; default 64
    trials_per_task  how many of one program at most, >= 1; default: as many as promise something
    per_iteration  how many before the search learns from them, >= 1; default 16
    space          which schedules there are; default DefaultSpace()
    seed           of everything drawn at random, 0 to 2^63 - 1; default 0
    cost_model     an object with predict(candidates) and update(candidates, seconds); default: default_model()
    strategy       a SearchStrategy: which candidates are measured; default Evolutionary()
    postprocs      a list of Postproc: checks and changes of each candidate; default none
    mutators       {Mutator: weight}: how Evolutionary changes candidates; default: one sample of any kind
    scheduler      a TaskScheduler: which program is next; default Gradient()
    callbacks      a list of MeasureCallback, told of each iteration; default none
    builder, runner  a Builder and a Runner: how candidates are built and measured; default: as these do
    allow_reassociation  a candidate that gives other bits than the default schedule may win; default False
    executor, measure_executor  run builds and measurements: any concurrent.futures.Executor; default: this machine
    resume         goes on with the records that the database has of each program and space: their candidates are not measured
                   again, and the search and the cost model know their times; default False
    options        a MeasureOptions: how candidates are measured
    time_limit     in s, > 0; default none
    quiet          no table; default False
    Returns        a TaskResult for each different program that was begun before the end
    Raises         UserError for wrong arguments, and open extents
    >>> results = tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=4)
    """
    return tune_tasks(tasks_of(mod, target), **options)


def tune_model(source, target="llvm", *, shapes=None, only: str | None = None, **options) -> list[TaskResult]:
    """Tunes the kernels of a graph as compile makes them; kernels with open extents are left out.

    source  as in compile: a model's path, a ModelProto, or a module
    shapes  {open dimension: extent}, as in compile; default none
    only    tunes kernels whose names contain it; default all
    Others, Returns  as in tune
    Raises  the errors of compile, and UserError if there is no kernel to tune
    >>> tilewright.tune.tune_model("model.onnx", shapes={"n": 1}, database=tilewright.tune.RecordFile("tune.db"), trials=4)
    """
    from ..build import compile

    tasks = []
    for task in tasks_of(compile(source, target, shapes=shapes).legalized, target):
        if (only is None or only in task.name) and task.is_measurable:
            tasks.append(task)
    if not tasks:
        raise UserError(
            f"there is no kernel {'' if only is None else repr(only) + ' '}with known extents to tune\n"
            "help: fix open dimensions by shapes=, or --fix, and see `tilewright explain` for the names of kernels"
        )
    return tune_tasks(tasks, **options)


def compare(source, database, inputs: list, target="llvm", *, shapes=None, rounds: int = 15) -> dict:
    """Times of a model with the default schedules and with those of `database`, measured in turns.

    inputs   arguments of "main"
    rounds   how many times each is measured, >= 1; default 15
    Returns  {"default_s", "tuned_s": medians, "low", "high": the 10th and 90th percentile of default over tuned}
    Raises   the errors of compile, and UserError for rounds below 1
    """
    require_whole("compare", 1, rounds=rounds)
    from ..build import compile
    from ..runtime import VirtualMachine

    def machine():
        return VirtualMachine(compile(source, target, shapes=shapes))["main"]

    with RecordFile():  # an empty one, also where the caller is inside of `with database:`
        default = machine()
    with database:
        tuned = machine()
    times = {"default": [], "tuned": []}
    for each in (default, tuned):
        each(*inputs)
    for _ in range(rounds):
        for name, each in (("default", default), ("tuned", tuned)):
            begin = time.perf_counter()
            each(*inputs)
            times[name].append(time.perf_counter() - begin)
    ratios = sorted(a / b for a, b in zip(times["default"], times["tuned"], strict=True))
    return {
        "default_s": sorted(times["default"])[rounds // 2],
        "tuned_s": sorted(times["tuned"])[rounds // 2],
        "low": ratios[rounds // 10],
        "high": ratios[-1 - rounds // 10],
    }
