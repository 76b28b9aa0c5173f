"""The tests of this folder for CUDA, in a process whose driver is the emulation's."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from devices.programs import PROGRAMS

# operators take two minutes and more on a busy machine, and a test has five
OPERATOR_PARTS = 3


def selected(file: str) -> list[str]:
    """A file, or the operators of "test_operators.py, part 1"."""
    name, _, part = file.partition(", part ")
    operators = list(PROGRAMS)[int(part) :: OPERATOR_PARTS] if part else []
    test = f"{name}::test_numbers_are_those_of_the_cpu"
    return [f"{test}[{operator}-cuda]" for operator in operators] or [name]


@pytest.mark.parametrize(
    ("file", "marks"),
    [
        ("test_grids.py", "not slow"),
        *((f"test_operators.py, part {part}", "not slow") for part in range(OPERATOR_PARTS)),
        ("test_schedules.py", "not slow"),
        ("test_several_devices.py", "not slow"),
        ("test_models.py", "not slow"),
        pytest.param("test_models.py", "slow", marks=pytest.mark.slow),
    ],
)
def test_programs_run_on_the_emulation(file, marks):
    if os.environ.get("TILEWRIGHT_CUDA_EMULATION") == "1":
        pytest.skip("this is that process")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-k",
        "cuda",
        "-m",
        marks,
        *selected(file),
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and "failed" not in done.stdout
