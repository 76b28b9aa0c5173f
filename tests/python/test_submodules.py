"""Every package of tilewright is there after `import tilewright`, without an import of its own."""

import pkgutil
import subprocess
import sys

import pytest

import tilewright


def packages() -> list[str]:
    return sorted(
        info.name
        for info in pkgutil.walk_packages(tilewright.__path__, "tilewright.")
        if info.ispkg
        and not any(part.startswith("_") for part in info.name.split("."))
        and "compat." not in info.name
    )


@pytest.mark.parametrize("name", [*packages(), "tilewright.frontend.onnx", "tilewright.relax.transform"])
def test_it_is_there(name):
    done = subprocess.run(
        [sys.executable, "-c", f"import tilewright\nprint({name}.__name__)"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"{name}\n", "")
