"""The examples of docs/schedules.md run, in their order, and its rules are those of the code."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/schedules.md").read_text()


def test_its_examples_run(capsys):
    scope = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/schedules.md", "exec"), scope)
    printed = capsys.readouterr().out
    assert "sch.vectorize(" in printed and "T.unroll(" in printed


def test_the_table_has_rules_of_the_code():
    code = "".join(path.read_text() for path in (ROOT / "tilewright/schedule/default").rglob("*.[ch]*"))
    rules = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert len(rules) >= 8
    assert [rule for rule in rules if f'"{rule}"' not in code] == []
