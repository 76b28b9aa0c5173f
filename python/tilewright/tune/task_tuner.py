"""Tuning of one task: asks its search for candidates, measures and records them."""

import platform
import time
from functools import cache
from pathlib import Path

from .. import _core
from ..errors import UserError
from ..records import Record, RecordFile, Task, speed_order, trace_of
from ..schedule import Schedule, Trace, by_rules
from .batch import Measurer
from .check import objection
from .device import why_unmeasured
from .measure import Executors
from .model import GpuModel
from .profiler import Profiler
from .similar import starts_of
from .space import DefaultSpace, SpaceGenerator, has_samples, traces_of
from .statistics import is_faster, is_promising, median, ratios_of
from .strategy import Evolutionary, SearchContext, asked


@cache
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
    records    of these trials and of the default schedule, in order
    is_done    nothing more will be measured
    unmeasured  why candidates were ranked by the model of their target, not measured; None: they were measured
    """

    def __init__(self, task: Task):
        self.task, self.default_s, self.best, self.trials, self.is_done = task, None, None, 0, False
        self.records: list[Record] = []
        self.unmeasured: str | None = None

    @property
    def latency_s(self) -> float | None:
        """The median time of the best record in s, or of the default schedule; None: nothing was measured."""
        return self.best.median if self.best is not None and self.best.seconds else self.default_s

    @property
    def cost(self) -> float | None:
        """What is to become less: latency_s, or cycles by the model where nothing is measured; None: unknown."""
        if self.unmeasured and self.best is not None:
            return self.best.estimate
        return self.latency_s

    @property
    def speedup(self) -> float:
        """The default's time over that of the best; 1 where the default stays."""
        if self.best is None or self.default_s is None or not self.best.trace_json or not self.best.seconds:
            return 1.0
        # both were measured in the same rounds
        ratios = ratios_of(self.best.seconds, self.best.baseline)
        return median(ratios) if ratios else self.default_s / self.best.median


class TaskTuner:
    """Tunes one task; every trial is recorded as soon as it is known.

    database             where records go
    space                which schedules there are
    seed                 of what is drawn
    per_iteration        candidates between two questions to the search
    cost_model           an object with predict and update; None: random scores
    allow_reassociation  candidates that give other bits may win
    strategy             a SearchStrategy; None: Evolutionary()
    postprocs, mutators, callbacks  as in tune
    resume               what the database has of this task and space is taken for measured
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
        strategy=None,
        postprocs=(),
        mutators=(),
        callbacks=(),
        resume: bool = False,
    ):
        self.result = TaskResult(task)
        self._task, self._database, self._space, self._executors = task, database, space, executors
        self._per_iteration = per_iteration
        # threads of a GPU add in the order of their tiles, the default schedule as well
        self._allows_other_bits = allow_reassociation or _core.is_gpu(task.target)
        self._strategy, self._callbacks = strategy or Evolutionary(), list(callbacks)
        context = SearchContext(task, space, [], list(postprocs), mutators, cost_model, seed)
        traces = traces_of(space.designs(task))
        context.designs = [each for each in traces if has_samples(each) or not self._strategy.needs_samples]
        self._fixed = []
        for each in traces if self._strategy.needs_samples else []:
            if not has_samples(each) and (sch := context.replay(each)) is not None:
                self._fixed.append(sch.trace)
        context.plans = space.plans(task)
        self._search = self._strategy.start(context) if context.designs or context.plans else None
        self._starts, self._start_hashes = [], set()
        if self._is_evolving:
            program = Schedule(task.module, error_render_level="none")
            for each in starts_of(task, program, database, space.name):
                candidate = self._search.candidate(Trace.load_json(each))
                if candidate is not None and candidate.hash not in self._start_hashes:
                    self._starts.append(candidate)
                    self._start_hashes.add(candidate.hash)
        self.result.unmeasured = None if executors.has_runner else why_unmeasured(task.target)
        self._model = GpuModel(task.target) if self.result.unmeasured else None
        self._measurer = None if self.result.unmeasured else Measurer(task, executors)
        database.add_program(task)
        #: the share of its time that the last iteration saved
        self.last_gain = 1.0
        #: called after each trial
        self.on_trial = lambda: None
        if resume:
            self._take_recorded()

    def _time_of(self, record: Record) -> float:
        """The time of a record in s, as if the machine had done beside it what it did beside the default schedule."""
        if record.relative is None or self.result.default_s is None:
            return record.median
        return record.relative * self.result.default_s

    @property
    def _is_evolving(self) -> bool:
        return isinstance(self._search, _core.Search)

    def _take_recorded(self) -> None:
        """Tells the search what the database has, in the order in which it was measured."""
        records = self._database.of_space(self._space.name).records(self._task.key, with_failures=True)
        defaults = [record.median for record in records if not record.trace_json and record.seconds]
        self.result.default_s = defaults[0] if defaults else None
        candidates, seconds, known = [], [], set()
        for record in sorted(records, key=lambda record: record.id):
            if record.estimate is not None and self._measurer is not None:
                continue  # it can be measured now
            if record.trace_json and record.trace_json not in known and "was lost" not in record.failure:
                known.add(record.trace_json)
                trace = trace_of(record)
                if trace is None:
                    continue
                candidate = self._search.candidate(trace) if self._is_evolving else None
                if candidate is not None:
                    candidates.append(candidate)
                    seconds.append(self._time_of(record))
            self._take(record)
        self._fixed = [each for each in self._fixed if each.save_json() not in known]
        hashes = {each.hash for each in candidates}
        self._starts = [each for each in self._starts if each.hash not in hashes]
        if candidates:
            self._search.tell(candidates, seconds)

    def _record(self, trace: str, found: dict, score: float | None = None) -> Record:
        record = Record()
        record.key, record.target, record.space = self._task.key, str(self._task.target), self._space.name
        record.trace_json = trace
        record.seconds = found.get("seconds", [])
        record.baseline = found.get("baseline", [])
        record.failure = found.get("failure", "")
        record.changes_sums = not found.get("has_same_bits", True)
        record.beats_default = self._may_win(found) and is_faster(record.seconds, record.baseline)
        record.estimate = found.get("estimate")
        record.is_cold = self._executors.options.cache_flush_bytes > 0 and self._measurer is not None
        record.score = score
        record.processor, record.version = _processor(), _core.version
        record.time = time.time()
        self._database.add(record)
        self.result.records.append(record)
        return record

    def _may_win(self, found: dict) -> bool:
        return self._allows_other_bits or found.get("has_same_bits", True)

    def _wants_more(self, found: dict) -> bool:
        """True if a candidate would be the best: then it is measured anew, so that what is chosen is not chosen for its luck."""
        seconds, baseline = found["seconds"], found["baseline"]
        if not self._may_win(found) or not is_promising(seconds, baseline):
            return False
        return median(ratios_of(seconds, baseline)) > self.result.speedup

    def measure_default(self) -> None:
        """Measures the default schedule, which is candidate 0 of the default space; or ranks it by the model."""
        if self._measurer is None:
            if isinstance(self._space, DefaultSpace):
                self._take(self._record("", self._estimated(by_rules(self._task.module, self._task.target))))
            return
        found = self._measurer.measure_default()
        if "failure" in found:
            raise UserError(f"{self._task.name}: the default schedule cannot be measured: {found['failure']}")
        self.result.default_s = median(found["seconds"])
        if isinstance(self._space, DefaultSpace):
            self._take(self._record("", found))

    def _estimated(self, sch: Schedule) -> dict:
        """What a record has of a candidate that is not measured."""
        why = self._model.why_beyond(sch.mod)
        return {"failure": why} if why else {"estimate": self._model.cycles(sch.mod)}

    def _take(self, record: Record) -> None:
        best = self.result.best
        if record.estimate is not None:
            if best is None or speed_order(record) < speed_order(best):
                self.result.best = record
            return
        if not record.seconds:
            return
        # what cannot be told apart from the default stays the default
        if record.changes_sums and isinstance(self._space, DefaultSpace) and not self._allows_other_bits:
            return  # of a run that allowed it
        is_usable = not record.trace_json or record.beats_default or not isinstance(self._space, DefaultSpace)
        if is_usable and (best is None or speed_order(record) < speed_order(best)):
            self.result.best = record

    def _next(self, count: int) -> tuple[list[Trace], list, list]:
        """(traces, what the strategy gave, scores) to measure now, all in the same order."""
        if self._fixed:
            traces, self._fixed = self._fixed[:count], self._fixed[count:]
            return traces, [], []
        if self._search is None:
            return [], [], []
        given, self._starts = self._starts[:count], self._starts[count:]
        scores: list = [None] * len(given)
        with Profiler.timeit("generation"):
            while len(given) < count and (more := self._search.ask(count - len(given))):
                new = [each for each in more if getattr(each, "hash", None) not in self._start_hashes]
                given += new
                scores += [getattr(each, "score", None) for each in new]
                if not self._is_evolving:
                    break
            traces = [each.sch.trace() for each in asked(type(self._strategy).__name__, given)]
        return traces, given, scores

    def run(self, count: int) -> int:
        """Measures up to `count` candidates; returns how many, 0 when the space has no others."""
        traces, given, scores = self._next(min(count, self._per_iteration))
        if not traces:
            self.result.is_done = True
            return 0
        texts = [trace.save_json() for trace in traces]
        records, before = {}, self.result.cost
        for n, found in self._outcomes(traces, texts):
            records[n] = self._record(texts[n], found, scores[n] if scores else None)
            self.result.trials += 1
            self._take(records[n])
            self.on_trial()
        measured = sorted(records)
        if given and self._measurer is not None:
            with Profiler.timeit("model"):
                self._search.tell([given[n] for n in measured], [self._time_of(records[n]) for n in measured])
        after = self.result.cost
        self.last_gain = 1 - after / before if before and after else 1.0
        for each in self._callbacks:
            schedules = [self._schedule_of(traces[n]) for n in measured]
            each.measured(self.result, schedules, [records[n] for n in measured])
        return len(measured)

    def _outcomes(self, traces: list[Trace], texts: list[str]):
        """(n, what was measured, or why not) of each trace; the interpreter runs the first one before."""
        why = objection(self._schedule_of(traces[0]))
        if why is not None:
            yield 0, {"failure": why}
        first = int(why is not None)
        if self._measurer is None:
            for n in range(first, len(traces)):
                yield n, self._estimated(self._schedule_of(traces[n]))
            return
        for n, found in self._measurer.measure(texts[first:], self._wants_more):
            yield n + first, found

    def _schedule_of(self, trace) -> Schedule:
        sch = Schedule(self._task.module)
        trace.apply_to(sch._core)
        return sch
