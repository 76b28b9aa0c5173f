"""The table that tuning shows: by rich in a terminal, as plain lines elsewhere."""

import sys
import time

from .. import _core
from .stop import Stop

HEADER = [
    *("ID", "Name", "FLOP", "Weight", "Speed (GFLOPS)", "Latency (us)", "Weighted Latency (us)"),
    *("Trials", "Done", "Default (us)", "Speedup"),
]


def rows_of(results: list) -> list[list[str]]:
    """One row for each task, in the columns of HEADER; N/A: not known yet."""
    rows = []
    for place, each in enumerate(results):
        flops = _core.count_flops(each.task.func)
        seconds = each.latency_s
        known = seconds is not None
        rows.append(
            [
                *(str(place), each.task.name, str(flops) if flops else "N/A", str(each.task.weight)),
                f"{flops / seconds / 1e9:.2f}" if known and flops else "N/A",
                f"{seconds * 1e6:.2f}" if known else "N/A",
                f"{seconds * each.task.weight * 1e6:.2f}" if known else "N/A",
                *(str(each.trials), "Y" if each.is_done else ""),
                f"{each.default_s * 1e6:.2f}" if each.default_s else "N/A",
                f"{each.speedup:.2f}" if known else "N/A",
            ]
        )
    return rows


def total_latency_s(results: list) -> float:
    """The time of all tasks, in s, each as often as a model calls it."""
    return sum(each.latency_s * each.task.weight for each in results if each.latency_s is not None)


def table_text(results: list) -> str:
    """The table as lines of text, with the totals below."""
    rows = [HEADER, *rows_of(results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = [" | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(
        [
            *(lines[0], "-" * len(lines[0]), *lines[1:], "-" * len(lines[0])),
            f"Total trials: {sum(each.trials for each in results)}",
            f"Total latency (us): {total_latency_s(results) * 1e6:.2f}",
        ]
    )


def duration_text(seconds: float) -> str:
    """A duration for people: "45 s", "12 min", "3.5 h"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Progress:
    """Shows the state of all tasks on stderr: a table in place in a terminal, else a line now and then and the table at the end.

    quiet   nothing is shown
    trials  how many there will be at most; 0: unknown
    stop    when tuning ends
    """

    def __init__(self, quiet: bool, trials: int = 0, stop: Stop | None = None):
        self._quiet, self._trials, self._stop = quiet, trials, stop or Stop()
        self._live = None
        self._last: list = []
        self._begin = time.monotonic()

    def __enter__(self):
        if not self._quiet and sys.stderr.isatty():
            try:
                from rich.console import Console
                from rich.live import Live
            except ImportError:
                return self
            self._live = Live(console=Console(stderr=True), auto_refresh=False)
            self._live.__enter__()
        return self

    def __exit__(self, *what):
        if self._live is not None:
            self._live.__exit__(*what)
        elif not self._quiet and self._last:
            print(table_text(self._last), file=sys.stderr)

    def note(self, text: str) -> None:
        """Shows a line of text."""
        if not self._quiet:
            print(text, file=sys.stderr)

    def left_text(self, done: int) -> str:
        """How much is left after `done` trials, e.g. "16 of 64 trials, 30 s left"."""
        left = [self._stop.left_s] if self._stop.left_s is not None else []
        if done and self._trials:
            left.append((time.monotonic() - self._begin) / done * (self._trials - done))
        text = f"{done} of {self._trials} trials" if self._trials else f"{done} trials"
        return f"{text}, {duration_text(min(left))} left" if left else text

    def show(self, results: list) -> None:
        """Shows the state of `results`, TaskResults, in a terminal."""
        self._last = results
        if self._live is not None:
            # rich reads square brackets as styles
            from rich.text import Text

            done = sum(each.trials for each in results)
            self._live.update(Text(f"{table_text(results)}\n{self.left_text(done)}"), refresh=True)

    def line(self, results: list, result) -> None:
        """Says in a line how far one of `results` is, where there is no terminal."""
        if self._live is not None or self._quiet or result.latency_s is None:
            return
        best = f"{result.trials} trials, best {result.latency_s * 1e6:.2f} us, speedup {result.speedup:.2f}"
        self.note(f"{result.task.name}: {best}; {self.left_text(sum(each.trials for each in results))}")
