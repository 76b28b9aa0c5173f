"""Instruments, which watch passes: `with tilewright.transform.PassContext(instruments=[PassTimingInstrument()]): ...`

An instrument is an object with those of these methods that it needs; info has the name and the opt_level of the pass:
    enter_pass_ctx(), exit_pass_ctx()   when the `with` block begins and ends
    should_run(mod, info) -> bool       whether an enabled pass runs
    run_before_pass(mod, info), run_after_pass(mod, info)
"""

import sys
import time
from pathlib import Path

from ._guard import guard_module
from .errors import UserError


class PassTimingInstrument:
    """Measures each pass, in `taken`: [(name, seconds)]; render() is a table.

    >>> timing = tilewright.instrument.PassTimingInstrument()
    >>> with tilewright.transform.PassContext(instruments=[timing]): ex = tilewright.compile(mod)
    >>> print(timing.render())
    """

    def __init__(self):
        self.taken: list = []
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


class WellFormedInstrument:
    """Raises UserError after a pass that left a malformed module: types or normal form of graphs, rules of loop programs."""

    def run_after_pass(self, mod, info) -> None:
        """Checks the module."""
        from . import _core
        from .ir._nodes import classes
        from .ir.module import unwrapped
        from .relax.block_builder import BlockBuilder

        try:
            _core.verify(unwrapped(mod))
            builder = BlockBuilder(mod)
            for func in mod.functions.values():
                if isinstance(func, classes["relax.Function"]):
                    builder.normalize(func)
        except UserError as error:
            raise UserError(f"pass {info.name} left a malformed module: {error}") from error


class DumpIR:
    """Writes the module after each pass to a file of a folder: 000_fold_constant.py, 001_fuse_ops.py, ...

    dump_dir  the folder; it is made if it is not there
    refresh   whether files of earlier dumps are removed when the `with` block begins; default False
    """

    def __init__(self, dump_dir, refresh: bool = False):
        self.folder, self.refresh = Path(dump_dir), refresh
        self._count = 0

    def enter_pass_ctx(self) -> None:
        """Makes the folder; numbers begin at 0."""
        self._count = 0
        self.folder.mkdir(parents=True, exist_ok=True)
        for old in self.folder.glob("[0-9][0-9][0-9]_*.py") if self.refresh else ():
            old.unlink()

    def run_after_pass(self, mod, info) -> None:
        """Writes a file."""
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in info.name)
        (self.folder / f"{self._count:03d}_{name}.py").write_text(f"{mod}\n", encoding="utf-8")
        self._count += 1


guard_module(
    __name__,
    globals(),
    [
        "PassTimingInstrument",
        "PassPrintingInstrument",
        "PrintBeforeAll",
        "PrintAfterAll",
        "WellFormedInstrument",
        "DumpIR",
    ],
)
