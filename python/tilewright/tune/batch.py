"""Builds and measures some candidates on executors, and yields what is known of each as soon as it is known."""

import hashlib
import time
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace

from ..errors import UserError
from ..ir import save_json
from .device import device_name
from .measure import Executors, caught, parameter_shapes
from .profiler import Profiler
from .statistics import ROUNDS, median

#: a build or measurement that an executor loses, e.g. with a worker that was killed, is tried so often
MOST_LOST = 3
_TICK_S = 0.5


def broken(error: BrokenExecutor) -> UserError:
    """The error for an executor that takes no more work."""
    return UserError(
        f"the executor is broken: {str(error) or type(error).__name__}\n"
        "help: all trials that ended are recorded; make another executor, and go on with resume=True"
    )


def result_of(executor: Executor, *job):
    """The result of one job, which is tried again where the executor loses it.

    Raises UserError if it is lost several times, or the executor is broken, and the errors of the job
    """
    for _ in range(MOST_LOST):
        try:
            result, error = executor.submit(_returned, *job).result()
        except BrokenExecutor as reason:
            raise broken(reason) from None
        except Exception as reason:
            lost = reason
            continue
        if error is not None:
            raise error
        return result
    raise UserError(f"the executor lost a job {MOST_LOST} times: {lost}")


def _returned(function, *args):
    """(result, None), or (None, error): errors of an executor are not those of a job."""
    try:
        return function(*args), None
    except Exception as error:
        return None, error


class _Job:
    """A candidate on its way: it is built, measured, and measured again if it may be faster."""

    def __init__(self, n: int):
        self.n, self.stage, self.code, self.num_lost, self.running_since = n, "build", None, 0, None


class Batch:
    """The builds and measurements of some candidates.

    build         trace -> a function and its arguments, which makes the library of it
    measure       (code, is_confirming) -> a function and its arguments, which measures a library
    wants_more    found -> True if the candidate is to be measured until one may be sure
    """

    def __init__(self, executors: Executors, build, measure, wants_more):
        self._executors, self._build, self._measure, self._wants_more = executors, build, measure, wants_more
        self._active: dict[Future, _Job] = {}
        self._ready: list[_Job] = []  # built, and not under way
        self._error: UserError | None = None

    def run(self, traces: list[str]):
        """Yields (n, {"seconds", "baseline", "has_same_bits"} or {"failure"}) for each trace.

        Raises UserError at the end if an executor is broken
        """
        self._traces = traces
        try:
            for n in range(len(traces)):
                self._submit(_Job(n))
            while self._active or self._ready:
                yield from self._step()
            if self._error is not None:
                raise self._error
        finally:  # of an iteration that was interrupted
            self._cancel()

    def _step(self):
        if self._executors.stop.is_set() or self._error is not None:
            self._cancel()
        else:
            self._fill()
        with Profiler.timeit("build" if self._is_building() else "measure"):
            done, _ = wait(self._active, timeout=_TICK_S, return_when=FIRST_COMPLETED)
        for future in done:
            job = self._active.pop(future, None)
            found = None if job is None else self._answer(job, future)
            if found is not None:
                yield job.n, found
        for job in self._late():
            limit = self._executors.options.build_timeout
            yield job.n, {"failure": f"its build took longer than {limit:g} s"}

    def _submit(self, job: _Job) -> None:
        try:
            if job.stage == "build":
                future = self._executors.compiles.submit(caught, *self._build(self._traces[job.n]))
            else:
                words = self._measure(job.code, job.stage == "confirmation")
                future = self._executors.measures.submit(caught, *words)
        except BrokenExecutor as error:
            self._error = broken(error)
            return
        job.running_since = None
        self._active[future] = job

    def _is_building(self) -> bool:
        return any(job.stage == "build" for job in self._active.values())

    def _fill(self) -> None:
        if self._executors.builds_first and self._is_building():
            return
        most = self._executors.most_measured or len(self._traces)
        while self._ready and sum(job.stage != "build" for job in self._active.values()) < most:
            self._submit(self._ready.pop(0))

    def _answer(self, job: _Job, future: Future) -> dict | None:
        """The outcome of a job whose future is done; None: it goes on."""
        try:
            result, reason = future.result()
        except BrokenExecutor as error:
            self._error = broken(error)
            return None
        except Exception as error:  # of the executor, e.g. a worker that was killed
            return self._lost(job, error)
        if reason:
            return {"failure": reason}
        if job.stage == "build":
            job.code, job.stage = result, "measurement"
            self._ready.append(job)
            return None
        if job.stage == "measurement" and self._wants_more(result):
            job.stage = "confirmation"
            self._ready.insert(0, job)
            return None
        return result

    def _lost(self, job: _Job, error: Exception) -> dict | None:
        job.num_lost += 1
        if self._executors.stop.is_set():
            return None
        if job.num_lost < MOST_LOST:
            self._submit(job)
            return None
        return {
            "failure": f"the {job.stage} was lost {job.num_lost} times: {str(error) or type(error).__name__}"
        }

    def _late(self) -> list[_Job]:
        """Takes out the builds that run for too long."""
        late, now = [], time.monotonic()
        for future, job in list(self._active.items()):
            if job.stage != "build" or not future.running():
                continue
            job.running_since = job.running_since or now
            if now - job.running_since > self._executors.options.build_timeout:
                late.append(self._active.pop(future))
        return late

    def _cancel(self) -> None:
        """Leaves only what is being measured."""
        self._ready.clear()
        for future, job in list(self._active.items()):
            if future.cancel() or job.stage == "build":
                del self._active[future]


class Measurer:
    """Builds and measures candidates of one task.

    Raises UserError or Unsupported if the default schedule cannot be built, and UserError for open extents
    """

    def __init__(self, task, executors: Executors):
        self._executors = executors
        self.options = replace(executors.options, device=executors.options.device or device_name(task.target))
        self._shapes = parameter_shapes(task)
        self._program, self._target = save_json(task.module), str(task.target)
        self._default_s = 0.0
        code = result_of(executors.compiles, executors.build_default, self._program, None, self._target)
        # measuring processes keep it under its name
        self._baseline = (hashlib.sha256(code).hexdigest(), code)

    def measure_default(self) -> dict:
        """Times of the default schedule, as measure has them."""
        words = (self._executors.measure, self._baseline[1], None, self._shapes, self.options)
        found, reason = result_of(self._executors.measures, caught, *words)
        if reason:
            return {"failure": reason}
        self._default_s = median(found["seconds"])
        return found

    def _build(self, trace: str) -> tuple:
        return (self._executors.build, self._program, trace, self._target)

    def _measurement(self, code: bytes, is_confirming: bool) -> tuple:
        rounds = ROUNDS if is_confirming else self.options.rounds
        seconds = self.options.timeout + 2 * rounds * max(self._default_s, self.options.min_repeat_ms * 1e-3)
        limited = replace(self.options, timeout=max(0.1, round(seconds, 1)))
        return (self._executors.measure, code, self._baseline, self._shapes, limited, is_confirming)

    def measure(self, traces: list[str], wants_more):
        """Yields (n, {"seconds", "baseline", "has_same_bits"} or {"failure"}) for each trace as soon as it is known.

        wants_more  found -> True if the candidate is to be measured until one may be sure that it is faster
        """
        yield from Batch(self._executors, self._build, self._measurement, wants_more).run(traces)
