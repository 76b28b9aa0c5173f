"""Runs clang-tidy on the C++ files that changed since they last passed.

A file is checked again if it, a header of this repository that it includes, or .clang-tidy changed; results are remembered
in ~/.cache/tilewright/tidy.   python tools/tidy.py [build folder with compile_commands.json]
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tilewright" / "tidy"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def own_headers(file: Path, seen: set[Path]) -> set[Path]:
    """The file and, through any number of includes, the repository's headers that it reads."""
    if file in seen or not file.exists():
        return seen
    seen.add(file)
    for name in INCLUDE.findall(file.read_text(errors="replace")):
        own_headers(ROOT / name, seen)
    return seen


def fingerprint(file: Path) -> str:
    """A hash of everything that can change clang-tidy's result for the file."""
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for part in sorted(own_headers(file, set())):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + part.read_bytes())
    return digest.hexdigest()


def tidy(build: Path, file: Path) -> tuple[Path, str]:
    """The file and clang-tidy's complaints, '' if there are none."""
    words = ["clang-tidy-19", "--quiet", "-p", str(build), str(file)]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    return file, done.stdout.strip() if done.returncode else ""


def main() -> int:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build")
    commands = json.loads((build / "compile_commands.json").read_text())
    files = [Path(command["file"]) for command in commands]
    files = [
        file
        for file in files
        if file.is_relative_to(ROOT / "tilewright") or file.is_relative_to(ROOT / "tests")
    ]
    CACHE.mkdir(parents=True, exist_ok=True)
    marks = {file: CACHE / fingerprint(file) for file in files}
    stale = [file for file, mark in marks.items() if not mark.exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, complaints in pool.map(lambda file: tidy(build, file), stale):
            if complaints:
                failed += 1
                print(complaints)
            else:
                marks[file].touch()
    print(f"tidy: {len(stale)} of {len(files)} files checked, {failed} with complaints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
