"""ms.task_scheduler: which task is tuned next."""

from tilewright import tune
from tilewright.errors import Unsupported, UserError

from .candidates import Created
from .search import TuneContext
from .spaces import require_default


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


class Tunes:
    """Of schedulers: tuning without ms.tune_tasks."""

    tasks_ = ()
    #: ms.tune_tasks, which tuning.py sets
    tune_tasks = None

    def tune(
        self,
        tasks: list,
        task_weights: list,
        max_trials_global: int,
        max_trials_per_task: int | None = None,
        num_trials_per_iter: int = 64,
        builder="local",
        runner="local",
        measure_callbacks="default",
        database=None,
        cost_model=None,
    ) -> None:
        """Tunes contexts, and adds records to the database."""
        self.tune_tasks(
            tasks=tasks,
            task_weights=task_weights,
            work_dir=None,
            max_trials_global=max_trials_global,
            max_trials_per_task=max_trials_per_task,
            num_trials_per_iter=num_trials_per_iter,
            builder=builder,
            runner=runner,
            measure_callbacks=measure_callbacks,
            database="memory" if database is None else database,
            cost_model="random" if cost_model is None else cost_model,
            task_scheduler=self,
        )

    def next_task(self, tasks: list) -> int | None:
        self.tasks_ = [_Task(each) for each in tasks]
        return super().next_task(tasks)

    def terminate_task(self, task_id: int) -> None:
        """Measures nothing more of a task."""
        self.tasks_[task_id]._state.result.is_done = True

    def touch_task(self, task_id: int) -> None:
        """Does nothing: tasks are up to date."""

    def join_running_task(self, task_id: int) -> list:
        """[]: measurements of an iteration have ended when the next task is chosen."""
        return []


class PyTaskScheduler(Tunes, tune.TaskScheduler):
    """The base class of schedulers written in Python: next_task_id() gives the place of a task in tasks_, or -1 at the end."""

    def _outer(self):
        return self

    def next_task_id(self) -> int:
        """The place in tasks_ of the task that is next; -1 at the end."""
        raise Unsupported(f"{type(self).__name__} has no method next_task_id()")

    def next_task(self, tasks: list) -> int | None:
        self.tasks_ = [_Task(each) for each in tasks]
        place = self.next_task_id()
        return None if place == -1 else place


class _Gradient(Tunes, tune.Gradient):
    """tilewright's choice, by what iterations gained."""


class RoundRobin(Tunes, tune.RoundRobin):
    """One task after the other."""


def GradientBased(*, alpha: float = 0.2, window_size: int = 3, seed: int = -1):
    """The task that promises most, by what its last iteration gained."""
    require_default("GradientBased", alpha=(alpha, 0.2), window_size=(window_size, 3), seed=(seed, -1))
    return _Gradient()


def create_scheduler(kind="gradient", *args, **named):
    """The scheduler of a name, or what is one already."""
    if isinstance(kind, tune.TaskScheduler):
        return kind
    kinds = {"gradient": GradientBased, "round-robin": RoundRobin}
    if kind not in kinds:
        raise UserError(f"task_scheduler is {kind!r}, expected one of {', '.join(kinds)}, or a TaskScheduler")
    return kinds[kind](*args, **named)


TaskScheduler = Created(
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
    "RoundRobin": RoundRobin,
    "create": create_scheduler,
}
