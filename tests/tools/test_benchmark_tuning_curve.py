"""benchmarks/tuning_curve.py: a row for each model with the best speed after so many trials."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_rows():
    words = ["matmul128", "--models", "random", "analytic", "--trials", "4", "--per-iteration", "2"]
    script = ROOT / "benchmarks/tuning_curve.py"
    done = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=True)
    head, *rows = done.stdout.splitlines()
    assert head == "matmul128, seed 0 | 1 | 4 | of the default's speed | search (s) | all (s)"
    assert [row.split(" | ")[0] for row in rows] == ["random", "analytic"]
    for row in rows:
        assert re.fullmatch(r"\w+( \| \d\.\d\d){2} \| \d+\.\d\d \| \d+\.\d \| \d+\.\d", row)
