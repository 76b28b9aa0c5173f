"""tools/replay.py tells whether generated code changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPLAY = ROOT / "tools/replay.py"


def replay(*args, **env):
    done = subprocess.run(
        [sys.executable, REPLAY, *args], capture_output=True, text=True, env=os.environ | env
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def part():
    code, lines = replay("--part", "--only", "haswell")
    assert code == 0
    return lines


def test_what_is_made_for_another_processor_depends_on_neither_threads_nor_caches(part, tmp_path):
    before = tmp_path / "before.txt"
    before.write_text(part)
    env = {"TILEWRIGHT_NUM_THREADS": "1", "TILEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    code, text = replay("--part", "--only", "haswell", "--against", before, **env)
    assert text == f"replay: unchanged ({len(part.splitlines())} programs and processors)\n"
    assert code == 0


def test_there_are_a_hundred_programs_of_tests_and_none_is_refused(part):
    names = {line.split()[0].split("/")[1] for line in part.splitlines()}
    assert sum(name.startswith("test_") for name in names) >= 100
    # the hash of no assembly: what was refused
    assert not [line for line in part.splitlines() if line.endswith(" e3b0c44298fc")]


def test_what_changed_is_named(part, tmp_path):
    lines = part.splitlines()
    name, lowered, assembly = next(line for line in lines if "haswell/fashion_mnist" in line).split()
    before = tmp_path / "before.txt"

    def report(line):
        before.write_text(line + "\n")
        return replay("--part", "--only", "haswell/fashion_mnist", "--against", before)

    assert report(f"{name} {lowered} {assembly}") == (0, "replay: unchanged (1 programs and processors)\n")
    assert report(f"{name} 000000000000 {assembly}")[1].splitlines()[0] == "haswell/fashion_mnist: lowered"
    assert (
        report(f"{name} {lowered} 000000000000")[1].splitlines()[0] == "haswell/fashion_mnist: assembly alone"
    )
    code, text = report("haswell/other 000000000000 000000000000")
    assert code == 1
    assert text.splitlines()[0] == "haswell/fashion_mnist: not in both"
