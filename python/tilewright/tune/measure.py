"""Building and measuring of candidates: functions that any concurrent.futures.Executor can run."""

import math
import tempfile
import threading
from collections.abc import Sized
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import partial
from numbers import Real
from pathlib import Path

from .. import _core
from ..errors import UserError
from ..ir import load_json
from ..ir.module import unwrapped
from ..schedule import Schedule, Trace
from ..target import Target
from .arguments import require_above, require_whole
from .child import Child, reason_of
from .statistics import ROUNDS
from .stop import Stop


@dataclass(frozen=True)
class MeasureOptions:
    """How candidates are measured.

    min_repeat_ms      one measurement takes at least this long, in ms, >= 1; default 20
    rounds             measurements of each candidate, in turns with the default schedule, >= 1; default 3.  A candidate that may
                       be faster is measured anew, in up to 63 rounds (tune/statistics.py)
    timeout            of one candidate, in s, > 0, beside the time that the default schedule takes in as many rounds; default 10
    build_timeout      of one build, in s, > 0; default 60.  A thread cannot be stopped: the candidate is given up, and its
                       thread builds on until it ends
    hopeless           a candidate that took so many times the baseline's time is measured once, > 1; default 2.0
    cache_flush_bytes  before each measurement so much other memory is written, so that caches are cold, 0 to 1 GiB; default 0,
                       warm caches
    num_threads        of parallel loops, 0 to 1024; default 0, as many as the process uses
    memory_mb          limit of the address space of a measuring process, in MiB, >= 0; default 0, none
    device             where candidates run, e.g. "cuda:1"; default "": the first device of the target's kind
    Raises             UserError for other values
    """

    min_repeat_ms: int = 20
    rounds: int = 3
    timeout: float = 10.0
    build_timeout: float = 60.0
    hopeless: float = 2.0
    cache_flush_bytes: int = 0
    num_threads: int = 0
    memory_mb: int = 0
    device: str = ""

    def __post_init__(self):
        name = "MeasureOptions"
        require_whole(name, 1, min_repeat_ms=self.min_repeat_ms, rounds=self.rounds)
        require_above(name, 0, timeout=self.timeout, build_timeout=self.build_timeout)
        require_above(name, 1, hopeless=self.hopeless)
        require_whole(name, 0, 1 << 30, cache_flush_bytes=self.cache_flush_bytes)
        require_whole(name, 0, 1024, num_threads=self.num_threads)
        require_whole(name, 0, memory_mb=self.memory_mb)
        for field in fields(self):  # numbers of numpy become Python's
            object.__setattr__(self, field.name, type(field.default)(getattr(self, field.name)))


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


def _child(memory_mb: int) -> Child:
    with _children_lock:
        for place, each in enumerate(_children):
            if each.memory_mb == memory_mb:
                return _children.pop(place)
    return Child(memory_mb)


def measure_candidate(
    code: bytes, baseline: tuple | None, shapes: list, options: MeasureOptions, is_confirming: bool = False
) -> dict:
    """{"seconds": [...], "baseline": [...], "has_same_bits"} of a library and the baseline, measured in a process of their own.

    baseline       (name, library): measured in turns with it; None: it is measured alone
    shapes         (extents, dtype) of each parameter
    is_confirming  as many rounds as it takes to be sure that it is faster, or not; default False
    Raises         ChildFailed with the reason if it crashed, took too long or raised
    """
    child = _child(options.memory_mb)
    try:
        job = ("measure", code, _core.record_function, baseline, shapes, vars(options), is_confirming)
        return child.run(job, options.timeout)
    finally:
        with _children_lock:
            _children.append(child)


def caught(function, *args):
    """(result, None), or (None, reason) if it raised, also if a builder or runner of the user's did.

    It runs in the executor, so that errors of the executor itself do not pass through it.
    """
    try:
        return function(*args), None
    except Exception as error:
        return None, reason_of(error)


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
        """The bytes of the shared library of a scheduled module, or another name of it that the runner knows.

        Raises any error: the candidate is one failed record with this reason
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

        library   as the builder gave it; that of the default schedule is bytes
        baseline  (name, bytes of its library), or None: the library is measured alone
        shapes    (extents, dtype) of each parameter
        Raises    any error: the candidate is one failed record with this reason
        """
        return measure_candidate(library, baseline, shapes, options)


def build_by(builder: Builder, program: str, trace: str, target: str):
    """The library that a builder makes of the program, JSON of a module, after the steps of a trace, JSON."""
    return builder.build(_scheduled(program, trace), Target(target))


def run_by(
    runner: Runner,
    library,
    baseline: tuple | None,
    shapes: list,
    options: MeasureOptions,
    is_confirming: bool = False,
) -> dict:
    """The times that a runner measured, in as many rounds as the options say, or as it takes to be sure.

    Raises UserError if it gave something else, or times that are no finite numbers above 0
    """
    found = runner.run(
        library, baseline, shapes, replace(options, rounds=ROUNDS) if is_confirming else options
    )
    name = f"{type(runner).__name__}.run"
    whole = {"baseline": [], "has_same_bits": False} | (found if isinstance(found, dict) else {})
    lists = [whole.get("seconds"), whole["baseline"]]
    if not all(isinstance(each, Sized) for each in lists) or not len(lists[0]):
        raise UserError(f'{name} gave {found!r}, expected {{"seconds": [...], ...}}')
    seconds, baseline = (_times(name, *each) for each in zip(("seconds", "baseline"), lists, strict=True))
    return whole | {"seconds": seconds, "baseline": baseline}


def _times(function: str, name: str, values) -> list[float]:
    """The times as floats.

    Raises UserError for others than finite numbers above 0
    """
    for each in values:
        if not isinstance(each, Real) or not math.isfinite(each) or each <= 0:
            raise UserError(f"{function} gave {each!r} among {name}, expected finite numbers above 0")
    return [float(each) for each in values]


def _is_local(executor: Executor | None) -> bool:
    """True if it surely runs its jobs on this machine."""
    return executor is None or isinstance(executor, ThreadPoolExecutor | ProcessPoolExecutor)


class Executors:
    """The executors that build and measure candidates.

    compiles  any concurrent.futures.Executor; default: threads of this process
    measures  the same; default: one candidate at a time on this machine
    options   how candidates are measured; default MeasureOptions()
    builder, runner  make and measure libraries; default: as Builder and Runner do
    stop      once it is set, no build or measurement begins, and the measurement that runs is the last; default: never
    """

    def __init__(
        self,
        compiles: Executor | None = None,
        measures: Executor | None = None,
        options: MeasureOptions | None = None,
        stop: Stop | None = None,
        builder: Builder | None = None,
        runner: Runner | None = None,
    ):
        self.options = options or MeasureOptions()
        self.stop = stop or Stop()
        self.build_default = build_candidate
        #: a runner of the user's knows where it measures
        self.has_runner = runner is not None
        self.build = partial(build_by, builder) if builder else build_candidate
        self.measure = partial(run_by, runner) if runner else measure_candidate
        self._own: list[Executor] = []
        #: measurements that are given to the executor at once: one runs, and the next one waits; None: all of them
        self.most_measured = 2 if measures is None else None
        #: builds on the same machine would slow measurements down
        self.builds_first = _is_local(compiles) and _is_local(measures)
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
            each.shutdown(wait=False, cancel_futures=True)
