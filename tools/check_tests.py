"""Checks that each file of a registry has a test of its own name.

The registries are the folders that CMakeLists.txt files name in tilewright_registry(layer folder ...): primitives of schedules,
passes, operators and gradient rules of graphs, kinds of targets and so on. The test of tilewright/LAYER/FOLDER/NAME.cc is
NAME_test.cc or test_NAME.py in tests/LAYER/FOLDER or in a folder above it, up to tests/LAYER. tools/untested_files.txt lists
files that have none yet; it may only shrink: a file that has a test or is gone must be taken off.

python tools/check_tests.py           prints one line per violation; exit code 1 if there are any
python tools/check_tests.py --shrink  takes files that have a test or are gone off the list
"""

import re
import sys
from pathlib import Path

LIST = Path("tools/untested_files.txt")
LIST_HEADER = "# Files of registries without a test of their own name; this list may only shrink.  See tools/check_tests.py.\n"
REGISTRY = re.compile(r"^\s*tilewright_registry\((\w+)\s+([\w/]+)", re.MULTILINE)


def registries(root: Path) -> list[Path]:
    """The folders of the registries, from the root, sorted."""
    found = set()
    for file in (root / "tilewright").rglob("CMakeLists.txt"):
        for _, folder in REGISTRY.findall(file.read_text()):
            found.add((file.parent / folder).relative_to(root))
    return sorted(found)


def registered_files(root: Path) -> list[Path]:
    """The files of all registries, from the root, sorted."""
    return sorted(
        file.relative_to(root) for folder in registries(root) for file in (root / folder).glob("*.cc")
    )


def has_test(root: Path, file: Path) -> bool:
    """True if a test has the name of `file`, which is tilewright/LAYER/FOLDER/NAME.cc."""
    layer, *rooms = file.parent.parts[1:]
    folders = [Path("tests", layer, *rooms[:depth]) for depth in range(len(rooms) + 1)]
    names = (f"{file.stem}_test.cc", f"test_{file.stem}.py")
    return any((root / folder / name).exists() for folder in folders for name in names)


def read_list(root: Path) -> list[str]:
    """The files that are listed as untested."""
    if not (root / LIST).exists():
        return []
    lines = (root / LIST).read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def check(root: Path) -> list[str]:
    """One line per violation."""
    untested = {str(file): file for file in registered_files(root) if not has_test(root, file)}
    listed = read_list(root)
    problems = [
        f"{name}: no test has its name; write {'/'.join(('tests', *file.parent.parts[1:]))}/test_{file.stem}.py"
        f" or {file.stem}_test.cc there"
        for name, file in untested.items()
        if name not in listed
    ]
    return problems + [
        f"{LIST}: has a test or is gone, take it off (--shrink): {name}"
        for name in listed
        if name not in untested
    ]


def shrink(root: Path) -> None:
    """Takes files that have a test or are gone off the list."""
    untested = {str(file) for file in registered_files(root) if not has_test(root, file)}
    kept = [name for name in read_list(root) if name in untested]
    (root / LIST).write_text(LIST_HEADER + "".join(f"{name}\n" for name in kept))


def main() -> int:
    folders = [word for word in sys.argv[1:] if not word.startswith("--")]
    root = Path(folders[0]) if folders else Path(__file__).resolve().parent.parent
    if "--shrink" in sys.argv[1:]:
        shrink(root)
        return 0
    problems = check(root)
    files, listed = len(registered_files(root)), len(read_list(root))
    summary = f"tests: {files} files in {len(registries(root))} registries, {listed} listed as without a test of their name"
    print("\n".join([*problems, summary]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
