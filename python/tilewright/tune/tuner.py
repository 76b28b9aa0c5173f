"""The loop of tuning: ask for candidates, build and measure them, record each, and go on."""

import math
import platform
import time
from pathlib import Path

from .. import _core
from ..errors import UserError
from ..records import Record, RecordFile, Task, tasks_of
from ..schedule import Schedule, Trace
from .measure import MeasureOptions, Measurer
from .progress import Progress
from .space import DefaultSpace, SpaceGenerator, has_samples, traces_of

_BATCH = 16
#: rounds that confirm what seems to be faster than the default: by chance, all of 7 times are below 7 others in 1 of 3,432 cases
_CONFIRMING_ROUNDS = 7


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith(("model name", "Model"))]
    return names[0] if names else platform.machine()


class TaskResult:
    """What tuning found for one task.

    task       the Task
    default_s  median time of the default schedule in s; None if it was not measured
    best       the fastest Record; None if every trial failed
    trials     how many candidates were measured, failed ones included
    """

    def __init__(self, task: Task):
        self.task, self.default_s, self.best, self.trials, self.is_done = task, None, None, 0, False

    @property
    def latency_s(self) -> float | None:
        """The median time of the best record in s, or of the default schedule; None: nothing was measured."""
        return self.best.median if self.best is not None else self.default_s

    @property
    def speedup(self) -> float:
        """The default's time over the best; 1 where the default stays."""
        if self.best is None or self.default_s is None or not self.best.trace_json:
            return 1.0
        return self.default_s / self.best.median


def _is_faster(seconds: list[float], baseline: list[float]) -> bool:
    """True if all measurements beat all of the baseline's: what overlaps cannot be told apart."""
    return bool(seconds) and bool(baseline) and max(seconds) < min(baseline)


class TaskTuner:
    """Tunes one task: holds its search, and records each trial as soon as it is known."""

    def __init__(
        self,
        task,
        database,
        space,
        measurer,
        *,
        seed,
        per_iteration,
        cost_model=None,
        allow_reassociation=False,
    ):
        self.task, self.database, self.space, self.measurer = task, database, space, measurer
        self.result = TaskResult(task)
        self._per_iteration = per_iteration
        self._allows_other_bits = allow_reassociation
        designs = space.designs(task)
        self._designs = traces_of(designs)
        samples = [each for each in self._designs if has_samples(each)]
        self._fixed = [each for each in self._designs if not has_samples(each)]
        self._search = None
        if samples:
            program = Schedule(task.module, error_render_level="none")
            self._search = _core.Search(program._core, samples, [], cost_model, seed, 128, 4)
        database.add_program(task)
        measurer.prepare(task)

    def _record(self, trace: str, found: dict) -> Record:
        record = Record()
        record.key, record.target, record.space = self.task.key, str(self.task.target), self.space.name
        record.trace_json = trace
        record.seconds = found.get("seconds", [])
        record.baseline = found.get("baseline", [])
        record.failure = found.get("failure", "")
        record.changes_sums = not found.get("has_same_bits", True)
        is_allowed = self._allows_other_bits or not record.changes_sums
        record.beats_default = is_allowed and _is_faster(record.seconds, record.baseline)
        record.is_cold = self.measurer.options.cache_flush_bytes > 0
        record.processor, record.version = _processor(), _core.version
        record.time = int(time.time())
        self.database.add(record)
        return record

    def _confirmed(self, trace: str, found: dict) -> dict:
        """`found`, measured again if it would be the best, so that what is chosen is not chosen for its luck."""
        seconds = found.get("seconds", [])
        best = self.result.best
        if not _is_faster(seconds, found.get("baseline", [])) or (best and min(seconds) > best.median):
            return found
        ((_, again),) = self.measurer.measure([trace], _CONFIRMING_ROUNDS)
        return again

    def measure_default(self) -> None:
        """Measures the default schedule, which is candidate 0 of the default space."""
        found = self.measurer.measure_baseline()
        if found.get("seconds"):
            self.result.default_s = sorted(found["seconds"])[len(found["seconds"]) // 2]
        if isinstance(self.space, DefaultSpace):
            self._take(self._record("", found))

    def _take(self, record: Record) -> None:
        best = self.result.best
        if not record.seconds:
            return
        # what cannot be told apart from the default stays the default
        is_usable = not record.trace_json or record.beats_default or not isinstance(self.space, DefaultSpace)
        if is_usable and (best is None or record.median < best.median):
            self.result.best = record

    def run(self, count: int) -> int:
        """Measures up to `count` candidates; returns how many, 0 when the space has no others."""
        if self._fixed:
            candidates, traces = None, [self._fixed.pop(0)]
        elif self._search is not None:
            candidates = self._search.ask(min(count, self._per_iteration))
            traces = [each.sch.trace() for each in candidates]
        else:
            traces = []
        if not traces:
            self.result.is_done = True
            return 0
        texts = [trace.save_json() for trace in traces]
        seconds = [math.inf] * len(texts)
        for n, found in self.measurer.measure(texts):
            record = self._record(texts[n], self._confirmed(texts[n], found))
            self.result.trials += 1
            self._take(record)
            seconds[n] = record.median
        if candidates is not None:
            self._search.tell(candidates, seconds)
        return len(texts)


def tune(
    mod,
    target="llvm",
    *,
    database: RecordFile,
    trials: int = 64,
    per_iteration: int = _BATCH,
    space: SpaceGenerator | None = None,
    seed: int = 0,
    cost_model=None,
    allow_reassociation: bool = False,
    executor=None,
    measure_executor=None,
    options: MeasureOptions | None = None,
    quiet: bool = False,
) -> list[TaskResult]:
    """Measures candidates for each loop program of `mod`, and records every trial in `database`.

    mod            a module of loop programs, or one PrimFunc
    target         text or Target; default "llvm", this machine
    database       where records go
    trials         how many candidates to measure, of all programs together, >= 1; default 64
    per_iteration  how many before the search learns from them, >= 1; default 16
    space          which schedules there are; default DefaultSpace()
    seed           of everything drawn at random; default 0
    cost_model     an object with predict(candidates) and update(candidates, seconds); default: random scores
    allow_reassociation  a candidate that gives other bits than the default schedule may win; default False
    executor, measure_executor  run builds and measurements: any concurrent.futures.Executor; default: this machine
    options        how candidates are measured; default MeasureOptions()
    quiet          no table; default False
    Returns        a TaskResult for each different program
    Raises         UserError for trials below 1, open extents, and a space without designs
    >>> results = tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=64)
    """
    for name, value in (("trials", trials), ("per_iteration", per_iteration)):
        if not isinstance(value, int) or value < 1:
            raise UserError(f"tune: {name} is {value!r}, expected a whole number from 1 on")
    space = space or DefaultSpace()
    with Measurer(executor, measure_executor, options) as measurer:
        results = []
        tasks = tasks_of(mod, target)
        with Progress(quiet) as progress:
            left = trials
            for place, task in enumerate(tasks):
                share = max(1, left // (len(tasks) - place))
                tuner = TaskTuner(
                    task,
                    database,
                    space,
                    measurer,
                    seed=seed,
                    per_iteration=per_iteration,
                    cost_model=cost_model,
                    allow_reassociation=allow_reassociation,
                )
                results.append(tuner.result)
                tuner.measure_default()
                progress.show(results)
                while tuner.result.trials < share:
                    if tuner.run(share - tuner.result.trials) == 0:
                        break
                    progress.show(results)
                tuner.result.is_done = True
                left -= tuner.result.trials
                progress.show(results)
    return results


def best_schedule(database, mod, target="llvm") -> Schedule | None:
    """As database.schedule_for: the schedule of the fastest record; None if there is none."""
    return database.schedule_for(mod, target)


def trace_of(record: Record) -> Trace:
    """The steps of a record; empty for the default schedule."""
    return Trace.load_json(record.trace_json) if record.trace_json else Trace()
