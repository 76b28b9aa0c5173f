"""Checks the nodes of the seeds FIRST to FIRST + COUNT - 1; one alone is printed, too.

PYTHONPATH=build/python:tests python -m random_nodes FIRST [COUNT]
PYTHONPATH=build/python:tests python -m random_nodes --today SECONDS     another sample each day
"""

import collections
import sys

from campaign import Command, print_left_out

from .check import CAMPAIGN
from .model import generate


def main() -> int:
    command = Command("random_nodes", __doc__, CAMPAIGN)
    command.parse()
    if command.options.count == 1:
        print(generate(command.options.first).text())
    counts: collections.Counter = collections.Counter()
    refused: dict = collections.defaultdict(collections.Counter)
    for result in command.results(command.seeds()):
        counts.update(nodes=1, wrong=int(bool(result.problem)), compared=int(result.references > 0))
        if result.refused:
            refused[result.op][result.refused] += 1
        if result.problem:
            print(f"seed {result.seed}, {result.op}: {result.problem}", flush=True)
    left_out = print_left_out(refused)
    print(
        f"{counts['nodes']} {command.summary('nodes')}: {counts['compared'] - left_out} compared, {left_out} not supported, "
        f"{counts['wrong']} wrong"
    )
    return int(counts["wrong"] > 0 or counts["compared"] == 0)


if __name__ == "__main__":
    sys.exit(main())
