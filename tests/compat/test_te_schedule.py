"""Schedules of tensor expressions by stages; each suite runs in a process of its own, where `import tvm` is ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "te_schedule"


@pytest.mark.parametrize("suite", sorted(file.stem for file in FOLDER.glob("suite_*.py")))
def test_suite(suite):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tilewright.compat.pytest"]
    env = os.environ | {"PYTHONPATH": f"{FOLDER}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [*words, f"{FOLDER / suite}.py"], capture_output=True, text=True, env=env, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
