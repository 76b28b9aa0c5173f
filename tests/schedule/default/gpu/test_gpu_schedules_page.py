"""The example of docs/gpu-schedules.md runs, and the page names the rules that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
PAGE = (ROOT / "docs/gpu-schedules.md").read_text()


def test_its_example_runs(capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = ROOT / "docs/gpu-schedules.md"
    scope = {"__name__": "page"}
    exec(compile("\n" * PAGE[: PAGE.index(block)].count("\n") + block, str(path), "exec"), scope)
    printed = capsys.readouterr().out
    assert "sch.bind(loop=" in printed
    assert "product: 3 samples; " in printed


def test_the_table_names_all_rules():
    rules = set(
        re.findall(
            r'(?:attempt|tile_by|note\(&attempts,)\(?"(\w+)"',
            (ROOT / "tilewright/schedule/default/gpu/schedule_for_gpu.cc").read_text(),
        )
    )
    assert rules == {
        "rows",
        "tensor_cores",
        "tiles",
        "columns",
        "transpose",
        "choose",
        "threads",
        "one_thread",
        "inline",
    }
    named = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(named) == rules
