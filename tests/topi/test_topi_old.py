"""The spellings of TVM for topi, in a process where `import tvm` is tilewright."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/topi"
SUITES = sorted(FOLDER.glob("suite_*.py"))


def run(*words: str) -> str:
    env = os.environ | {"PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, env=env, timeout=900, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    return done.stdout


def test_suites():
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tilewright.compat.pytest"]
    assert "passed" in run(*words, *(str(suite) for suite in SUITES))
