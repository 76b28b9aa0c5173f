"""docs/machines.md is what tools/machine_table.py prints, and holds what the rules promise for every processor."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/machines.md").read_text()


def test_the_page_is_what_is_chosen_now():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/machine_table.py", "--print"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == PAGE, "python tools/machine_table.py writes it anew"


def test_cores_of_one_architecture_have_schedules_of_their_own():
    (section,) = re.findall(r"^## matmul 256 x 512 x 512\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    splits = dict(re.findall(r"^\| ([\w-]+) \| ([^|]*) \|", section, re.MULTILINE))
    assert len({splits[core] for core in ("cortex-a72", "neoverse-v1", "neoverse-v2")}) == 3
    assert len({splits[core] for core in ("haswell", "skylake-avx512", "sapphirerapids")}) == 3
