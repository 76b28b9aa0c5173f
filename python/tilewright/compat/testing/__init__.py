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


def strtobool(val: str) -> bool:
    """True if a text, as in an environment variable, says yes; ValueError if it says neither yes nor no."""
    if val.lower() in ("y", "yes", "t", "true", "on", "1"):
        return True
    if val.lower() in ("n", "no", "f", "false", "off", "0"):
        return False
    raise ValueError(f"{val!r} says neither yes nor no")


def check_numerical_grads(
    function, input_values, grad_values, function_value=None, delta=1e-3, atol=1e-2, rtol=0.1
) -> None:
    """Nothing if `grad_values` agree with differences of `function`; else AssertionError.

    function        of arrays, by position or, where input_values is a dictionary, by name; gives a number
    input_values    where; each is left as it is
    grad_values     as input_values
    function_value  not needed
    delta           how far to both sides
    """
    is_named = isinstance(input_values, dict)
    names = list(input_values) if is_named else range(len(input_values))
    values = {name: numpy.array(_array(input_values[name]), "float64") for name in names}
    for name in names:
        found = numpy.zeros_like(values[name])
        for place in numpy.ndindex(found.shape):
            results = []
            for step in (delta, -delta):
                moved = {**values, name: values[name].copy()}
                moved[name][place] += step
                results.append(function(**moved) if is_named else function(*moved.values()))
            found[place] = (float(results[0]) - float(results[1])) / (2 * delta)
        numpy.testing.assert_allclose(_array(grad_values[name]), found, rtol=rtol, atol=atol)


def object_use_count(obj) -> int:
    """How many Python names hold `obj`."""
    return sys.getrefcount(obj) - 2


__all__ = [
    "CompareBeforeAfter", "assert_allclose", "assert_prim_expr_equal", "check_bool_expr_is_true",
    "check_numerical_grads", "device_enabled",
    "enabled_targets", "exclude_targets", "fixture", "identity_after", "known_failing_targets", "main",
    "object_use_count", "parameter", "parameters", "parametrize_targets", "skip_if_32bit", "skip_if_wheel_test", "slow", "strtobool",
    "uses_gpu", "xfail_parameterizations",
]  # fmt: skip

NAMES = {**{name: globals()[name] for name in __all__}, **features.REQUIREMENTS}
