"""Which task gets the next iteration."""

from ..errors import Unsupported, UserError

#: what a task is expected to gain at least after an iteration that gained nothing
_LEAST_GAIN = 0.02


class TaskScheduler:
    """Chooses the next task; a subclass needs next_task(tasks).

    >>> class Heaviest(tilewright.tune.TaskScheduler):
    ...     def next_task(self, tasks):
    ...         weights = {n: each.result.task.weight for n, each in enumerate(tasks) if not each.result.is_done}
    ...         return max(weights, key=weights.get, default=None)
    """

    def next_task(self, tasks: list) -> int | None:
        """The place in `tasks` of the task whose candidates are measured next; None ends tuning.

        tasks  each with `result`, its TaskResult, and `last_gain`, the share of its time that its last iteration saved; one
               whose result.is_done has no candidates left
        """
        raise Unsupported(
            f"{type(self).__name__} has no method next_task(tasks)\nhelp: define it, as tune.RoundRobin does"
        )


class RoundRobin(TaskScheduler):
    """One task after the other.

    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), scheduler=tilewright.tune.RoundRobin())
    """

    def __init__(self):
        self._last = -1

    def next_task(self, tasks: list) -> int | None:
        for step in range(1, len(tasks) + 1):
            place = (self._last + step) % len(tasks)
            if not tasks[place].result.is_done:
                self._last = place
                return place
        return None


class Gradient(TaskScheduler):
    """The task whose next iteration promises most: its share of the time, times what its last one gained.

    least_gain  what an iteration is expected to gain after one that gained nothing, 0 to 1; default 0.02
    Raises      UserError for other numbers
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), scheduler=tilewright.tune.Gradient(0.1))
    """

    def __init__(self, least_gain: float = _LEAST_GAIN):
        if not 0 <= least_gain <= 1:
            raise UserError(f"Gradient: least_gain is {least_gain}, expected 0 to 1")
        self.least_gain = least_gain

    def next_task(self, tasks: list) -> int | None:
        def promise(place: int) -> float:
            result = tasks[place].result
            gain = max(tasks[place].last_gain, self.least_gain)
            return result.task.weight * (result.cost or 0.0) * gain

        return max((n for n, each in enumerate(tasks) if not each.result.is_done), key=promise, default=None)


def chosen_by(scheduler: TaskScheduler, tasks: list):
    """The task that a scheduler chooses; None ends tuning.

    Raises UserError for what is no place of a task that has candidates left
    """
    place = scheduler.next_task(tasks)
    if place is None:
        return None
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(tasks):
        raise UserError(
            f"{type(scheduler).__name__}.next_task gave {place!r}, expected 0 to {len(tasks) - 1} or None"
        )
    if tasks[place].result.is_done:
        raise UserError(
            f"{type(scheduler).__name__}.next_task gave task {place}, which has no candidates left\n"
            "help: look at tasks[n].result.is_done"
        )
    return tasks[place]
