"""Times cases of cases.toml with two builds alternately, and prints a Markdown table of their ratios.

python benchmarks/compare_builds.py BEFORE AFTER [CASE ...] [--all] [--threads 1 2] [--seconds 2]

BEFORE, AFTER   build folders: tilewright is imported from their subfolder python/
CASE            names in cases.toml; default: the functions and models with a goal, with --all every one

Each build runs in a process of its own for each case, so that neither is affected by the other's threads or caches; each is timed
for a tenth of a second at a time.  A ratio is the time of BEFORE divided by that of AFTER in one round: above 1, AFTER is faster.
Reported are the median and the spread (10th to 90th percentile of the rounds), and the geometric mean of all medians.
"""

import argparse
import json
import os
import statistics
import sys
import tomllib
from pathlib import Path

import run
import timing


def worker(build: str, name: str, num_threads: int) -> timing.Worker:
    """A process of the build that has prepared the case."""
    env = os.environ | dict.fromkeys(run.THREAD_VARIABLES, str(num_threads))
    env |= {"PYTHONPATH": str(Path(build).resolve() / "python")}
    return timing.Worker([sys.executable, __file__, "--worker", name, str(num_threads)], env)


def serve(name: str, num_threads: int) -> None:
    """Prepares the case, reports "ready", and answers each "slice S" with the times of calls during S seconds."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-num_threads:])
    os.environ["TILEWRIGHT_CACHE_MB"] = "0"
    case = tomllib.loads((run.FOLDER / "cases.toml").read_text())[name]
    call = run.prepare(case, run.load_adapters(["tilewright"], num_threads)["tilewright"])
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(timing.times_of_calls(call, float(line.split()[1]))), flush=True)


def ratios_of(builds: tuple[str, str], name: str, num_threads: int, seconds: float) -> dict:
    rounds = timing.time_in_rounds({build: worker(build, name, num_threads) for build in builds}, seconds)[
        "rounds"
    ]
    before, after = (rounds[build] for build in builds)
    ratios = sorted(old / new for old, new in zip(before, after, strict=True))
    last = len(ratios) - 1
    return {
        "before": statistics.median(before),
        "after": statistics.median(after),
        "ratio": statistics.median(ratios),
        "low": ratios[round(last * 0.1)],
        "high": ratios[round(last * 0.9)],
    }


def table(results: dict[tuple[str, int], dict]) -> str:
    lines = ["| case | threads | before, us | after, us | ratio | spread |", "|---|---|---|---|---|---|"]
    for (name, num_threads), row in results.items():
        lines.append(
            f"| {name} | {num_threads} | {row['before']:.4g} | {row['after']:.4g} | {row['ratio']:.3f} "
            f"| {row['low']:.3f}..{row['high']:.3f} |"
        )
    mean = statistics.geometric_mean([row["ratio"] for row in results.values()])
    return "\n".join([*lines, "", f"geometric mean of {len(results)} ratios: {mean:.3f}"])


def cases_to_run(names: list[str], all_of_them: bool) -> dict[str, dict]:
    cases = tomllib.loads((run.FOLDER / "cases.toml").read_text())
    timed = {name: case for name, case in cases.items() if case["kind"] in ("function", "model")}
    if unknown := [name for name in names if name not in timed]:
        raise SystemExit(f"{unknown[0]} is no function or model of cases.toml")
    return {
        name: case
        for name, case in timed.items()
        if name in names or (not names and (all_of_them or "asked" in case))
    }


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        serve(sys.argv[2], int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--all", action="store_true", help="also cases of which nothing is asked")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=2, help="measuring time of each build in each case")
    args = parser.parse_args()
    results = {}
    for name, case in cases_to_run(args.cases, args.all).items():
        if problem := run.missing_file(case):
            print(f"  {name} is left out: {problem}", file=sys.stderr)
            continue
        for num_threads in sorted(set(args.threads) & set(case["threads"])):
            row = ratios_of((args.before, args.after), name, num_threads, args.seconds)
            print(f"  {name}, {num_threads} threads: {row['ratio']:.3f}", file=sys.stderr)
            results[name, num_threads] = row
    print("; ".join(f"{key} {value}" for key, value in run.machine().items()) + "\n")
    print(table(results))


if __name__ == "__main__":
    main()
