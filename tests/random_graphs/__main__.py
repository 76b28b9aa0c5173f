"""Checks the graphs of the seeds FIRST to FIRST + COUNT - 1 and prints what is wrong; with FIRST alone also the program.

PYTHONPATH=tests python -m random_graphs FIRST [COUNT]
"""

import faulthandler
import sys

from . import generate
from .check import check_seed


def main() -> int:
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    if count == 1:
        print(generate(first).script())
    failed = 0
    for seed in range(first, first + count):
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)
        try:
            check_seed(seed)
        except AssertionError as error:
            failed += 1
            print(f"\n{error}", flush=True)
    print(f"{count} graphs from seed {first} on, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
