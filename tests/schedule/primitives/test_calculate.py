"""calculate: numbers made of sampled ones (tests/schedule/test_sampled_values.py: in Python's operators)."""

import pytest
from primitive_testing import double

import tilewright


@pytest.mark.parametrize(
    ("operation", "a", "b", "expected"),
    [
        ("+", 5, 7, 12),
        ("-", 5, 7, -2),
        ("*", -5, 7, -35),
        ("//", -7, 2, -4),
        ("%", -7, 2, 1),
        ("min", 5, 7, 5),
        ("max", 5, 7, 7),
        ("*", 2**31, 2**31, 2**62),
    ],
)
def test_operations(operation, a, b, expected):
    sch = tilewright.Schedule(double)
    assert sch.get(sch.calculate(operation, a, b)) == expected


@pytest.mark.parametrize(
    ("operation", "a", "b", "text"),
    [
        ("^", 1, 2, 'error: calculate: there is no operation "^"\nhelp: it is one of + - * // % min max'),
        ("//", 5, 0, "error: calculate: 5 // 0 is no 64-bit integer"),
        ("%", 5, 0, "error: calculate: 5 % 0 is no 64-bit integer"),
        ("+", 2**63 - 1, 1, "error: calculate: 9223372036854775807 + 1 is no 64-bit integer"),
        ("//", -(2**63), -1, "error: calculate: -9223372036854775808 // -1 is no 64-bit integer"),
    ],
)
def test_refused(operation, a, b, text):
    sch = tilewright.Schedule(double)
    with pytest.raises(tilewright.UserError) as refusal:
        sch.calculate(operation, a, b)
    assert str(refusal.value) == text
