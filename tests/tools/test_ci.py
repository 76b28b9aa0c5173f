"""tools/ci.py: linters look at every file, also in folders called build."""

import fnmatch
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
tracked = runpy.run_path(str(ROOT / "tools/ci.py"))["tracked"]


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
