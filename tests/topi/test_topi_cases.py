"""Every case of tests/topi/cases_*.py, and that every public function of tilewright.topi has one."""

import inspect

import pytest
from topi.table import check, load, of_dtypes

from tilewright import topi

CASES = load("cases_*.py")


@pytest.mark.parametrize(
    ("case", "dtype"), [pytest.param(*each, id=f"{each[0].id}-{each[1]}") for each in of_dtypes(CASES)]
)
def test_numbers(case, dtype):
    check(case, dtype)


def public_functions() -> set:
    """Names of the functions of tilewright.topi and of its modules, without what these import of each other."""
    modules = {"topi": topi} | {
        f"topi.{name}": module
        for name, module in vars(topi).items()
        if inspect.ismodule(module)
        and module.__name__.startswith("tilewright.topi.")
        and not name.startswith("_")
    }
    return {
        f"{place}.{name}"
        for place, module in modules.items()
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "").startswith(module.__name__)
        and callable(value)
    }


def test_every_function_has_a_case():
    assert sorted(public_functions() - {case.name for case in CASES}) == []
