"""Checks the files of the seeds FIRST to FIRST + COUNT - 1.

PYTHONPATH=build/python:tests python -m hostile_files FIRST [COUNT]
PYTHONPATH=build/python:tests python -m hostile_files FIRST --save FILE       writes the file of one seed
PYTHONPATH=build/python:tests python -m hostile_files --today SECONDS         another sample each day
"""

import argparse
import collections
import datetime
import sys
import tempfile
import time
from pathlib import Path

from .check import run_seeds
from .generate import generate, models


def main() -> int:
    parser = argparse.ArgumentParser(prog="hostile_files", description=__doc__)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--today", type=float, metavar="SECONDS", help="seeds of this day, for so long")
    parser.add_argument("--save", metavar="FILE", help="write the file, do not read it")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    if asked.save:
        Path(asked.save).write_bytes(generate(asked.first).data)
        return 0
    first, count = asked.first, asked.count
    if asked.today:
        first, count = datetime.datetime.now(tz=datetime.UTC).toordinal() * 100_000, 20_000
    models()  # before the forks
    counts: collections.Counter = collections.Counter()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for result in run_seeds(range(first, first + count), asked.processes, Path(folder), asked.today):
            counts.update(files=1, refused=int(result.is_refused), wrong=int(bool(result.problem)))
            if result.problem:
                print(f"seed {result.seed}, {result.kind}: {result.problem}", flush=True)
    print(
        f"{counts['files']} files from seed {first} on in {time.monotonic() - start:.0f} s: {counts['refused']} refused, "
        f"{counts['wrong']} wrong"
    )
    return int(counts["wrong"] > 0 or counts["refused"] == 0)


if __name__ == "__main__":
    sys.exit(main())
