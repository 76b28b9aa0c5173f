"""Where the time of tuning goes."""

import time
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar = ContextVar("tilewright.tune.profiler", default=None)


class Profiler:
    """Adds up the time of parts of what runs inside of `with`: generation, build and measure wait for these, model learns.

    Parts may be inside of others, and count for both.
    >>> with tilewright.tune.Profiler() as profiler:
    ...     with tilewright.tune.Profiler.timeit("reading"):
    ...         module = MyModule
    >>> sorted(profiler.get())
    ['Total', 'reading']
    """

    def __init__(self):
        self._seconds: dict[str, float] = {}
        self._tokens: list = []

    def __enter__(self):
        self._tokens.append((_current.set(self), time.perf_counter()))
        return self

    def __exit__(self, *_):
        token, begin = self._tokens.pop()
        _current.reset(token)
        self._add("Total", time.perf_counter() - begin)

    def _add(self, name: str, seconds: float) -> None:
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def get(self) -> dict[str, float]:
        """{part: seconds}, with "Total" once `with` has ended."""
        return dict(self._seconds)

    def table(self) -> str:
        """The parts as lines of text, the longest first."""
        total = self._seconds.get("Total") or sum(self._seconds.values()) or 1.0
        rows = sorted(self._seconds.items(), key=lambda row: (row[0] != "Total", -row[1]))
        width = max((len(name) for name, _ in rows), default=4)
        lines = [f"{'Part'.ljust(width)} | Seconds | Percent"]
        lines += [
            f"{name.ljust(width)} | {seconds:7.3f} | {100 * seconds / total:7.2f}" for name, seconds in rows
        ]
        return "\n".join(lines)

    @staticmethod
    def current() -> "Profiler | None":
        """The profiler of the innermost `with`, or None."""
        return _current.get()

    @staticmethod
    @contextmanager
    def timeit(name: str):
        """A context whose time counts for part `name` of the current profiler; without one it does nothing."""
        profiler, begin = _current.get(), time.perf_counter()
        try:
            yield
        finally:
            if profiler is not None:
                profiler._add(name, time.perf_counter() - begin)
