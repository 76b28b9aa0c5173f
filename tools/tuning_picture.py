"""Draws docs/tuning.svg: the speed of the trials that docs/tuning.jsonl holds, of the kernel in docs/tuning.md.

PYTHONPATH=build/python python tools/tuning_picture.py           draws the stored trials
PYTHONPATH=build/python python tools/tuning_picture.py --tune    measures others on this machine first, in half a minute
"""

import json
import re
import sys
from pathlib import Path

from tilewright import tune
from tilewright.tune.page import curve, stories_of

DOCS = Path(__file__).resolve().parent.parent / "docs"
RECORDS, PICTURE = DOCS / "tuning.jsonl", DOCS / "tuning.svg"
#: in place of the steps of candidates, which the picture does not show
_NO_STEPS = {"tilewright_trace": 1, "steps": []}


def measure() -> None:
    """Runs the first program of docs/tuning.md with more trials, and stores its records."""
    program = re.search(r"```python\n(.*?)```", (DOCS / "tuning.md").read_text(), re.DOTALL)[1]
    names: dict = {}
    exec(program.split("database =")[0], names)
    database = tune.RecordFile()
    tune.tune(names["window"], "llvm -num-cores=1", database=database, trials=48)
    lines = []
    for record in sorted(database.records(with_failures=True), key=lambda record: record.id):
        line = json.loads(record.to_json())
        lines.append(json.dumps(line | {"trace": line["trace"] and _NO_STEPS}))
    RECORDS.write_text("\n".join(lines) + "\n")


def picture() -> str:
    """The picture of the stored records."""
    database = tune.RecordFile()
    for line in RECORDS.read_text().splitlines():
        database.add(tune.Record.from_json(line))
    (story,) = stories_of(database)
    return curve(story, is_alone=True)


def main() -> None:
    if "--tune" in sys.argv[1:]:
        measure()
    PICTURE.write_text(picture())


if __name__ == "__main__":
    main()
