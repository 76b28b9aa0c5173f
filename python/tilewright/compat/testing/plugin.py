"""tvm.testing.plugin: the pytest hooks behind parameters(...), `target` and `dev`.

conftest.py of a test suite: pytest_plugins = ["tvm.testing.plugin"]; `-p tilewright.compat.pytest` has it too.
"""

import pytest

import tilewright as tw

from .features import _device_of, enabled_targets


def pytest_configure(config):
    """The marks that test suites of TVM use."""
    for mark in ("gpu", "slow", "skip_on_broadcast"):
        config.addinivalue_line("markers", f"{mark}: a mark of TVM's test suites")


def pytest_generate_tests(metafunc):
    """Parameters that change together, then targets."""
    _parametrize_together(metafunc)
    _parametrize_targets(metafunc)


def _groups(metafunc) -> dict:
    """{id of a group: (the group, its parameter names in order)} of what the test takes."""
    groups: dict = {}
    holders = [metafunc.module, metafunc.cls]
    for holder in holders:
        for name, value in vars(holder).items() if holder is not None else ():
            group = getattr(value, "tvm_together", None)
            if group is not None:
                groups.setdefault(id(group), (group, []))[1].append(name)
    return groups


def _parametrize_together(metafunc) -> None:
    for group, names in _groups(metafunc).values():
        used = [n for n, name in enumerate(names) if name in metafunc.fixturenames]
        if not used:
            continue
        values = [tuple(entry[n] for n in used) for entry in group.value_sets]
        metafunc.parametrize([names[n] for n in used], values, ids=group.ids, indirect=True)


def _parametrize_targets(metafunc) -> None:
    if "target" not in metafunc.fixturenames:
        return
    if any("target" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")):
        return
    test = metafunc.function
    targets = getattr(test, "tvm_targets", None) or [name for name, _ in enabled_targets()]
    excluded = getattr(test, "tvm_excluded_targets", [])
    failing = getattr(test, "tvm_failing_targets", [])
    params = [
        pytest.param(target, marks=[pytest.mark.xfail(reason="known to fail")] * (target in failing))
        for target in targets
        if target not in excluded
    ]
    metafunc.parametrize("target", params)


@pytest.fixture
def dev(target):
    """The device of the test's target."""
    return tw.device(_device_of(target))
