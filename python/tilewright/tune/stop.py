"""When tuning is to end: at a time, or when someone presses Ctrl-C."""

import signal
import threading
import time


class Stop:
    """True once nothing new is to be begun.  As a context, Ctrl-C sets it; a second Ctrl-C interrupts at once.

    time_limit  in s from now on; None: none
    """

    def __init__(self, time_limit: float | None = None):
        self._end = None if time_limit is None else time.monotonic() + time_limit
        self._before = None
        self.is_interrupted = False

    def is_set(self) -> bool:
        """True if someone pressed Ctrl-C, or the time is over."""
        return self.is_interrupted or (self._end is not None and time.monotonic() >= self._end)

    @property
    def left_s(self) -> float | None:
        """The time left, in s; None: there is no limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def _interrupt(self, *_) -> None:
        if self.is_interrupted:
            raise KeyboardInterrupt
        self.is_interrupted = True

    def __enter__(self):
        # Python allows handlers in the main thread alone; a program that ignores Ctrl-C, e.g. under nohup, still does
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
