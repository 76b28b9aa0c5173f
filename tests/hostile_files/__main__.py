"""Checks the files of the seeds FIRST to FIRST + COUNT - 1.

PYTHONPATH=build/python:tests python -m hostile_files FIRST [COUNT]
PYTHONPATH=build/python:tests python -m hostile_files FIRST --save FILE       writes the file of one seed
PYTHONPATH=build/python:tests python -m hostile_files --today SECONDS         another sample each day
"""

import collections
import sys
import tempfile
from pathlib import Path

from campaign import Command

from .check import campaign
from .generate import generate, models


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        command = Command("hostile_files", __doc__, campaign(Path(folder)))
        command.parser.add_argument("--save", metavar="FILE", help="write the file, do not read it")
        command.parse()
        if command.options.save:
            Path(command.options.save).write_bytes(generate(command.options.first).data)
            return 0
        models()  # before the forks
        counts: collections.Counter = collections.Counter()
        for result in command.results(command.seeds()):
            counts.update(files=1, refused=int(result.is_refused), wrong=int(bool(result.problem)))
            if result.problem:
                print(f"seed {result.seed}, {result.kind}: {result.problem}", flush=True)
    print(
        f"{counts['files']} {command.summary('files')}: {counts['refused']} refused, {counts['wrong']} wrong"
    )
    return int(counts["wrong"] > 0 or counts["refused"] == 0)


if __name__ == "__main__":
    sys.exit(main())
