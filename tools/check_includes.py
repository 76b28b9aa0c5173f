"""Checks that a file of C++ reaches, by its own includes, what it uses of the precompiled headers.

Release builds precompile the headers listed in cmake/TilewrightPch.cmake, so a file compiles there without including them; the
sanitizers' builds have no precompiled headers and fail, half an hour later.

Functions of layer ir: one counts as reached if a header that the file includes, directly or through others, names it before a
bracket (a member of the same name counts, too).  The names of tir/builder.h, such as max, are those of other functions as well
and are not looked at.

Names of the standard library (the table STANDARD): one counts as reached if one of its headers is included, directly or through
headers of the project.

Prints one line per violation; exit code 1 if there are any.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
PRECOMPILED = re.compile(r"/(tilewright/ir/\w+\.h)")
# a function at the left margin: `bool structural_equal(`
DECLARATION = re.compile(r"^[A-Za-z_][\w:<>,&* ]*[\w>&*] \*?&?(\w+)\(", re.MULTILINE)
# one anywhere, which may be a member
OWN = re.compile(r"^ *(?!return\b)[A-Za-z_][\w:<>,&* ]*[\w>&*] \*?&?(\w+)\(", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
ALGORITHMS = (
    "all_of any_of none_of find find_if count count_if sort stable_sort min_element max_element transform copy fill reverse "
    "unique remove_if lower_bound upper_bound equal rotate clamp binary_search is_sorted next_permutation"
)
# {name in the code: headers that declare it, the one to include first}
STANDARD = {
    r"std::function\b": ["functional"],
    r"std::map\b": ["map"],
    r"std::(?:optional|nullopt)\b": ["optional"],
    r"std::(?:string|to_string)\b": ["string"],
    r"std::unordered_map\b": ["unordered_map"],
    r"std::(?:variant|visit|get_if|holds_alternative)\b": ["variant"],
    r"std::vector\b": ["vector"],
    rf"std::(?:{'|'.join(ALGORITHMS.split())}|ranges::\w+)\b": ["algorithm"],
    r"(?<![\w:])size_t\b": ["cstddef", "string", "cstdlib", "cstring", "algorithm", "functional", "stddef.h"],
}


def read_headers(root: Path) -> dict[str, str]:
    """{header as includes write it: its text without comments}."""
    return {
        str(file.relative_to(root)): COMMENT.sub("", file.read_text())
        for file in sorted((root / "tilewright").rglob("*.h"))
    }


def reached_from(text: str, headers: dict[str, str]) -> set[str]:
    """The headers that `text` includes, directly or through those of the project."""
    reached: set[str] = set()
    waiting = INCLUDE.findall(text)
    while waiting:
        header = waiting.pop()
        if header not in reached:
            reached.add(header)
            waiting += INCLUDE.findall(headers.get(header, ""))
    return reached


def standard_problems(name: str, text: str, reached: set[str]) -> list[str]:
    """One line per name of the standard library that `text` uses and does not reach."""
    code = STRING.sub('""', text)
    return [
        f"{name}: uses {used.group()}, but includes no <{declared_in[0]}>"
        for pattern, declared_in in STANDARD.items()
        if not reached.intersection(declared_in) and (used := re.search(pattern, code))
    ]


def check(root: Path) -> list[str]:
    """One line per name that a file of `root`/tilewright uses and does not reach."""
    headers = read_headers(root)
    listed = PRECOMPILED.findall((root / "cmake" / "TilewrightPch.cmake").read_text())
    home = {name: header for header in listed for name in DECLARATION.findall(headers[header])}
    calls = re.compile(r"(?<![\w.>:~])(" + "|".join(sorted(home)) + r")\(")
    named_in = {header: set(calls.findall(text)) for header, text in headers.items()}
    problems = [
        line
        for name, text in headers.items()
        for line in standard_problems(name, text, reached_from(text, headers))
    ]
    for file in sorted((root / "tilewright").rglob("*.cc")):
        text = COMMENT.sub("", file.read_text())
        called = set(calls.findall(text)) - set(OWN.findall(text))
        includes = reached_from(text, headers)
        problems += standard_problems(str(file.relative_to(root)), text, includes)
        if called:
            reached = set().union(*(named_in.get(header, set()) for header in includes))
            problems += [
                f"{file.relative_to(root)}: calls {name}, but includes no {home[name]}"
                for name in sorted(called - reached)
            ]
    return problems


if __name__ == "__main__":
    lines = check(Path(__file__).resolve().parent.parent)
    print(
        "\n".join(lines) if lines else "includes: every file reaches what it uses of the precompiled headers"
    )
    sys.exit(bool(lines))
