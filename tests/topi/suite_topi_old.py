"""Every case of old_*.py, the spellings of TVM; runs where `import tvm` is tilewright (see test_topi_old.py)."""

import types

import pytest
import tvm
from topi.table import check, load, of_dtypes
from tvm import te

from tilewright.compat import tables

OLD, NATIVE = load("old_*.py"), load("cases_*.py")
#: modules of functions of numbers and names, which have tests of their own
WITHOUT_TENSORS = {
    "tvm.topi.utils",
    "tvm.topi.util",
    "tvm.topi.tag",
    "tvm.topi.testing",
    "tvm.topi.nn.utils",
    "tvm.topi.nn.util",
}
WITHOUT_TENSORS |= {
    f"tvm.topi.{place}" for place in ("generic", "x86", "arm_cpu", "cuda", "gpu")
}  # schedules


def ids(cases):
    return [pytest.param(*each, id=f"{each[0].id}-{each[1]}") for each in of_dtypes(cases)]


@pytest.mark.parametrize(("case", "dtype"), ids(OLD))
def test_numbers(case, dtype):
    check(case, dtype)


def by_stages(inputs, outputs):
    """The function of a program as it was built until 2024."""
    return tvm.build(te.create_schedule([each.op for each in outputs]), [*inputs, *outputs], "llvm")


FIRST = list({case.name: case for case in OLD if case.by_stages}.values())


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in FIRST])
def test_numbers_by_stages(case):
    check(case, case.dtypes[0], by_stages)


def unwrapped(function) -> set:
    """The identities of a function and of those that it wraps."""
    found = set()
    while function is not None:
        found.add(id(function))
        function = getattr(function, "__wrapped__", None)
    return found


def reached(path: str):
    """What a case is named after: "topi.add" is tilewright's, "tvm.topi.add" the old spelling."""
    import tilewright

    thing = tilewright if path.startswith("topi.") else tvm
    for part in path.removeprefix("tvm.").split("."):
        thing = getattr(thing, part)
    return thing


def test_every_function_has_a_case():
    known = set().union(*(unwrapped(reached(case.name)) for case in [*OLD, *NATIVE]))
    missing = [
        f"{module}.{name}"
        for module, names in tables.MODULES.items()
        if module.startswith("tvm.topi") and module not in WITHOUT_TENSORS
        for name, value in names().items()
        if isinstance(value, types.FunctionType) and not name.startswith(("_", "schedule_", "guard"))
        and not value.__module__.endswith(".topi.utils")
        and not unwrapped(value) & known
    ]  # fmt: skip
    assert sorted(missing) == []
