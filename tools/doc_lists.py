"""Writes the lists in docs/ that follow from the program: commands, steps of lowering, graph passes and operators, those of ONNX,
functions of topi.

python tools/doc_lists.py            writes them; a test fails while one is not what this makes
python tools/doc_lists.py --print    prints them

A list stands between the lines `<!-- NAME: tools/doc_lists.py -->` and `<!-- end of NAME -->` of its page.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from tilewright import _core
from tilewright.frontend import onnx

ROOT = Path(__file__).resolve().parent.parent


def table(*rows: tuple) -> str:
    lines = [re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(row)} |").replace("<", "&lt;") for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])


def commands(page: str) -> str:
    """The commands in the order of `tilewright --help`, each as its first example."""
    program = shutil.which("tilewright") or ROOT / "build/bin/tilewright"

    def shown(*words: str) -> str:
        return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout

    rows = []
    for name, doc in re.findall(
        r"^  (\w+) {2,}(.*)$", shown("--help").partition("Subcommands:\n")[2], re.MULTILINE
    ):
        example = re.search(r"^examples:\n  tilewright (.*)$", shown(name, "--help"), re.MULTILINE)[1]
        rows.append((f"`{example}`", doc))
    return table(("command", "does"), *rows)


def merged(first: list, second: list) -> list:
    """The names of both lists in one order."""
    result = []
    for kind, *(a, b, c, d) in difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        result += first[a:b]
        result += [] if kind == "equal" else second[c:d]
    return list(dict.fromkeys(result))


def steps(page: str) -> str:
    """The steps of lowering of all targets in one order, with a mark for each target that has them."""
    targets = {"llvm": "llvm", "c": "c", "GPUs": "cuda"}
    docs = {column: dict(_core.lowering_steps(target)) for column, target in targets.items()}
    order = merged(merged(list(docs["llvm"]), list(docs["c"])), list(docs["GPUs"]))
    rows = []
    for name in order:
        marks = ("x" if name in docs[column] else "" for column in docs)
        rows.append((f"`{name}`", *marks, next(known[name] for known in docs.values() if name in known)))
    return table(("in order", *docs, "what is true after it"), *rows)


def passes(page: str) -> str:
    """The passes that no other table of the page has."""
    told = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    rows = []
    for name, doc, _, options in _core.relax_pass_table():
        if name not in told:
            rows.append((f"`{name}({', '.join(option for option, *_ in options)})`", doc.removesuffix(".")))
    return table(("pass", "what is true after it"), *rows)


def operators(page: str) -> str:
    return "\n".join(
        textwrap.wrap(", ".join(onnx.operators()), 130, break_long_words=False, break_on_hyphens=False)
    )


def graph_operators(page: str) -> str:
    """A table of operators for each group of them (R.nn.relu), those without a group first."""
    groups: dict[str, list] = {}
    for name, args, doc, attrs, source in _core.relax_op_table():
        path = name.removeprefix("relax.")
        given = "; ".join(", ".join(part) for part in (args, [attr for attr, *_ in attrs]) if part)
        group = path.rpartition(".")[0]
        groups.setdefault(group, []).append(
            (f"`{path}({given})`", doc.removesuffix(".").replace("|", "\\|"), source)
        )
    parts = []
    for group, rows in sorted(groups.items()):
        sources = "; ".join(dict.fromkeys(source for *_, source in rows))
        parts.append(f"## {group or 'Without a group'}")
        parts.append(table(("operator", "result"), *((call, doc) for call, doc, _ in rows)))
        parts.append("\n".join(textwrap.wrap(f"Sources: {sources}.", 130, break_long_words=False)))
    return "\n\n".join(parts)


def topi_functions(page: str) -> str:
    """What the cases of tests/topi say, in a process of its own, where `import tvm` is tilewright."""
    words = [sys.executable, "-m", "tilewright.compat", str(ROOT / "tests/topi/table.py")]
    env = os.environ | {"PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    return subprocess.run(words, capture_output=True, text=True, check=True, env=env).stdout.rstrip("\n")


#: the list, its page and what makes it
LISTS = {
    "commands": ("docs/cli.md", commands),
    "steps": ("docs/lowering.md", steps),
    "passes": ("docs/graph-passes.md", passes),
    "operators": ("docs/onnx.md", operators),
    "graph operators": ("docs/operators.md", graph_operators),
    "topi functions": ("docs/topi.md", topi_functions),
}


def split(name: str, text: str) -> tuple[str, str, str]:
    """The page before the list called `name`, the list, and the page after it."""
    begin, end = f"<!-- {name}: tools/doc_lists.py -->\n\n", f"\n\n<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    old, found_too, after = rest.partition(end)
    if not found or not found_too:
        raise SystemExit(f"{LISTS[name][0]} has no list called {name}")
    return before + begin, old, end + after


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", help="print the lists, write nothing")
    only_prints = parser.parse_args().print
    for name, (page, make) in LISTS.items():
        before, _, after = split(name, (ROOT / page).read_text())
        made = make(before + after)
        if only_prints:
            print(f"{page}: {name}\n{made}\n")
        else:
            (ROOT / page).write_text(before + made + after)


if __name__ == "__main__":
    main()
