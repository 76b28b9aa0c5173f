"""Writes docs/primitives.md from the table of schedule primitives.   PYTHONPATH=build/python python tools/primitive_docs.py

--print prints it instead.
"""

import sys
from pathlib import Path

from tilewright import _core

HEADER = """# Schedule primitives

Every primitive is checked: it is proved legal for the program at hand or refused with the reason, the place (three lines of the
program), two iterations that would disagree, and calls near to it that would be legal: they have been tried. What does not need a
proof is called `unsafe_`. The text of each is its docstring; this page is written by `tools/primitive_docs.py`.

- A **handle** (`Block`, `Loop`, `Expr`) goes stale when a step consumes what it stands for; the error names that step and its results.
  Where a `Block` is asked for, its name will do.
- A **buffer** of a block is given by its number in `T.reads` or `T.writes`, its name, `("read" | "write", number)`, or itself.
- An **index map** is a Python function of one parameter per index.
- `print(sch.state)` shows the tree of loops and blocks with the handles on them; `sch.state.dependences()` and `sch.state.properties(block)`
  say what steps are checked against.
- `print(sch.trace)` shows the steps as Python; `sch.trace.save_json()` saves them, `apply_to_schedule` repeats them on another program.
- `sch.verify()` runs the program before and after on the interpreter; `Schedule(mod, verify_each_step=True)` does so at every step;
  `Schedule(mod, debug_mask="all")` checks that the program is well formed after every step.
- `Schedule(mod, error_render_level="detail" | "fast" | "none")` says how much an error tells.
"""


def page() -> str:
    parts = [HEADER]
    for name, doc, returns, args in _core.primitive_table():
        call = ", ".join(
            arg if required else f"{arg}={default!r}" for arg, _, _, default, required, _ in args
        )
        parts.append(f"## {name}\n\n`{name}({call}) -> {returns}`\n\n```text\n{doc.strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        print(page())
    else:
        Path("docs/primitives.md").write_text(page())
