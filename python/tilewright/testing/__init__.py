"""Helpers for the tests of your own programs, schedules and passes.

from tilewright.testing import assert_allclose, check_schedule
"""

from .._guard import guard_module
from ..ir import StructuralMismatch, assert_structural_equal
from .numbers import assert_allclose, tolerance_of, ulp_distance, whole_numbers
from .schedules import check_refused, check_schedule

__all__ = [
    "StructuralMismatch",
    "assert_allclose",
    "assert_structural_equal",
    "check_refused",
    "check_schedule",
    "tolerance_of",
    "ulp_distance",
    "whole_numbers",
]

guard_module(__name__, globals(), __all__)
