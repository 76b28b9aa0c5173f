"""Checks the models of the seeds FIRST to FIRST + COUNT - 1; one alone is printed, too.

PYTHONPATH=build/python:tests python -m open_models FIRST [COUNT]
PYTHONPATH=build/python:tests python -m open_models --today SECONDS     another sample each day
"""

import collections
import sys

from campaign import Command, print_left_out

from . import generate
from .check import CAMPAIGN


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
    command = Command("open_models", __doc__, CAMPAIGN)
    command.parser.add_argument("--only", metavar="OPERATOR", help="leave out the models of other operators")
    command.parse()
    seeds, only = command.seeds(), command.options.only
    if only:
        seeds = [seed for seed in seeds if generate(seed).operator == only]
    if len(seeds) == 1:
        print(generate(seeds[0]).text())
    totals: collections.Counter = collections.Counter()
    skipped: dict = collections.defaultdict(collections.Counter)
    wrong: dict = collections.defaultdict(collections.Counter)
    for result in command.results(seeds):
        totals.update(models=1, legal=result.legal, illegal=result.illegal, failed=int(bool(result.problems)))
        if result.unsupported:
            skipped[result.operator][result.unsupported] += 1
        for problem in result.problems:
            wrong[result.operator][kind_of(problem)] += 1
            print(
                f"seed {result.seed}, {result.operator}{', check_bounds' if result.checked else ''}: {problem}",
                flush=True,
            )
    for operator, kinds in sorted(wrong.items()):
        print(f"wrong: {operator}: {', '.join(f'{count} {kind}' for kind, count in kinds.most_common())}")
    unsupported = print_left_out(skipped)
    print(
        f"{totals['models']} {command.summary('models')}: {totals['legal']} legal calls right, {totals['illegal']} calls "
        f"refused, {unsupported} models not supported, {totals['failed']} failed"
    )
    return int(totals["failed"] > 0 or totals["legal"] == 0)


if __name__ == "__main__":
    sys.exit(main())
