"""The table that tuning shows: by rich in a terminal, as plain lines elsewhere."""

import sys

from .. import _core

HEADER = [
    *("ID", "Name", "FLOP", "Weight", "Default (us)", "Speed (GFLOPS)", "Latency (us)"),
    *("Weighted Latency (us)", "Speedup", "Trials", "Done"),
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
                f"{each.default_s * 1e6:.2f}" if each.default_s else "N/A",
                f"{flops / seconds / 1e9:.2f}" if known and flops else "N/A",
                f"{seconds * 1e6:.2f}" if known else "N/A",
                f"{seconds * each.task.weight * 1e6:.2f}" if known else "N/A",
                f"{each.speedup:.2f}" if known else "N/A",
                *(str(each.trials), "Y" if each.is_done else ""),
            ]
        )
    return rows


def table_text(results: list) -> str:
    """The table as lines of text, with the totals below."""
    rows = [HEADER, *rows_of(results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = [" | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    total = sum(each.latency_s * each.task.weight for each in results if each.latency_s is not None)
    return "\n".join(
        [
            *(lines[0], "-" * len(lines[0]), *lines[1:], "-" * len(lines[0])),
            f"Total trials: {sum(each.trials for each in results)}",
            f"Total latency (us): {total * 1e6:.2f}",
        ]
    )


class Progress:
    """Shows the state of all tasks on stderr: a table in place in a terminal, else the table at the end.

    quiet  nothing is shown
    """

    def __init__(self, quiet: bool):
        self._quiet = quiet
        self._live = None
        self._last: list = []

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

    def show(self, results: list) -> None:
        """Shows the state of `results`, TaskResults."""
        self._last = results
        if self._live is not None:
            self._live.update(table_text(results), refresh=True)
