"""tvm.testing: what test suites written for TVM use around pytest."""

import inspect
import sys

import numpy

import tilewright as tw

from . import features
from .compare import CompareBeforeAfter
from .features import device_enabled, enabled_targets
from .parameters import (
    exclude_targets,
    fixture,
    known_failing_targets,
    parameter,
    parameters,
    parametrize_targets,
    xfail_parameterizations,
)


def main() -> None:
    """Runs pytest on the file that calls it, with the arguments of the command line, and exits."""
    import pytest

    file = inspect.getsourcefile(sys._getframe(1))
    sys.exit(pytest.main([file, *sys.argv[1:]]))


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7, verbose=True) -> None:
    """numpy.testing.assert_allclose of arrays or tensors, whose shapes must be equal too."""
    actual, desired = (_array(value) for value in (actual, desired))
    numpy.testing.assert_allclose(actual.shape, desired.shape)
    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=verbose)


def _array(value):
    return value.numpy() if hasattr(value, "numpy") else numpy.asanyarray(value)


def assert_prim_expr_equal(lhs, rhs) -> None:
    """Nothing if the two integer expressions are proved equal; else ValueError."""
    if not tw.arith.Analyzer().can_prove_equal(lhs, tw.tir.const_like(rhs, lhs)):
        raise ValueError(f"{lhs} and {rhs} are not proved equal")


def check_bool_expr_is_true(bool_expr, vranges: dict, cond=None) -> None:
    """Nothing if `bool_expr` is proved for variables in their ranges, where `cond` holds; else AssertionError."""
    analyzer = tw.arith.Analyzer()
    for var, domain in vranges.items():
        analyzer.bind(var, domain)
    if cond is not None:
        analyzer.require(cond)
    assert analyzer.can_prove(bool_expr), f"{bool_expr} is not proved"


def identity_after(x, sleep: float):
    """`x`, after so many seconds."""
    import time

    time.sleep(sleep)
    return x


def slow(test):
    """Marks a test as slow."""
    import pytest

    return pytest.mark.slow(test)


def uses_gpu(*args):
    """Marks a test that uses a GPU if there is one."""
    return features.decorate([], args)


def skip_if_32bit(reason="is not for 32-bit machines"):
    """Skips a test on a machine of 32 bits."""
    import pytest

    return pytest.mark.skipif(sys.maxsize < 2**32, reason=reason)


def skip_if_wheel_test(test):
    """The test itself: nothing is skipped for being a wheel."""
    return test


def object_use_count(obj) -> int:
    """How many Python names hold `obj`."""
    return sys.getrefcount(obj) - 2


__all__ = [
    "CompareBeforeAfter", "assert_allclose", "assert_prim_expr_equal", "check_bool_expr_is_true", "device_enabled",
    "enabled_targets", "exclude_targets", "fixture", "identity_after", "known_failing_targets", "main",
    "object_use_count", "parameter", "parameters", "parametrize_targets", "skip_if_32bit", "skip_if_wheel_test", "slow",
    "uses_gpu", "xfail_parameterizations",
]  # fmt: skip

NAMES = {**{name: globals()[name] for name in __all__}, **features.REQUIREMENTS}
