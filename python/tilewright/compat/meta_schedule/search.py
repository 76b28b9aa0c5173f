"""ms.search_strategy and ms.TuneContext."""

from typing import ClassVar

import numpy as np

from tilewright import schedule, tune
from tilewright.errors import Unsupported, UserError
from tilewright.target import Target

from .candidates import Created, MeasureCandidate, candidate_of, result_of
from .models import CostModel, create_model
from .rules import create_space
from .spaces import require_default


class TuneContext:
    """What is tuned: a module with one loop program, for a target, in a space, by a strategy.

    num_threads, logger  have no effect: candidates are made on all threads, and the table shows progress
    """

    def __init__(
        self,
        mod=None,
        *,
        target=None,
        space_generator=None,
        search_strategy=None,
        task_name: str = "main",
        rand_state: int = -1,
        num_threads="physical",
        logger=None,
    ):
        self.target = None if target is None else Target(target)
        self.task = None
        self.mod, self.task_name, self.rand_state = mod, task_name, rand_state
        self.num_threads, self.logger = num_threads, logger
        if mod is not None:
            (self.task,) = tune.tasks_of(mod, self.target or "llvm", exactly_one=True)
            self.mod = self.task.module
            self.task.name = task_name
        self.space_generator = None if space_generator is None else create_space(space_generator)
        self.search_strategy = None if search_strategy is None else create_strategy(search_strategy)
        self._search = None

    def clone(self) -> "TuneContext":
        """A context of the same parts."""
        copy = TuneContext.__new__(TuneContext)
        copy.__dict__.update(self.__dict__)
        copy._search = None
        return copy

    def generate_design_space(self) -> list:
        """Schedules of the space, whose samples are to be decided."""
        return self.space_generator.generate_design_space(self.mod)

    def pre_tuning(
        self,
        max_trials: int,
        num_trials_per_iter: int = 64,
        design_spaces=None,
        database=None,
        cost_model=None,
    ) -> None:
        """Starts the strategy."""
        space = self.space_generator
        designs = design_spaces if design_spaces is not None else self.generate_design_space()
        context = tune.SearchContext(
            self.task,
            space,
            [each.trace for each in designs],
            list(getattr(space, "postprocs", ())),
            getattr(space, "mutators", ()),
            create_model(cost_model),
            max(self.rand_state, 0),
        )
        self._search, self._left = self.search_strategy.start(context), [max_trials, num_trials_per_iter]

    def generate_measure_candidates(self) -> list | None:
        """The candidates to measure next; None at the end."""
        if self._search is None:
            raise UserError("generate_measure_candidates: call pre_tuning before")
        count = min(self._left)
        self._asked = self._search.ask(count) if count > 0 else []
        self._left[0] -= len(self._asked)
        return [candidate_of(each) for each in self._asked] or None

    def notify_runner_results(self, measure_candidates: list, results: list) -> None:
        """Tells the strategy what was measured."""
        self._search.tell(self._asked, [each.median for each in results])

    def post_tuning(self) -> None:
        """Ends the strategy."""
        self._search = None


class _ModelOf:
    """A model of TVM's form for the search of one task."""

    def __init__(self, model: CostModel, context: tune.SearchContext):
        self._model = model
        self._context = TuneContext(
            context.task.module, target=context.task.target, task_name=context.task.name
        )

    def predict(self, candidates: list) -> list[float]:
        scores = self._model.predict(self._context, [candidate_of(each) for each in candidates])
        return [float(each) for each in np.asarray(scores).reshape(-1)]

    def update(self, candidates: list, seconds: list[float]) -> None:
        given = [candidate_of(each) for each in candidates]
        self._model.update(self._context, given, [result_of(each) for each in seconds])


# ---------------------------------------------------------------- strategies


class _Strategy:
    """Of strategies: what TVM's have besides."""

    def clone(self):
        """Itself: a strategy is copied for each task."""
        return self

    def start(self, context: tune.SearchContext):
        if isinstance(context.cost_model, CostModel):
            context.cost_model = _ModelOf(context.cost_model, context)
        return super().start(context)


class Evolutionary(_Strategy, tune.Evolutionary):
    """tilewright's evolution."""


class ReplayTrace(_Strategy, tune.ReplayTrace):
    """Draws samples of the designs, and learns nothing."""


class ReplayFunc(_Strategy, tune.ReplayFunction):
    """Calls the function of the space again for each candidate."""


def EvolutionarySearch(
    *,
    population_size: int = 512,
    init_measured_ratio: float = 0.2,
    init_min_unmeasured: int = 50,
    max_fail_count: int = 5,
    genetic_num_iters: int = 4,
    genetic_mutate_prob: float = 0.85,
    genetic_max_fail_count: int = 10,
    eps_greedy: float = 0.05,
):
    """Evolution with TVM's arguments.

    Raises Unsupported for other values of those that the search does not have
    """
    require_default(
        "EvolutionarySearch",
        init_measured_ratio=(init_measured_ratio, 0.2),
        init_min_unmeasured=(init_min_unmeasured, 50),
        max_fail_count=(max_fail_count, 5),
        genetic_max_fail_count=(genetic_max_fail_count, 10),
    )
    return Evolutionary(population_size, genetic_num_iters, genetic_mutate_prob, eps_greedy)


def _replay_trace(max_fail_count: int = 100):
    require_default("ReplayTrace", max_fail_count=(max_fail_count, 100))
    return ReplayTrace()


class PySearchStrategy(tune.SearchStrategy):
    """The base class of strategies written in Python: generate_measure_candidates(), notify_runner_results(...), and others.

    pre_tuning(max_trials, num_trials_per_iter, design_spaces, database, cost_model) is called before, post_tuning() after.
    """

    def _initialize_with_tune_context(self, context) -> None:
        """Called with the TuneContext, before pre_tuning."""

    def pre_tuning(
        self, max_trials, num_trials_per_iter, design_spaces, database=None, cost_model=None
    ) -> None:
        """Called before the first candidates."""

    def post_tuning(self) -> None:
        """Called when tuning ends."""

    def generate_measure_candidates(self) -> list | None:
        """The candidates to measure next; None at the end."""
        raise Unsupported(f"{type(self).__name__} has no method generate_measure_candidates()")

    def notify_runner_results(self, measure_candidates: list, results: list) -> None:
        """Called with candidates and what was measured."""

    def clone(self):
        """A copy, for another task."""
        return type(self)()

    def start(self, context: tune.SearchContext):
        return _Asking(self, context)


class _Asking:
    """Asks a PySearchStrategy for one task."""

    running: ClassVar[list] = []

    def __init__(self, strategy: PySearchStrategy, context: tune.SearchContext):
        self._strategy, self._waiting, self._asked = strategy, [], []
        tuning = TuneContext(context.task.module, target=context.task.target, task_name=context.task.name)
        tuning.space_generator, tuning.search_strategy = context.space, strategy
        tuning.rand_state = context.seed
        strategy._initialize_with_tune_context(tuning)
        designs = []
        for trace in context.designs:
            sch = schedule.Schedule(context.task.module)
            trace.apply_to(sch._core)
            designs.append(sch)
        limits = _limits[-1] if _limits else (64, 64)
        strategy.pre_tuning(*limits, designs, None, context.cost_model)
        self.running.append(self)

    def ask(self, count: int) -> list:
        if not self._waiting:
            self._waiting = list(self._strategy.generate_measure_candidates() or [])
        self._asked, self._waiting = self._waiting[:count], self._waiting[count:]
        return [each.sch for each in self._asked]

    def tell(self, candidates: list, seconds: list[float]) -> None:
        self._strategy.notify_runner_results(self._asked, [result_of(each) for each in seconds])

    def end(self) -> None:
        self._strategy.post_tuning()


#: (trials, trials of an iteration) of the tuning that runs
_limits: list[tuple] = []


class limited:
    """A context in which PySearchStrategy.pre_tuning is told these numbers, and post_tuning is called at the end."""

    def __init__(self, trials: int, per_iteration: int):
        self._limit = (trials, per_iteration)

    def __enter__(self):
        _limits.append(self._limit)
        self._outer, _Asking.running = _Asking.running, []

    def __exit__(self, *_):
        _limits.pop()
        running, _Asking.running = _Asking.running, self._outer
        for each in running:
            each.end()


_STRATEGIES = {
    "evolutionary": lambda **named: EvolutionarySearch(**named) if named else Evolutionary(),
    "replay-trace": _replay_trace,
    "replay-func": ReplayFunc,
}


def create_strategy(kind="evolutionary", *args, **named):
    """The strategy of a name, or what is one already."""
    if isinstance(kind, tune.SearchStrategy):
        return kind
    if kind not in _STRATEGIES:
        raise UserError(
            f"strategy is {kind!r}, expected one of {', '.join(_STRATEGIES)}, or a SearchStrategy"
        )
    return _STRATEGIES[kind](*args, **named)


SearchStrategy = Created(
    "SearchStrategy",
    (PySearchStrategy,),
    {
        "native": tune.SearchStrategy,
        "create": staticmethod(create_strategy),
        "__doc__": PySearchStrategy.__doc__,
    },
)
STRATEGIES = {
    "SearchStrategy": SearchStrategy,
    "PySearchStrategy": PySearchStrategy,
    "EvolutionarySearch": EvolutionarySearch,
    "ReplayTrace": _replay_trace,
    "ReplayFunc": ReplayFunc,
    "MeasureCandidate": MeasureCandidate,
    "create": create_strategy,
}
