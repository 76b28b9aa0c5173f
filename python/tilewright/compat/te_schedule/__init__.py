"""Schedules of tensor expressions by stages, as TVM had them until 2025: te.create_schedule and what belongs to it."""

from .flat_form import flat, guarded
from .lowering import scheduled
from .stages import Schedule, Stage, create_schedule, thread_axis

__all__ = ["NAMES", "Schedule", "flat", "guarded", "scheduled"]

NAMES = {
    "create_schedule": create_schedule,
    "thread_axis": thread_axis,
    "Schedule": Schedule,
    "Stage": Stage,
}
