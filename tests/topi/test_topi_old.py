"""The spellings of TVM for topi, in a process where `import tvm` is tilewright."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/topi"
SUITES = sorted(file.stem for file in FOLDER.glob("suite_*.py"))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tilewright.compat.pytest"]
    env = os.environ | {"PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [*words, f"{FOLDER / suite}.py"],
        capture_output=True,
        text=True,
        env=env,
        timeout=800,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
