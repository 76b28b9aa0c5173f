"""Checks that source files stay small: 300 lines are the goal, 600 the limit.

tools/sizes.txt names the files that may be longer, each with its own limit and the reason.  Exceptions that are no longer
needed must be removed.  Prints one line per violation; exit code 1 if there are any.
"""

import dataclasses
import sys
from pathlib import Path

SOFT_LIMIT = 300
HARD_LIMIT = 600
SUFFIXES = (".cc", ".h", ".c", ".inc", ".py", ".sh", ".cmake")
FOLDERS = ("tilewright", "python", "tests", "tools", "cmake", "benchmarks", "examples")


@dataclasses.dataclass
class Limit:
    """A line of tools/sizes.txt."""

    lines: int
    reason: str


def read_exceptions(file: Path) -> dict[str, Limit]:
    """`path limit reason...` a line, '#' starts a comment."""
    exceptions = {}
    for number, line in enumerate(file.read_text().splitlines(), 1):
        words = line.split("#")[0].split(maxsplit=2)
        if not words:
            continue
        if len(words) < 3 or not words[1].isdigit():
            raise SystemExit(f"{file}:{number}: expected `path limit reason`, got: {line}")
        exceptions[words[0]] = Limit(int(words[1]), words[2])
    return exceptions


def count_lines(root: Path) -> dict[str, int]:
    """Lines of every source file, by path from the root."""
    counts = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SUFFIXES and "__pycache__" not in file.parts and file.is_file():
                counts[str(file.relative_to(root))] = file.read_bytes().count(b"\n")
    return counts


def check(root: Path) -> list[str]:
    """One line per violation."""
    exceptions = read_exceptions(root / "tools" / "sizes.txt")
    counts = count_lines(root)
    problems = []
    for name, lines in counts.items():
        limit = exceptions[name].lines if name in exceptions else HARD_LIMIT
        if lines > limit:
            problems.append(f"{name}: {lines} lines, the limit is {limit}")
    for name in exceptions:
        if counts.get(name, 0) <= HARD_LIMIT:
            problems.append(f"tools/sizes.txt: {name} needs no exception any more")
    return problems


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    problems = check(root)
    counts = count_lines(root)
    over = sum(lines > SOFT_LIMIT for lines in counts.values())
    summary = f"sizes: {len(counts)} files, {sum(counts.values())} lines, {over} files over {SOFT_LIMIT}"
    print("\n".join([*problems, summary]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
