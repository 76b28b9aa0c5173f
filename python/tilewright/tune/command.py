"""The program behind `tilewright tune`."""

import json
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from ..errors import Error, UserError
from ..models.program import dims_of
from ..records import RecordFile
from .measure import MeasureOptions
from .page import report
from .statistics import speed_interval
from .tuner import tune_model

#: more than the caches of processors hold
_COLD_BYTES = 256 << 20
#: the exit code of programs that Ctrl-C ended, as shells have it
_INTERRUPTED = 128 + signal.SIGINT
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    """The seconds of "90s", "10m", "2h" or "90".

    Raises UserError for other texts
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found or float(found[1]) == 0:
        raise UserError(f'--time-limit is "{text}", expected e.g. 90s, 10m or 2h')
    return float(found[1]) * _SECONDS[found[2] or "s"]


def require_page(path: str) -> None:
    """Raises UserError if there can be no page at a path, so that it is known before the trials."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise UserError(
            f'--report: there is no folder "{folder}"\nhelp: make it, or name a file in another one'
        )
    if Path(path).is_dir():
        raise UserError(f'--report: "{path}" is a folder\nhelp: name a file in it, e.g. tune.html')


def _write_page(results: list, asked: SimpleNamespace) -> None:
    try:
        report(results, asked.report)
    except OSError as error:
        raise UserError(
            f'--report: "{asked.report}" cannot be written: {error.strerror}\n'
            f'help: all trials are in "{asked.db}", which tilewright.tune.report takes as a RecordFile'
        ) from None
    print(f"wrote {asked.report}")


def _speedup_text(result) -> str:
    text = f"{result.speedup:.2f} times as fast"
    interval = speed_interval(result.best.seconds, result.best.baseline)
    return f"{text}, {interval[0]:.2f} to {interval[1]:.2f} with 95 %" if interval else text


def _tune(asked: SimpleNamespace) -> None:
    target = asked.target + (f" -num-cores={asked.threads}" if asked.threads else "")
    limit = seconds_of(asked.time_limit) if asked.time_limit else None
    if asked.report:
        require_page(asked.report)
    shapes, database = dims_of(asked.fix, "--fix") or None, RecordFile(asked.db)
    with ThreadPoolExecutor(asked.workers or None) as executor:
        results = tune_model(
            asked.model,
            target,
            shapes=shapes,
            only=asked.only or None,
            database=database,
            trials=asked.trials,
            seed=asked.seed,
            allow_reassociation=asked.allow_reassociation,
            executor=executor,
            options=MeasureOptions(
                num_threads=asked.threads, cache_flush_bytes=_COLD_BYTES if asked.cold else 0
            ),
            time_limit=limit,
            resume=asked.resume,
            quiet=asked.quiet,
        )
    faster = [each for each in results if each.speedup > 1]
    print(f"{len(faster)} of {len(results)} kernels are faster than by their default schedules")
    for each in sorted(faster, key=lambda result: -result.speedup):
        print(f"  {each.task.name}: {_speedup_text(each)}")
    if asked.report:
        _write_page(results, asked)


def main(options: str) -> int:
    """Runs the command with its options as JSON, which tilewright/cli/commands/tune.cc writes; returns the exit code."""
    try:
        _tune(SimpleNamespace(**json.loads(options)))
    except Error as error:
        print(error if str(error).startswith("error: ") else f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:  # outside of the trials, e.g. while the model is read
        return _INTERRUPTED
    return 0
