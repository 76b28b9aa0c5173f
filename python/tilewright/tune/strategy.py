"""Search strategies: which candidates of a space are measured next."""

import copy
import random
from dataclasses import dataclass, field

from .. import _core
from ..errors import Error, InternalError, Unsupported, UserError
from ..schedule import Schedule, Trace
from .arguments import require_whole
from .mutator import undecided, weighted
from .postproc import as_function
from .space import DefaultSpace


@dataclass
class SearchContext:
    """The task of a search, and the parts that it needs.

    task        the Task
    space       the SpaceGenerator that it comes from
    designs     traces of the space, whose samples are to be decided
    postprocs   a list of Postproc, which candidates have to pass
    mutators    {Mutator: weight}; default: samples of all kinds
    cost_model  an object with predict and update; None: random scores
    seed        of what is drawn
    plans       designs that the rules of the default schedule complete, for strategies in C++
    """

    task: object
    space: object
    designs: list
    postprocs: list = field(default_factory=list)
    mutators: dict = field(default_factory=dict)
    cost_model: object = None
    seed: int = 0
    plans: list = field(default_factory=list)

    def replay(self, trace: Trace, seed: int = 0) -> Schedule | None:
        """The program after the steps of a trace and the postprocessors; None if one of them refuses.

        seed  of samples that the trace leaves open
        """
        return passed(self._replayed(trace, seed), self.postprocs)

    def _replayed(self, trace: Trace, seed: int) -> Schedule | None:
        sch = Schedule(self.task.module, seed=seed, error_render_level="none")
        try:
            trace.apply_to(sch._core)
        except InternalError:
            raise
        except Error:
            return None
        return sch


def passed(sch: Schedule | None, postprocs: list) -> Schedule | None:
    """A schedule after postprocessors; None if one of them refuses."""
    if sch is not None and postprocs:
        sch.enter_postproc()
    for each in postprocs:
        if sch is None:
            return None
        core = as_function(each)(sch._core)
        sch = None if core is None else Schedule._of(core)
    return sch


class SearchStrategy:
    """Chooses candidates; a subclass needs ask(count), and may have initialize() and tell(candidates, seconds).

    Each task has a copy of the strategy, with `context`, a SearchContext.
    >>> class Widest(tilewright.tune.SearchStrategy):
    ...     def initialize(self):
    ...         self.seeds = iter(range(4))
    ...     def ask(self, count):
    ...         tries = (self.context.replay(self.context.designs[0], seed) for seed in self.seeds)
    ...         return [sch for sch in tries if sch is not None][:count]
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=4, strategy=Widest())
    """

    #: False: ask is called also for a space whose designs draw nothing, and decides about these as well
    needs_samples = False
    context: SearchContext

    def start(self, context: SearchContext):
        """A copy of this strategy that asks and tells for one task; its ask gives no more than it is asked for."""
        mine = copy.copy(self)
        mine.context = context
        mine.initialize()
        mine.ask = _limited(mine)
        return mine

    def initialize(self) -> None:
        """Called before the first ask."""

    def ask(self, count: int) -> list[Schedule]:
        """At most `count` schedules of context.task.module to measure; empty: there are no others."""
        raise Unsupported(
            f"{type(self).__name__} has no method ask(count)\nhelp: define it, as tune.ReplayFunction does"
        )

    def tell(self, candidates: list, seconds: list[float]) -> None:
        """Called with the candidates that ask gave, and the time of each in seconds; infinity: it failed."""


def _limited(strategy: SearchStrategy):
    """The ask of a strategy, cut to as many as it is asked for."""
    ask, name = strategy.ask, type(strategy).__name__

    def limited(count: int) -> list:
        found = ask(count)
        if found is not None and not isinstance(found, list | tuple):
            raise UserError(f"{name}.ask gave a Python {type(found).__name__}, expected a list of Schedules")
        return list(found or [])[:count]

    return limited


@dataclass(frozen=True)
class Evolutionary(SearchStrategy):
    """Evolution of candidates, which a cost model ranks; in C++, on all threads.

    population      candidates of a generation, >= 1; default 128
    generations     between two measurements, >= 0; default 4
    mutation_share  of a generation that changes, 0 to 1; default 0.85
    random_share    of what is measured that is drawn, not chosen by the model, 0 to 1; default 0.05
    >>> strategy = tilewright.tune.Evolutionary(population=32, generations=2)
    """

    population: int = 128
    generations: int = 4
    mutation_share: float = 0.85
    random_share: float = 0.05
    needs_samples = True

    def start(self, context: SearchContext):
        program = Schedule(context.task.module, error_render_level="none")
        limits = []
        if _core.is_gpu(context.task.target):  # of threads, registers and shared memory, in any space
            limits = [_core.GpuModel(context.task.target)]
        elif isinstance(context.space, DefaultSpace):
            limits = [_core.CodeLimits(context.task.target)]
        return _core.Search(
            program._core,
            [*context.designs, *context.plans],
            [*limits, *(as_function(each) for each in context.postprocs)],
            context.cost_model,
            context.seed,
            self.population,
            self.generations,
            weighted(context.mutators),
            self.mutation_share,
            self.random_share,
        )


@dataclass(frozen=True)
class ReplayTrace(SearchStrategy):
    """Draws the samples of designs, and learns nothing.

    >>> strategy = tilewright.tune.ReplayTrace()
    """

    needs_samples = True

    def start(self, context: SearchContext):
        return Evolutionary(generations=0).start(context)


class ReplayFunction(SearchStrategy):
    """Calls the function of the space again for each candidate, with samples drawn anew.

    most_failures  refused or repeated schedules in a row before it takes what it has, >= 1; default 64
    Raises         UserError for another number
    >>> strategy = tilewright.tune.ReplayFunction()
    """

    def __init__(self, most_failures: int = 64):
        require_whole("ReplayFunction", 1, most_failures=most_failures)
        self.most_failures = most_failures

    def initialize(self) -> None:
        self._random, self._seen = random.Random(self.context.seed), set()

    def ask(self, count: int) -> list[Schedule]:
        found, failures = [], 0
        while len(found) < count and failures < self.most_failures:
            sch = passed(self._drawn(), self.context.postprocs)
            key = None if sch is None else sch.trace.save_json()
            failures += 1
            if key is not None and key not in self._seen:
                self._seen.add(key)
                found.append(sch)
                failures = 0
        return found

    def _drawn(self) -> Schedule | None:
        seed = self._random.getrandbits(63)
        function = getattr(self.context.space, "sampled", None)
        if function is None:
            design = self.context.designs[self._random.randrange(len(self.context.designs))]
            return self.context._replayed(undecided(design), seed)
        try:
            schedules = function(self.context.task, seed)
        except InternalError:
            raise
        except Error:
            return None
        return schedules[self._random.randrange(len(schedules))]


class Candidate:
    """A schedule that a strategy written in Python asks for, in the form of the search's candidates."""

    def __init__(self, schedule: Schedule):
        self.sch = schedule._core


def asked(strategy: str, found) -> list:
    """The candidates that ask gave: Schedules, or candidates of the search.

    Raises UserError for other values
    """
    candidates = []
    for each in found or []:
        if not isinstance(each, Schedule | _core.Candidate):
            raise UserError(f"{strategy}.ask gave a Python {type(each).__name__}, expected Schedules")
        candidates.append(Candidate(each) if isinstance(each, Schedule) else each)
    return candidates
