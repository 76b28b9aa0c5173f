"""tvm.testing.parameter, parameters, fixture and parametrize_targets, as fixtures and marks of pytest.

`dtype = parameter("float32", "int8")` in a test module makes a fixture `dtype` that takes both values in turn;
`a, b = parameters((1, 2), (3, 4))` makes two that change together, which needs the hook of plugin.py.
"""

import functools


def _pytest():
    import pytest

    return pytest


def parameter(*values, ids=None, by_dict=None):
    """A fixture that takes each of the values.

    ids      how they show in the names of tests; default made by pytest
    by_dict  {id: value} instead of values and ids
    """
    if by_dict:
        ids, values = list(by_dict), list(by_dict.values())

    def value(request):
        return request.param

    return _pytest().fixture(params=list(values), ids=ids)(value)


class _Together:
    """Values that several parameters take together."""

    def __init__(self, value_sets, ids):
        self.value_sets = value_sets
        self.ids = ids


def parameters(*value_sets, ids=None):
    """One fixture per entry of a value set; the fixtures change together."""
    group = _Together(value_sets, ids)
    fixtures = []
    for _ in value_sets[0]:

        def value(request):
            return request.param

        value.tvm_together = group
        made = _pytest().fixture(value)
        made.tvm_together = group
        fixtures.append(made)
    return fixtures


def fixture(func=None, *, cache_return_value=False):
    """pytest.fixture; cache_return_value computes the value once for equal arguments."""
    if func is None:
        return functools.partial(fixture, cache_return_value=cache_return_value)
    if cache_return_value:
        func = functools.wraps(func)(functools.lru_cache(maxsize=None)(func))
    return _pytest().fixture(func)


def parametrize_targets(*args):
    """Runs a test that takes `target` (and `dev`) for the given targets, or for all that are enabled."""
    if len(args) == 1 and callable(args[0]):
        return args[0]

    def apply(test):
        test.tvm_targets = list(args)
        return test

    return apply


def exclude_targets(*args):
    """Runs a test for all enabled targets but these."""

    def apply(test):
        test.tvm_excluded_targets = list(args)
        return test

    return apply


def known_failing_targets(*args):
    """Marks a test as expected to fail for these targets."""

    def apply(test):
        test.tvm_failing_targets = list(args)
        return test

    return apply


def xfail_parameterizations(*ids, **options):
    """Marks a test as expected to fail for parameters of these names."""

    def apply(test):
        test.tvm_failing_ids = (ids, options)
        return test

    return apply
