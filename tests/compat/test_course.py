"""The course's texts run as written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SEEDS = Path(__file__).resolve().parents[3] / "shared/seeds"
pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="../shared is absent")


def run_document(*words):
    command = [sys.executable, "-m", "tilewright.compat", str(SEEDS / "run_doc.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=500, check=False)
    return done.stdout + done.stderr


def test_document_004_runs_and_prints_what_was_published():
    pytest.importorskip("torch")
    output = run_document(str(SEEDS / "004_end_to_end_old_api"))
    assert "ran 23 passed 23" in output, output
    assert "output differs [exact text]" not in output, output


def test_chapters_2_and_3_run():
    pytest.importorskip("torch")
    output = run_document(str(SEEDS / "000_mlc_book"), "--only", "004-093")
    assert "ran 71 passed 71" in output, output
