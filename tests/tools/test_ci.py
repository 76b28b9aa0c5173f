"""tools/ci.py: linters look at every file, also in folders called build."""

import fnmatch
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CI = runpy.run_path(str(ROOT / "tools/ci.py"))
tracked = CI["tracked"]


def test_ruff_reads_all_python():
    shown = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--show-files", "."],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    read = {Path(line).relative_to(ROOT).as_posix() for line in shown.splitlines()}
    assert sorted(set(tracked("*.py")) - read) == []


def test_spelling_is_checked_in_all_sources():
    skipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["codespell"]["skip"].split(",")
    names = tracked("*.cc", "*.h", "*.py", "*.md")
    assert [name for name in names if any(fnmatch.fnmatch(name, each) for each in skipped)] == []


def test_another_stage_may_be_left_out_each_day():
    names = [[stage.name for stage in CI["in_order_of_day"](CI["STAGES"], day)] for day in range(3)]
    assert [each[-3:] for each in names] == [
        ["slow", "sanitizers", "threads"],
        ["sanitizers", "threads", "slow"],
        ["threads", "slow", "sanitizers"],
    ]
    assert all(each[:5] == ["format", "layout", "build", "cpp", "python"] for each in names)


def test_stages_are_left_out_by_the_speed_of_the_machine():
    stages = {stage.name: stage for stage in CI["STAGES"]}
    left_out, quick = CI["is_left_out"], CI["PYTHON_S"]
    assert not left_out(stages["sanitizers"], 3000, quick, 4700)
    assert left_out(stages["sanitizers"], 3000, 2 * quick, 4700)
    assert not left_out(stages["python"], 4699, 2 * quick, 4700)
    assert not left_out(stages["slow"], 1e9, quick, float("inf"))
