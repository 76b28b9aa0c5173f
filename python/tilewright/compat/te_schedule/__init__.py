"""Schedules of tensor expressions by stages, as TVM had them until 2025: te.create_schedule and what belongs to it."""

from .flat_form import flat, guarded
from .lowering import scheduled
from .passes import NAMES as PASSES
from .stages import Schedule, Stage, create_schedule, thread_axis
from .tensor_intrin import TensorIntrin, decl_tensor_intrin

__all__ = ["NAMES", "OF_SCHEDULE", "Schedule", "flat", "guarded", "scheduled"]

NAMES = {
    "create_schedule": create_schedule,
    "thread_axis": thread_axis,
    "decl_tensor_intrin": decl_tensor_intrin,
    "TensorIntrin": TensorIntrin,
    "Schedule": Schedule,
    "Stage": Stage,
}

#: tvm.te.schedule
OF_SCHEDULE = {**NAMES, **PASSES}
