"""Tuning of one task: asks its search for candidates, measures and records them."""

import math
import platform
import time
from functools import cache
from pathlib import Path

from .. import _core
from ..records import Record, RecordFile, Task
from ..schedule import Schedule
from .measure import Executors, Measurer
from .space import DefaultSpace, SpaceGenerator, has_samples, traces_of

#: rounds that confirm what seems to be faster than the default: by chance, all of 7 times are below 7 others in 1 of 3,432 cases
_CONFIRMING_ROUNDS = 7
_POPULATION, _GENERATIONS = 128, 4


@cache
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith(("model name", "Model"))]
    return names[0] if names else platform.machine()


def _is_faster(seconds: list[float], baseline: list[float]) -> bool:
    """True if all measurements beat all of the baseline's: what overlaps cannot be told apart."""
    return bool(seconds) and bool(baseline) and max(seconds) < min(baseline)


class TaskResult:
    """What tuning found for one task.

    task       the Task
    default_s  median time of the default schedule in s; None if it was not measured
    best       the fastest Record; None if every trial failed
    trials     how many candidates were measured, failed ones included
    is_done    nothing more will be measured
    """

    def __init__(self, task: Task):
        self.task, self.default_s, self.best, self.trials, self.is_done = task, None, None, 0, False

    @property
    def latency_s(self) -> float | None:
        """The median time of the best record in s, or of the default schedule; None: nothing was measured."""
        return self.best.median if self.best is not None else self.default_s

    @property
    def speedup(self) -> float:
        """The default's time over that of the best; 1 where the default stays."""
        if self.best is None or self.default_s is None or not self.best.trace_json:
            return 1.0
        # both were measured in the same rounds
        baseline = sorted(self.best.baseline) or [self.default_s]
        return baseline[len(baseline) // 2] / self.best.median


class TaskTuner:
    """Tunes one task; every trial is recorded as soon as it is known.

    database             where records go
    space                which schedules there are
    seed                 of what is drawn
    per_iteration        candidates between two questions to the search
    cost_model           an object with predict and update; None: random scores
    allow_reassociation  candidates that give other bits may win
    """

    def __init__(
        self,
        task: Task,
        database: RecordFile,
        space: SpaceGenerator,
        executors: Executors,
        *,
        seed: int,
        per_iteration: int,
        cost_model=None,
        allow_reassociation: bool = False,
    ):
        self.result = TaskResult(task)
        self._task, self._database, self._space = task, database, space
        self._per_iteration, self._allows_other_bits = per_iteration, allow_reassociation
        traces = traces_of(space.designs(task))
        self._fixed = [each for each in traces if not has_samples(each)]
        samples = [each for each in traces if has_samples(each)]
        self._search = None
        if samples:
            program = Schedule(task.module, error_render_level="none")
            options = (cost_model, seed, _POPULATION, _GENERATIONS)
            limits = [_core.CodeLimits(task.target)] if isinstance(space, DefaultSpace) else []
            self._search = _core.Search(program._core, samples, limits, *options)
        self._measurer = Measurer(task, executors)
        database.add_program(task)
        #: the share of its time that the last iteration saved
        self.last_gain = 1.0

    def _record(self, trace: str, found: dict) -> Record:
        record = Record()
        record.key, record.target, record.space = self._task.key, str(self._task.target), self._space.name
        record.trace_json = trace
        record.seconds = found.get("seconds", [])
        record.baseline = found.get("baseline", [])
        record.failure = found.get("failure", "")
        record.changes_sums = not found.get("has_same_bits", True)
        is_allowed = self._allows_other_bits or not record.changes_sums
        record.beats_default = is_allowed and _is_faster(record.seconds, record.baseline)
        record.is_cold = self._measurer.options.cache_flush_bytes > 0
        record.processor, record.version = _processor(), _core.version
        record.time = int(time.time())
        self._database.add(record)
        return record

    def _confirmed(self, trace: str, found: dict) -> dict:
        """`found`, measured again if it would be the best, so that what is chosen is not chosen for its luck."""
        seconds = found.get("seconds", [])
        best = self.result.best
        if not _is_faster(seconds, found.get("baseline", [])) or (best and min(seconds) > best.median):
            return found
        ((_, again),) = self._measurer.measure([trace], _CONFIRMING_ROUNDS)
        return again

    def measure_default(self) -> None:
        """Measures the default schedule, which is candidate 0 of the default space."""
        found = self._measurer.measure_default()
        if found.get("seconds"):
            self.result.default_s = sorted(found["seconds"])[len(found["seconds"]) // 2]
        if isinstance(self._space, DefaultSpace):
            self._take(self._record("", found))

    def _take(self, record: Record) -> None:
        best = self.result.best
        if not record.seconds:
            return
        # what cannot be told apart from the default stays the default
        is_usable = not record.trace_json or record.beats_default or not isinstance(self._space, DefaultSpace)
        if is_usable and (best is None or record.median < best.median):
            self.result.best = record

    def run(self, count: int) -> int:
        """Measures up to `count` candidates; returns how many, 0 when the space has no others."""
        candidates, traces = None, []
        if self._fixed:
            traces = [self._fixed.pop(0)]
        elif self._search is not None:
            candidates = self._search.ask(min(count, self._per_iteration))
            traces = [each.sch.trace() for each in candidates]
        if not traces:
            self.result.is_done = True
            return 0
        texts = [trace.save_json() for trace in traces]
        seconds, before = [math.inf] * len(texts), self.result.latency_s
        for n, found in self._measurer.measure(texts):
            record = self._record(texts[n], self._confirmed(texts[n], found))
            self.result.trials += 1
            self._take(record)
            seconds[n] = record.median
        if candidates is not None:
            self._search.tell(candidates, seconds)
        after = self.result.latency_s
        self.last_gain = 1 - after / before if before and after else 1.0
        return len(texts)
