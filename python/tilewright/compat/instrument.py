"""tvm.ir.instrument: watching passes, `with PassContext(instruments=[...])`."""

import sys
import time


def pass_instrument(cls=None):
    """A decorator: objects of the class watch passes with enter_pass_ctx, exit_pass_ctx, should_run(mod, info),
    run_before_pass(mod, info) and run_after_pass(mod, info), of which it has those that it needs."""
    return (lambda given: given) if cls is None else cls


class PassTimingInstrument:
    """What each pass took."""

    def __init__(self):
        self.taken: list = []  # (name, seconds)
        self._begin: list = []

    def enter_pass_ctx(self) -> None:
        """Forgets what was measured before."""
        self.taken = []

    def run_before_pass(self, mod, info) -> None:
        """Starts the clock."""
        self._begin.append(time.perf_counter())

    def run_after_pass(self, mod, info) -> None:
        """Stops it."""
        self.taken.append((info.name, time.perf_counter() - self._begin.pop()))

    def render(self) -> str:
        """A line for each pass: its name, and microseconds."""
        return "".join(f"{name}: {seconds * 1e6:.0f}us\n" for name, seconds in self.taken)


class PassPrintingInstrument:
    """Prints the module before and after the passes of these names."""

    def __init__(self, print_before_pass_names=(), print_after_pass_names=()):
        self.before, self.after = list(print_before_pass_names), list(print_after_pass_names)

    def run_before_pass(self, mod, info) -> None:
        """Prints it, if asked to."""
        if info.name in self.before:
            sys.stdout.write(f"Print IR before: {info.name}\n{mod}\n")

    def run_after_pass(self, mod, info) -> None:
        """Prints it, if asked to."""
        if info.name in self.after:
            sys.stdout.write(f"Print IR after: {info.name}\n{mod}\n")


class PrintBeforeAll:
    """Prints the module before each pass."""

    def run_before_pass(self, mod, info) -> None:
        """Prints it."""
        sys.stdout.write(f"Before Running Pass: {info}\n{mod}\n")


class PrintAfterAll:
    """Prints the module after each pass."""

    def run_after_pass(self, mod, info) -> None:
        """Prints it."""
        sys.stdout.write(f"After Running Pass: {info}\n{mod}\n")


NAMES = {
    each.__name__: each
    for each in (pass_instrument, PassTimingInstrument, PassPrintingInstrument, PrintBeforeAll, PrintAfterAll)
}
