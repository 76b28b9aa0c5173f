"""Checks that a file of C++ reaches, by its own includes, the functions of the precompiled headers that it calls.

Release builds precompile the headers listed in cmake/TilewrightPch.cmake, so a file compiles there without including them; the
sanitizers' builds have no precompiled headers and fail, half an hour later.  A function counts as reached if a header that the
file includes, directly or through others, names it before a bracket (a member of the same name counts, too).  Only the functions
of layer ir are looked at: the names of tir/builder.h, such as max, are those of other functions as well.

Prints one line per violation; exit code 1 if there are any.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
PRECOMPILED = re.compile(r"/(tilewright/ir/\w+\.h)")
# a function at the left margin: `bool structural_equal(`
DECLARATION = re.compile(r"^[A-Za-z_][\w:<>,&* ]*[\w>&*] \*?&?(\w+)\(", re.MULTILINE)
# one anywhere, which may be a member
OWN = re.compile(r"^ *(?!return\b)[A-Za-z_][\w:<>,&* ]*[\w>&*] \*?&?(\w+)\(", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read_headers(root: Path) -> dict[str, str]:
    """{header as includes write it: its text without comments}."""
    return {
        str(file.relative_to(root)): COMMENT.sub("", file.read_text())
        for file in sorted((root / "tilewright").rglob("*.h"))
    }


def reached_from(text: str, headers: dict[str, str]) -> set[str]:
    """The headers that `text` includes, directly or through others."""
    reached: set[str] = set()
    waiting = INCLUDE.findall(text)
    while waiting:
        header = waiting.pop()
        if header in headers and header not in reached:
            reached.add(header)
            waiting += INCLUDE.findall(headers[header])
    return reached


def check(root: Path) -> list[str]:
    """One line per function that a file of `root`/tilewright calls and does not reach."""
    headers = read_headers(root)
    listed = PRECOMPILED.findall((root / "cmake" / "TilewrightPch.cmake").read_text())
    home = {name: header for header in listed for name in DECLARATION.findall(headers[header])}
    calls = re.compile(r"(?<![\w.>:~])(" + "|".join(sorted(home)) + r")\(")
    named_in = {header: set(calls.findall(text)) for header, text in headers.items()}
    problems = []
    for file in sorted((root / "tilewright").rglob("*.cc")):
        text = COMMENT.sub("", file.read_text())
        called = set(calls.findall(text)) - set(OWN.findall(text))
        if called:
            reached = set().union(*(named_in[header] for header in reached_from(text, headers)))
            problems += [
                f"{file.relative_to(root)}: calls {name}, but includes no {home[name]}"
                for name in sorted(called - reached)
            ]
    return problems


if __name__ == "__main__":
    lines = check(Path(__file__).resolve().parent.parent)
    print(
        "\n".join(lines) if lines else "includes: every file reaches what it calls of the precompiled headers"
    )
    sys.exit(bool(lines))
