"""docs/tvmscript.md says what is read: each row is read, printed in every dialect and read back as the same program."""

import re
import textwrap
from pathlib import Path

import pytest

import tilewright
from tilewright.script import parse

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/tvmscript.md"
ROW = re.compile(r"^\| (`.*`) \|.*\| (yes|input|no) \|$")


def rows() -> tuple[str, list]:
    """The head of the function around the rows, and [(its lines, state)]."""
    text = DOCUMENT.read_text()
    head = text.partition("```python\n")[2].partition("```")[0]
    found = []
    for line in text.splitlines():
        if match := ROW.match(line):
            code = "\n".join(re.findall(r"`([^`]*)`", match[1]))
            found.append(pytest.param(code, match[2], id=code.splitlines()[0][:60]))
    return head, found


HEAD, ROWS = rows()


@pytest.mark.parametrize(("code", "state"), ROWS)
def test_row(code, state):
    text = HEAD + textwrap.indent(code, "    ") + "\n"
    if state == "no":
        with pytest.raises((tilewright.UserError, tilewright.Unsupported)):
            parse(text)
        return
    func = parse(text)
    for dialect in ("native", "0.23", "0.27", "2022"):
        shown = func.script(dialect=dialect)
        tilewright.ir.assert_structural_equal(parse(shown), func)
        if state == "yes" and dialect == "native":  # each call of the row is in the text as it was written
            assert parse(shown).script() == shown


def test_the_table_is_not_empty():
    assert len(ROWS) > 80
