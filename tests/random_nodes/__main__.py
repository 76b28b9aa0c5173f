"""Checks the nodes of the seeds FIRST to FIRST + COUNT - 1; one alone is printed, too.

PYTHONPATH=build/python:tests python -m random_nodes FIRST [COUNT]
PYTHONPATH=build/python:tests python -m random_nodes --today SECONDS     another sample each day
"""

import argparse
import collections
import datetime
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from .check import Result, check
from .model import generate


def main() -> int:
    parser = argparse.ArgumentParser(prog="random_nodes", description=__doc__)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--today", type=float, metavar="SECONDS", help="seeds of this day, for so long")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    first, count = asked.first, asked.count
    if asked.today:
        first, count = datetime.datetime.now(tz=datetime.UTC).toordinal() * 100_000, 5000
    if count == 1:
        print(generate(first).text())
    start = time.monotonic()
    counts: collections.Counter = collections.Counter()
    refused: dict = collections.defaultdict(collections.Counter)
    for result in results(range(first, first + count), asked.processes, asked.today):
        counts.update(nodes=1, wrong=int(bool(result.problem)), compared=int(result.references > 0))
        if result.refused:
            refused[result.op][result.refused] += 1
        if result.problem:
            print(f"seed {result.seed}, {result.op}: {result.problem}", flush=True)
    for op, reasons in sorted(refused.items()):
        print(f"left out: {reasons.total()} of {op}, e.g. {reasons.most_common(1)[0][0]}")
    left_out = sum(reasons.total() for reasons in refused.values())
    print(
        f"{counts['nodes']} nodes from seed {first} on in {time.monotonic() - start:.0f} s: {counts['compared'] - left_out} "
        f"compared, {left_out} not supported, {counts['wrong']} wrong"
    )
    return int(counts["wrong"] > 0 or counts["compared"] == 0)


def results(seeds, processes: int, seconds: float | None):
    """The results; no new batch begins after `seconds`.  A process that ends is an error of the whole run."""
    end = time.monotonic() + seconds if seconds else float("inf")
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        for n in range(0, len(seeds), 200):
            if time.monotonic() > end:
                return
            yield from pool.map(check_safely, seeds[n : n + 200], chunksize=10)


def check_safely(seed: int) -> Result:
    try:
        return check(seed)
    except Exception as error:
        return Result(seed, generate(seed).op, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())
