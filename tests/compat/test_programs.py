"""Programs written for TVM, each run as `python -m tilewright.compat programs/NAME.py`; they end with "ok"."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "programs"


def run(*words) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        env=os.environ,
        timeout=300,
        check=False,
    )
    return done.stderr + done.stdout


@pytest.mark.parametrize(
    "name", sorted(file.stem for file in FOLDER.glob("*.py") if file.stem != "suite_of_tests")
)
def test_program(name):
    output = run("tilewright.compat", str(FOLDER / f"{name}.py"))
    assert output.endswith("ok\n"), output


def test_programs_print_as_they_were_written():
    assert 'with T.sblock("Y"):' in run("tilewright.compat", str(FOLDER / "newest.py"))
    assert 'T.Buffer[(5, 3), "float32"]' in run("tilewright.compat", str(FOLDER / "oldest.py"))


def test_suite_of_tests():
    words = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "tilewright.compat.pytest",
        str(FOLDER / "suite_of_tests.py"),
    ]
    output = run("pytest", *words)
    assert "11 passed, 2 skipped" in output, output


def test_suite_run_as_a_program():
    output = run("tilewright.compat", str(FOLDER / "suite_of_tests.py"), "-q", "-k", "test_runs")
    assert "1 passed" in output, output
