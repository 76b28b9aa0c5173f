"""relax.transform.MetaScheduleTuneTIR, MetaScheduleTuneIRMod and MetaScheduleApplyDatabase."""

from tilewright import relax, transform, tune
from tilewright.errors import UserError

from ..target import Target, target_or_current
from ..transform import ModulePass
from . import tuning
from .spaces import require_default

#: the passes that make a graph one of fused loop programs
TO_LOOPS = ("legalize_ops", "annotate_tir_op_pattern", "fold_constant", "fuse_ops", "fuse_tir")


def _pass(name: str, run) -> ModulePass:
    return ModulePass(run, transform.PassInfo(0, name, [], False))


def MetaScheduleTuneTIR(work_dir, max_trials_global: int):
    """Tunes the loop programs of a module for the current target; records go to work_dir."""

    def run(mod, context):
        tasks = [each for each in tune.tasks_of(mod, target_or_current(None)) if each.is_measurable]
        if tasks:
            tuning._tune(tasks, work_dir=work_dir, max_trials_global=max_trials_global)
        return mod

    return _pass("MetaScheduleTuneTIR", run)


def MetaScheduleTuneIRMod(
    params, work_dir, max_trials_global: int, max_trials_per_task: int | None = None, op_names=None
):
    """Tunes the loop programs of a graph for the current target; records go to work_dir."""

    def run(mod, context):
        tuning.tune_relax(
            mod, params, target_or_current(None), work_dir, max_trials_global, max_trials_per_task, op_names
        )
        return mod

    return _pass("MetaScheduleTuneIRMod", run)


def MetaScheduleApplyDatabase(work_dir=None, enable_warning: bool = False):
    """Gives loop programs the schedules of the database in work_dir, or of the current one.

    Raises UserError if there is neither
    """

    def run(mod, context):
        database = tuning._database_of(work_dir)
        if database is None:
            raise UserError(
                "MetaScheduleApplyDatabase: there is no database\nhelp: give work_dir=, or write it inside `with database:`"
            )
        return tuning.apply_database(mod, database, Target.current() or "llvm")

    return _pass("MetaScheduleApplyDatabase", run)


def static_shape_tuning_pipeline(
    total_trials: int = 0,
    target=None,
    work_dir: str = "tuning_logs",
    cpu_weight_prepack=False,
    max_trials_per_task: int | None = None,
):
    """A pass: legalise and fuse, tune if total_trials is above 0, and apply the records in work_dir."""
    require_default("static_shape_tuning_pipeline", cpu_weight_prepack=(cpu_weight_prepack, False))
    target = target_or_current(target)

    def run(mod, context):
        mod = transform.Sequential([getattr(relax.transform, name)() for name in TO_LOOPS])(mod)
        if total_trials > 0:
            tasks = [each for each in tune.tasks_of(mod, target) if each.is_measurable]
            tuning._tune(
                tasks,
                work_dir=work_dir,
                max_trials_global=total_trials,
                max_trials_per_task=max_trials_per_task,
            )
        database = tuning._database_of(work_dir)
        return mod if database is None else tuning.apply_database(mod, database, target)

    return _pass("static_shape_tuning_pipeline", run)


NAMES = {
    "MetaScheduleTuneTIR": MetaScheduleTuneTIR,
    "MetaScheduleTuneIRMod": MetaScheduleTuneIRMod,
    "MetaScheduleApplyDatabase": MetaScheduleApplyDatabase,
}
