"""Writes docs/onnx-coverage.md: what becomes of each test case that the package `onnx` brings.

PYTHONPATH=build/python python tools/onnx_coverage.py            runs all cases, two at a time, and writes the page; a test compares it
PYTHONPATH=build/python python tools/onnx_coverage.py --print    prints it

The exit code is 1 if a case is wrong; the page names it.
"""

import argparse
import collections
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/onnx-coverage.md"
RESULTS = ("passed", "refused", "different", "wrong")
TITLES = {
    "node": "one operator",
    "node-expanded": "operators that the standard writes as graphs of others",
    "simple": "small graphs",
    "pytorch-converted": "layers that PyTorch wrote",
    "pytorch-operator": "operators that PyTorch wrote",
    "light": "networks of pictures, with constant weights",
}


def table(*rows: tuple) -> list[str]:
    lines = [re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(map(str, row))} |") for row in rows]
    return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]


def count(found: list, result: str) -> int | str:
    return sum(each.result == result for each in found) or ""


def grouped(found: list, key) -> dict:
    groups = collections.defaultdict(list)
    for each in found:
        groups[key(each)].append(each)
    return dict(sorted(groups.items()))


def kinds_section(found: list) -> list[str]:
    by_kind = grouped(found, lambda each: each.kind)
    rows = [
        (f"{kind}: {title}", len(by_kind[kind]), *(count(by_kind[kind], result) for result in RESULTS))
        for kind, title in TITLES.items()
        if kind in by_kind
    ]
    rows.append(("all", len(found), *(count(found, result) for result in RESULTS)))
    return table(("kind of case", "cases", *RESULTS), *rows)


def operators_section(found: list) -> list[str]:
    rows = []
    for operator, group in grouped(found, lambda each: each.operator).items():
        whole = [each for each in group if each.kind != "node-expanded"]
        expanded = [each for each in group if each.kind == "node-expanded"]
        reasons = collections.Counter(each.reason for each in group if each.result != "passed")
        rows.append(
            (
                operator,
                *(count(whole, result) for result in RESULTS),
                sum(each.result == "passed" and each.constants > 0 for each in whole) or "",
                f"{count(expanded, 'passed') or 0} of {len(expanded)}" if expanded else "",
                "; ".join(f"{reason} ({number})" for reason, number in sorted(reasons.items())),
            )
        )
    return table(("operator", *RESULTS, "with constants", "as a graph", "why not"), *rows)


def names_section(found: list) -> list[str]:
    lines = []
    left = grouped([each for each in found if each.result != "passed"], lambda each: each.reason)
    for reason, group in left.items():
        names = ", ".join(each.name for each in sorted(group))
        lines += ["", f"**{reason}**: {len(group)}", ""]
        lines += textwrap.wrap(names, 140, break_long_words=False, break_on_hyphens=False)
    return lines


def page(found: list) -> str:
    import onnx

    passed = [each for each in found if each.result == "passed"]
    folded = sum(each.is_folded for each in passed)
    lines = [
        "# ONNX's own test cases, by outcome",
        "",
        "Written by `python tools/onnx_coverage.py`, which runs every case; a test compares it. The cases are those of the Python package",
        f"`onnx` {onnx.__version__}. Passed: compiled code gave the expected numbers, within the case's tolerance. Refused: an error named what the case needs;",
        "the reasons are grouped. Different: other numbers than expected, for the reason given. Wrong: none of these. Which operators there are,",
        "and their limits: [onnx.md](onnx.md).",
        "",
        *kinds_section(found),
        "",
        f'Of those that passed, {folded} leave nothing to compiled code: all their inputs are constants. Where a column says "with constants", inputs',
        "that must be known when a model is imported (shapes, axes, sizes) became constants of the model; the others stayed inputs.",
        "",
        "## By operator",
        "",
        'Cases of one operator, and, in the column "as a graph", the same cases with the operator as the graph that the standard writes for it.',
        "",
        *operators_section(found),
        "",
        "## Cases that did not pass",
        *names_section(found),
        "",
    ]
    return "\n".join(lines)


def listed(text: str) -> dict[str, str]:
    """The reason of each case that a page lists as not passed."""
    found = {}
    section = text.partition("## Cases that did not pass\n")[2]
    for reason, names in re.findall(r"^\*\*(.*)\*\*: \d+\n\n((?:.+\n)+)", section, re.MULTILINE):
        found |= dict.fromkeys(re.findall(r"\w+", names), reason)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", help="print the page, do not write it")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from onnx_cases import cases, outcomes

    found = outcomes(cases(), asked.processes)
    if asked.print:
        print(page(found), end="")
    else:
        PAGE.write_text(page(found))
    wrong = [f"{each.name}: {each.reason}" for each in found if each.result == "wrong"]
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
