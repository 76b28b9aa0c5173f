"""The loop of tuning: which task next, until the trials or the time are used up."""

import time

from ..errors import UserError
from ..records import RecordFile, tasks_of
from .measure import Executors, MeasureOptions
from .progress import Progress
from .space import DefaultSpace, SpaceGenerator
from .task_tuner import TaskResult, TaskTuner

#: what a task is expected to gain at least after an iteration that gained nothing
_LEAST_GAIN = 0.02


def _next(tuners: list[TaskTuner]) -> TaskTuner | None:
    """The task whose next iteration promises most: its share of the time, times what its last one gained."""

    def promise(tuner: TaskTuner) -> float:
        result = tuner.result
        return result.task.weight * (result.latency_s or 0.0) * max(tuner.last_gain, _LEAST_GAIN)

    return max((each for each in tuners if not each.result.is_done), key=promise, default=None)


def tune_tasks(
    tasks: list,
    *,
    database: RecordFile,
    trials: int = 64,
    per_iteration: int = 16,
    space: SpaceGenerator | None = None,
    seed: int = 0,
    cost_model=None,
    allow_reassociation: bool = False,
    executor=None,
    measure_executor=None,
    options: MeasureOptions | None = None,
    time_limit: float | None = None,
    quiet: bool = False,
) -> list[TaskResult]:
    """Measures candidates for each task, and records every trial in `database`; Ctrl-C ends it after the trial in flight.

    tasks       what to tune: tasks_of(mod)
    time_limit  in s; default none
    Others, Returns, Raises  as in tune; a task that cannot be built or measured raises what its program is refused for
    """
    for name, value in (("trials", trials), ("per_iteration", per_iteration)):
        if not isinstance(value, int) or value < 1:
            raise UserError(f"tune: {name} is {value!r}, expected a whole number from 1 on")
    space = space or DefaultSpace(allow_reassociation=allow_reassociation)
    begin = time.monotonic()
    tuners: list[TaskTuner] = []
    with Executors(executor, measure_executor, options) as executors, Progress(quiet) as progress:

        def results() -> list[TaskResult]:
            return [each.result for each in tuners]

        try:
            for task in tasks:
                tuner = TaskTuner(
                    task,
                    database,
                    space,
                    executors,
                    seed=seed,
                    per_iteration=per_iteration,
                    cost_model=cost_model,
                    allow_reassociation=allow_reassociation,
                )
                tuners.append(tuner)
                tuner.measure_default()
                progress.show(results())
            left = trials
            while left > 0 and (time_limit is None or time.monotonic() - begin < time_limit):
                tuner = _next(tuners)
                if tuner is None:
                    break
                left -= tuner.run(left)
                progress.show(results())
        except KeyboardInterrupt:
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
    per_iteration  how many before the search learns from them, >= 1; default 16
    space          which schedules there are; default DefaultSpace()
    seed           of everything drawn at random; default 0
    cost_model     an object with predict(candidates) and update(candidates, seconds); default: random scores
    allow_reassociation  a candidate that gives other bits than the default schedule may win; default False
    executor, measure_executor  run builds and measurements: any concurrent.futures.Executor; default: this machine
    options        a MeasureOptions: how candidates are measured
    time_limit     in s; default none
    quiet          no table; default False
    Returns        a TaskResult for each different program
    Raises         UserError for trials below 1, and open extents
    >>> results = tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=4)
    """
    return tune_tasks(tasks_of(mod, target), **options)


def tune_model(source, target="llvm", *, shapes=None, only: str | None = None, **options) -> list[TaskResult]:
    """Tunes the kernels of a graph as compile makes them; kernels with open extents are left out.

    source  as in compile: a model's path, a ModelProto, or a module
    shapes  {open dimension: extent}, as in compile; default none
    only    tunes kernels whose names contain it; default all
    Others, Returns  as in tune
    Raises  what compile raises, and UserError if there is no kernel to tune
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
    rounds   how many times each is measured; default 15
    Returns  {"default_s", "tuned_s": medians, "low", "high": the 10th and 90th percentile of default over tuned}
    Raises   what compile raises
    """
    from ..build import compile
    from ..runtime import VirtualMachine

    def machine():
        return VirtualMachine(compile(source, target, shapes=shapes))["main"]

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
