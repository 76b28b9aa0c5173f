"""docs/cli.md shows what `inspect` and `doctor` print now."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/cli.md").read_text()


def test_its_outputs_are_those_of_now(program):
    done = subprocess.run(
        [sys.executable, ROOT / "tools/cli_page.py", "--print"],
        env=os.environ | {"PATH": f"{Path(program).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert PAGE.count("$ tilewright inspect") >= 3
    assert done.stdout == PAGE, "python tools/cli_page.py writes it anew"
