"""Writes docs/tutorial: a page for each numbered script of examples, with what the script prints.

    PYTHONPATH=build/python python tools/tutorial.py [01 ...]

A script is read from top to bottom.  Its docstring is the title and the introduction of the page, comments at the left margin
are text, what stands between them is code, and what a piece of code prints follows it.  Where a text ends with the sentence
OF_MACHINE, what the code after it prints is shown, but not compared; elsewhere measured numbers alone are not compared.
"""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/tutorial"
OF_MACHINE = "The output depends on the machine."
CODE_AND_OUTPUT = re.compile(
    rf"({re.escape(OF_MACHINE)}\n\n)?(^```python\n(?:(?!```).*\n)*```\n\n)(^```text\n(?:(?!```).*\n)*```\n)",
    re.MULTILINE,
)
# numbers that are measured, by their units
MEASURED = re.compile(r" *\b\d+(\.\d+)?(?= ?(us|ms|s|%|GFLOP/s|GB/s)(?!\w))")


class Piece(NamedTuple):
    """Text, the code after it, and the number of the code's first line in the script."""

    text: str
    code: str
    line: int


def scripts() -> list[Path]:
    return sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))


def page_of(script: Path) -> Path:
    return PAGES / f"{script.stem.replace('_', '-')}.md"


def pieces(source: str) -> list[Piece]:
    """The script after its docstring."""
    found, text, code, first = [], [], [], 0
    lines = source.splitlines()
    start = next(n for n, line in enumerate(lines[1:], 1) if line.endswith('"""')) + 1
    for number, line in enumerate([*lines[start:], "# the end"], start + 1):
        if not line.startswith("#"):
            first = first or number
            code.append(line)
            continue
        if any(code):
            found.append(Piece("\n".join(text).strip(), "\n".join(code), first))
            text = []
        code, first = [], 0
        text.append(line[2:])
    return found


def printed(piece: Piece, script: Path, scope: dict) -> str:
    """What the code prints; it stands at its own line, so that errors and decorators find their source."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile("\n" * (piece.line - 1) + piece.code, str(script), "exec"), scope)
    text = out.getvalue().replace(f"{ROOT}/", "")
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def page(script: Path) -> str:
    """The page of a script, which is run here: one script a process."""
    source = script.read_text()
    title, _, introduction = re.match(r'"""(.*?)"""', source, re.DOTALL)[1].strip().partition("\n")
    parts = [
        f"# {script.stem[:2]}. {title.rstrip('.')}",
        f"Written by `tools/tutorial.py` from [{script.name}](../../examples/{script.name}); [all pages](../index.md).",
        introduction.strip(),
    ]
    scope = {"__name__": "__main__", "__file__": str(script)}
    for each in pieces(source):
        output = printed(each, script, scope)
        parts.append(each.text)
        parts.append(f"```python\n{each.code.strip()}\n```")
        parts.append(output and f"```text\n{output}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def steady(text: str) -> str:
    """A page without what may differ from run to run."""

    def steady_output(match: re.Match) -> str:
        of_machine, code, output = match.groups()
        return code + ("" if of_machine else MEASURED.sub(" #", output))

    return CODE_AND_OUTPUT.sub(steady_output, text)


def write(file: Path, text: str) -> None:
    """Writes a page, unless only measured numbers differ: these stay as they are until the page is removed."""
    if not file.exists() or steady(file.read_text()) != steady(text):
        file.write_text(text)


def main() -> int:
    if len(sys.argv) == 2:
        (script,) = [each for each in scripts() if each.name.startswith(sys.argv[1])]
        write(page_of(script), page(script))
        return 0
    for script in scripts():
        if len(sys.argv) == 1 or script.name[:2] in sys.argv[1:]:
            subprocess.run([sys.executable, __file__, script.name], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
