"""docs/how-a-model-travels.md is what tools/travel_page.py prints, and the rooms that it names are there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-a-model-travels.md").read_text()


def test_the_page_is_what_the_compiler_does_now():
    tool = [sys.executable, ROOT / "tools/travel_page.py", "--print"]
    done = subprocess.run(tool, capture_output=True, text=True, check=True)
    assert done.stdout == PAGE, "python tools/travel_page.py writes it anew"


def test_its_rooms_are_folders():
    rooms = re.findall(r"`((?:relax|schedule|codegen|frontend|runtime)/[\w/]+)`", PAGE)
    assert len(rooms) >= 10
    assert [room for room in rooms if not (ROOT / "tilewright" / room).is_dir()] == []
