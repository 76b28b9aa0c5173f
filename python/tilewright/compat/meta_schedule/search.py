"""ms.search_strategy, ms.cost_model, ms.task_scheduler and ms.TuneContext."""

from pathlib import Path
from typing import ClassVar

import numpy as np

from tilewright import schedule, tune
from tilewright.errors import Unsupported, UserError
from tilewright.target import Target

from .running import RunnerResult, arguments_of_func
from .spaces import create_space, require_default


class MeasureCandidate:
    """A schedule to measure, with what its parameters are."""

    def __init__(self, sch, args_info=None):
        self.sch, self.native = sch, None
        self.args_info = list(args_info) if args_info is not None else None


def candidate_of(each) -> MeasureCandidate:
    """A schedule, or a candidate of the search, as MeasureCandidate."""
    sch = each if isinstance(each, schedule.Schedule) else schedule.Schedule._of(each.sch)
    (func,) = [func for _, func in sch.mod.functions_items()]
    made = MeasureCandidate(sch, arguments_of_func(func))
    made.native = None if each is sch else each
    return made


def result_of(seconds: float) -> RunnerResult:
    """A time as RunnerResult; infinity: it failed."""
    return RunnerResult([seconds], None) if np.isfinite(seconds) else RunnerResult(None, "it failed")


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


class _Created(type):
    """SearchStrategy, CostModel and TaskScheduler: create(kind) makes what isinstance then knows."""

    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, cls.native) if "native" in vars(cls) else super().__instancecheck__(value)


SearchStrategy = _Created(
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

# ---------------------------------------------------------------- cost models


class CostModel:
    """The base class of cost models written in Python: predict(context, candidates) and update(context, candidates, results)."""

    def load(self, path: str) -> None:
        """Reads the model from a file."""
        raise Unsupported(f"{type(self).__name__} has no method load(path)")

    def save(self, path: str) -> None:
        """Writes the model to a file."""
        raise Unsupported(f"{type(self).__name__} has no method save(path)")

    def update(self, context: TuneContext, candidates: list, results: list) -> None:
        """Learns from what was measured."""

    def predict(self, context: TuneContext, candidates: list):
        """A score for each, higher is faster."""
        raise Unsupported(f"{type(self).__name__} has no method predict(context, candidates)")

    @staticmethod
    def create(kind, *args, **named):
        """The model of a name."""
        return create_model(kind, *args, **named)


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


class RandomModel(CostModel):
    """Random scores.

    seed       of what it draws; default None, drawn
    path       a file to begin from; default none
    max_range  scores are whole numbers below it; default 100
    """

    def __init__(self, *, seed: int | None = None, path: str | None = None, max_range: int | None = 100):
        self.random_state, self.max_range = np.random.default_rng(seed), max_range or 100
        if path is not None:
            self.load(path)

    def load(self, path: str) -> None:
        self.random_state.bit_generator.state = np.load(path, allow_pickle=True).item()

    def save(self, path: str) -> None:
        with Path(path).open("wb") as file:
            np.save(file, self.random_state.bit_generator.state, allow_pickle=True)

    def predict(self, context: TuneContext, candidates: list):
        return self.random_state.integers(0, self.max_range, len(candidates)).astype("float64")


def create_model(kind, *args, **named):
    """The cost model of a name, "xgb", "random" or "none", or what is one already."""
    if kind is None or (not isinstance(kind, str) and hasattr(kind, "predict")):
        return kind
    if kind == "xgb":
        from .models import XGBModel

        return XGBModel(*args, **named)
    if kind in ("random", "none"):
        return RandomModel(*args, **named) if kind == "random" else tune.RandomModel()
    if kind == "mlp":
        raise Unsupported('cost_model "mlp": there is no neural model\nhelp: use "xgb"')
    raise UserError(f"cost_model is {kind!r}, expected one of xgb, random, none, or a CostModel")


# ---------------------------------------------------------------- task schedulers


class _Task:
    """A task as PyTaskScheduler.tasks_ has them."""

    def __init__(self, state):
        self._state = state
        self.task_weight, self.latency_ms = float(state.result.task.weight), []

    @property
    def is_terminated(self) -> bool:
        """True if it has no candidates left."""
        return self._state.result.is_done

    @property
    def ctx(self) -> TuneContext:
        """What is tuned."""
        task = self._state.result.task
        return TuneContext(task.module, target=task.target, task_name=task.name)

    @property
    def trials(self) -> int:
        """How many candidates were measured."""
        return self._state.result.trials


class PyTaskScheduler(tune.TaskScheduler):
    """The base class of schedulers written in Python: next_task_id() gives the place of a task in tasks_, or -1 at the end."""

    tasks_ = ()

    def _outer(self):
        return self

    def next_task_id(self) -> int:
        """The place in tasks_ of the task that is next; -1 at the end."""
        raise Unsupported(f"{type(self).__name__} has no method next_task_id()")

    def touch_task(self, task_id: int) -> None:
        """Does nothing: tasks are up to date."""

    def join_running_task(self, task_id: int) -> list:
        """[]: measurements of an iteration have ended when the next task is chosen."""
        return []

    def next_task(self, tasks: list) -> int | None:
        if len(self.tasks_) != len(tasks):
            self.tasks_ = [_Task(each) for each in tasks]
        place = self.next_task_id()
        return None if place == -1 else place


def GradientBased(*, alpha: float = 0.2, window_size: int = 3, seed: int = -1):
    """The task that promises most, by what its last iteration gained."""
    require_default("GradientBased", alpha=(alpha, 0.2), window_size=(window_size, 3), seed=(seed, -1))
    return tune.Gradient()


def create_scheduler(kind="gradient", *args, **named):
    """The scheduler of a name, or what is one already."""
    if isinstance(kind, tune.TaskScheduler):
        return kind
    kinds = {"gradient": GradientBased, "round-robin": tune.RoundRobin}
    if kind not in kinds:
        raise UserError(f"task_scheduler is {kind!r}, expected one of {', '.join(kinds)}, or a TaskScheduler")
    return kinds[kind](*args, **named)


TaskScheduler = _Created(
    "TaskScheduler",
    (PyTaskScheduler,),
    {
        "native": tune.TaskScheduler,
        "create": staticmethod(create_scheduler),
        "__doc__": PyTaskScheduler.__doc__,
    },
)
SCHEDULERS = {
    "TaskScheduler": TaskScheduler,
    "PyTaskScheduler": PyTaskScheduler,
    "GradientBased": GradientBased,
    "RoundRobin": tune.RoundRobin,
    "create": create_scheduler,
}
