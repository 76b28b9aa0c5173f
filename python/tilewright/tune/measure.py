"""Building and measuring of candidates: functions that any concurrent.futures.Executor can run."""

import tempfile
import threading
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from .. import _core
from ..errors import Error, UserError
from ..ir import load_json, save_json
from ..ir.module import unwrapped
from ..schedule import Schedule, Trace
from ..target import Target
from .child import Child, ChildFailed
from .profiler import Profiler


@dataclass(frozen=True)
class MeasureOptions:
    """How candidates are measured.

    min_repeat_ms      one measurement takes at least this long, in ms; default 20
    rounds             measurements of each candidate, in turns with the default schedule; default 3
    timeout            of one candidate, in s; default 10
    hopeless           a candidate that took so many times the baseline's time is measured once; default 3.0
    cache_flush_bytes  before each measurement so much other memory is written, so that caches are cold; default 0, warm caches
    num_threads        of parallel loops; default 0, what the process uses
    memory_mb          limit of the address space of a measuring process, in MiB; default 0, none
    """

    min_repeat_ms: int = 20
    rounds: int = 3
    timeout: float = 10.0
    hopeless: float = 3.0
    cache_flush_bytes: int = 0
    num_threads: int = 0
    memory_mb: int = 0


def build_candidate(program: str, trace: str | None, target: str) -> bytes:
    """The shared library of a scheduled program; `trace` None stands for the default schedule.

    program  JSON of the module
    trace    JSON of the steps
    Raises   UserError or Unsupported if it cannot be built
    """
    module = load_json(program) if trace is None else _scheduled(program, trace)
    return _library_of(module, Target(target), trace is None)


def _scheduled(program: str, trace: str):
    sch = Schedule(load_json(program))
    Trace.load_json(trace).apply_to(sch._core)
    return sch.mod


def _library_of(module, target: Target, schedule: bool = False) -> bytes:
    library = _core.build(unwrapped(module), target, schedule, False, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.so"
        library.export_library(str(path))
        return path.read_bytes()


_children: list[Child] = []
_children_lock = threading.Lock()


def measure_candidate(code: bytes, baseline: tuple | None, shapes: list, options: MeasureOptions) -> dict:
    """{"seconds": [...], "baseline": [...]} of a library and the baseline, measured in a process of their own.

    baseline  (name, library): measured in turns with it; None: it is measured alone
    shapes    (extents, dtype) of each parameter
    Raises    ChildFailed with the reason if it crashed, took too long or raised
    """
    with _children_lock:
        child = _children.pop() if _children else Child(options.memory_mb)
    try:
        job = ("measure", code, _core.record_function, baseline, shapes, vars(options))
        return child.run(job, options.timeout)
    finally:
        with _children_lock:
            _children.append(child)


def _caught(function, *args):
    """(result, None), or (None, reason): errors of an executor are not those of a candidate."""
    try:
        return function(*args), None
    except (Error, ChildFailed) as error:
        return None, str(error).splitlines()[0].removeprefix("error: ")


def parameter_shapes(task) -> list[tuple[tuple, str]]:
    """(extents, dtype) of each parameter of a task.

    Raises UserError if an extent is not known, or a parameter is no buffer.
    """
    if not task.is_measurable:
        raise UserError(
            "a kernel with open extents, or with parameters that are no buffers, cannot be measured\n"
            "help: fix its extents, e.g. by compile(..., shapes={...})"
        )
    return [
        (tuple(int(extent) for extent in buffer.shape), str(buffer.dtype)) for buffer in task.func.buffers
    ]


class Builder:
    """Makes the libraries of candidates; a subclass may do it otherwise, or look at what is built.

    It runs in the executor that compiles, so that a process pool has to be able to pickle it.
    >>> class Counts(tilewright.tune.Builder):
    ...     def build(self, module, target):
    ...         print("building")
    ...         return super().build(module, target)
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=1, builder=Counts())
    """

    def build(self, module, target: Target):
        """The bytes of the shared library of a scheduled module, or what the runner knows it by.

        Raises UserError or Unsupported: the candidate is one failed record with this reason
        """
        return _library_of(module, target)


class Runner:
    """Measures the libraries of candidates; a subclass may do it otherwise, e.g. on another machine.

    It runs in the executor that measures.
    >>> class Twice(tilewright.tune.Runner):
    ...     def run(self, library, baseline, shapes, options):
    ...         super().run(library, baseline, shapes, options)
    ...         return super().run(library, baseline, shapes, options)
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=1, runner=Twice())
    """

    def run(self, library, baseline: tuple | None, shapes: list, options: MeasureOptions) -> dict:
        """{"seconds": [...], "baseline": [...], "has_same_bits": bool} of a library, measured in turns with the baseline's.

        library   what the builder gave; that of the default schedule is bytes
        baseline  (name, bytes of its library), or None: the library is measured alone
        shapes    (extents, dtype) of each parameter
        Raises    UserError or ChildFailed: the candidate is one failed record with this reason
        """
        return measure_candidate(library, baseline, shapes, options)


def build_by(builder: Builder, program: str, trace: str, target: str):
    """What a builder makes of the program, JSON of a module, after the steps of a trace, JSON."""
    return builder.build(_scheduled(program, trace), Target(target))


def run_by(runner: Runner, library, baseline: tuple | None, shapes: list, options: MeasureOptions) -> dict:
    """What a runner measured.

    Raises UserError if it gave something else than times
    """
    found = runner.run(library, baseline, shapes, options)
    if not isinstance(found, dict) or not found.get("seconds"):
        raise UserError(f'{type(runner).__name__}.run gave {found!r}, expected {{"seconds": [...], ...}}')
    return {"baseline": [], "has_same_bits": False} | found


class Executors:
    """Where candidates are built and measured.

    compiles  any concurrent.futures.Executor; default: threads of this process
    measures  the same; default: one candidate at a time on this machine
    options   how candidates are measured; default MeasureOptions()
    builder, runner  make and measure libraries; default: as Builder and Runner do
    """

    def __init__(
        self,
        compiles: Executor | None = None,
        measures: Executor | None = None,
        options=None,
        builder: Builder | None = None,
        runner: Runner | None = None,
    ):
        self.options = options or MeasureOptions()
        self.build = partial(build_by, builder) if builder else build_candidate
        self.measure = partial(run_by, runner) if runner else measure_candidate
        self._own: list[Executor] = []
        self.compiles = compiles or self._make_own(_core.num_threads())
        self.measures = measures or self._make_own(1)

    def _make_own(self, workers: int) -> Executor:
        made = ThreadPoolExecutor(workers)
        self._own.append(made)
        return made

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self._own:
            each.shutdown(cancel_futures=True)


class Measurer:
    """Builds and measures candidates of one task.

    Raises UserError or Unsupported if the default schedule cannot be built, and UserError for open extents
    """

    def __init__(self, task, executors: Executors):
        self._executors = executors
        self.options = executors.options
        self._shapes = parameter_shapes(task)
        self._program = save_json(task.module)
        self._target = str(task.target)
        build = executors.compiles.submit(build_candidate, self._program, None, self._target)
        self._baseline = (f"{task.key.program} {task.key.machine}", build.result())

    def measure_default(self) -> dict:
        """Times of the default schedule, as measure has them."""
        job = (_caught, self._executors.measure, self._baseline[1], None, self._shapes, self.options)
        return self._result(0, self._executors.measures.submit(*job))[1]

    def measure(self, traces: list[str], rounds: int | None = None):
        """Yields (n, {"seconds", "baseline", "has_same_bits"} or {"failure"}) for each trace as soon as it is known.

        rounds  instead of the options' number
        """
        options = self.options if rounds is None else replace(self.options, rounds=rounds)
        builds = [
            self._executors.compiles.submit(
                _caught, self._executors.build, self._program, trace, self._target
            )
            for trace in traces
        ]
        running = []
        try:
            for n, build in enumerate(builds):
                try:
                    with Profiler.timeit("build"):
                        code, reason = build.result()
                except Exception as error:  # of the executor, e.g. a worker that was killed
                    code, reason = None, f"the build was lost: {error}"
                if reason:
                    yield n, {"failure": reason}
                    continue
                job = (_caught, self._executors.measure, code, self._baseline, self._shapes, options)
                running.append((n, self._executors.measures.submit(*job)))
                while len(running) > 1:
                    yield self._result(*running.pop(0))
            for each in running:
                yield self._result(*each)
        finally:  # of an iteration that was interrupted
            for future in (*builds, *(future for _, future in running)):
                future.cancel()

    def _result(self, n: int, future):
        try:
            with Profiler.timeit("measure"):
                result, reason = future.result()
        except Exception as error:
            result, reason = None, f"the measurement was lost: {error}"
        return n, {"failure": reason} if reason else result
