"""ms.measure_callback: what is told of measured candidates."""

from tilewright import tune
from tilewright.errors import Unsupported, UserError

from .candidates import candidate_of
from .running import BuilderResult, RunnerResult


class MeasureCallback:
    """The base class of callbacks written in Python: apply(task_scheduler, task_id, measure_candidates, builder_results, runner_results)."""

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results) -> None:
        """Called after an iteration."""
        raise Unsupported(f"{type(self).__name__} has no method apply(task_scheduler, task_id, ...)")

    @staticmethod
    def create(kind: str = "default") -> list:
        """What always happens: records are added, models learn, libraries are removed."""
        if kind != "default":
            raise UserError(f'MeasureCallback.create: there is no "{kind}"\nhelp: use "default"')
        return [AddToDatabase(), UpdateCostModel(), RemoveBuildArtifact()]


class _Always(MeasureCallback):
    def apply(self, *_) -> None:
        """Nothing: the tuner does it, also where this callback is not given."""


class AddToDatabase(_Always):
    """Every trial is recorded; in a list of callbacks or not."""


class UpdateCostModel(_Always):
    """The cost model always learns."""


class RemoveBuildArtifact(_Always):
    """Libraries of candidates are always removed."""


class _NativeCallback(tune.MeasureCallback):
    def __init__(self, callback: MeasureCallback, scheduler, tasks: list):
        self.callback, self.scheduler = callback, scheduler
        self.places = {id(task): place for place, task in enumerate(tasks)}

    def measured(self, result, candidates: list, records: list) -> None:
        place = self.places[id(result.task)]
        given = [candidate_of(each) for each in candidates]
        built = [BuilderResult(None if each.failure else "", each.failure or None) for each in records]
        ran = [RunnerResult(each.seconds or None, each.failure or None) for each in records]
        self.callback.apply(self.scheduler, place, given, built, ran)


def native_callbacks(callbacks, scheduler, tasks: list) -> list:
    """Callbacks in the form of tilewright.tune; those of what always happens are left out."""
    if isinstance(callbacks, str):
        callbacks = MeasureCallback.create(callbacks)
    given = callbacks if isinstance(callbacks, list | tuple) else [callbacks]
    for each in given:
        if not isinstance(each, MeasureCallback):
            raise UserError(f"measure_callbacks has a Python {type(each).__name__}, expected MeasureCallback")
    return [_NativeCallback(each, scheduler, tasks) for each in given if not isinstance(each, _Always)]


CALLBACKS = {
    "MeasureCallback": MeasureCallback,
    "PyMeasureCallback": MeasureCallback,
    "AddToDatabase": AddToDatabase,
    "UpdateCostModel": UpdateCostModel,
    "RemoveBuildArtifact": RemoveBuildArtifact,
}
