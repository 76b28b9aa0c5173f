"""Checks the models of the seeds FIRST to FIRST + COUNT - 1; one alone is printed, too.

PYTHONPATH=build/python:tests python -m open_models FIRST [COUNT]
PYTHONPATH=build/python:tests python -m open_models --today SECONDS     another sample each day
"""

import argparse
import collections
import datetime
import sys
import time

from . import generate
from .batches import run_seeds


def kind_of(problem: str) -> str:
    """For the summary: "CRASH", "numbers for an illegal call", "refused", "wrong result", ..."""
    for mark, kind in KINDS.items():
        if mark in problem:
            return kind
    return "wrong result"


KINDS = {
    "CRASH": "crashed",
    "onnxruntime refuses": "illegal calls gave numbers",
    "one name differ": "calls with two extents of one name gave numbers",
    "not compiled": "not compiled",
    "refused:": "legal calls refused",
    "Error": "other errors",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="open_models", description=__doc__)
    parser.add_argument("first", type=int, nargs="?")
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--today", type=float, metavar="SECONDS", help="seeds of this day, for so long")
    parser.add_argument("--only", metavar="OPERATOR", help="leave out the models of other operators")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.today:
        first, count = datetime.datetime.now(tz=datetime.UTC).toordinal() * 10_000, 10_000
    else:
        first, count = options.first, options.count
    seeds = range(first, first + count)
    if options.only:
        seeds = [seed for seed in seeds if generate(seed).operator == options.only]
    if len(seeds) == 1:
        print(generate(seeds[0]).text())
    start = time.monotonic()
    totals: collections.Counter = collections.Counter()
    skipped: dict = collections.defaultdict(collections.Counter)
    wrong: dict = collections.defaultdict(collections.Counter)
    for result in run_seeds(seeds, options.processes, options.today):
        totals.update(models=1, legal=result.legal, illegal=result.illegal, failed=int(bool(result.problems)))
        if result.unsupported:
            totals["unsupported"] += 1
            skipped[result.operator][result.unsupported] += 1
        for problem in result.problems:
            wrong[result.operator][kind_of(problem)] += 1
            print(
                f"seed {result.seed}, {result.operator}{', check_bounds' if result.checked else ''}: {problem}",
                flush=True,
            )
    for operator, kinds in sorted(wrong.items()):
        print(f"wrong: {operator}: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}")
    for operator, reasons in sorted(skipped.items()):
        reason, _ = reasons.most_common(1)[0]
        print(f"left out: {reasons.total()} of {operator}, e.g. {reason}")
    print(
        f"{totals['models']} models from seed {first} on in {time.monotonic() - start:.0f} s: {totals['legal']} legal calls "
        f"right, {totals['illegal']} calls refused, {totals['unsupported']} models not supported, {totals['failed']} failed"
    )
    return int(totals["failed"] > 0 or totals["legal"] == 0)


if __name__ == "__main__":
    sys.exit(main())
