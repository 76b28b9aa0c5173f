"""Writes what the commands `inspect` and `doctor` of docs/cli.md print, and `explain` for a GPU; what others print are measurements.

    PATH=build/bin:$PATH python tools/cli_page.py [--print]

An output that ends with a line "..." is shown up to there.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/cli.md"
BLOCK = re.compile(
    r"^```\n\$ (tilewright (?:inspect .*|doctor .*|explain .* --target \"cuda.*))\n((?:(?!```).*\n)*)```$",
    re.MULTILINE,
)


def output(command: str, shown: str) -> str:
    """What the command prints; of an output that was shown in part the same number of lines."""
    done = subprocess.run(
        shlex.split(command),
        cwd=ROOT / "examples/fashion_mnist",
        env=os.environ | {"TILEWRIGHT_LIBCUDA": "none"},  # so that nothing is measured
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.rstrip().splitlines()
    old = shown.splitlines()
    if old and old[-1].strip() == "...":
        lines = [*lines[: len(old) - 1], old[-1]]
    return "\n".join(lines) + "\n"


def page() -> str:
    def anew(match: re.Match) -> str:
        return f"```\n$ {match[1]}\n{output(match[1], match[2])}```"

    return BLOCK.sub(anew, PAGE.read_text())


def main() -> int:
    if sys.argv[1:] == ["--print"]:
        print(page(), end="")
    else:
        PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
