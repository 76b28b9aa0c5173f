"""Compilation whose float32 results depend on the program and its inputs alone: compile(..., reproducible=True)."""

import sys
from contextlib import ExitStack, contextmanager

from .errors import UserError
from .target import Target
from .transform import PassContext


def _without_other_sums():
    """The current database without records that add in another order than the default schedule; None if there is none."""
    records = sys.modules.get(f"{__package__}.records")
    current = records.Database.current() if records else None
    if current is None:
        return None

    class SameSums(records.Database):
        def best(self, key):
            record = current.best(key)
            return None if record is None or record.changes_sums else record

    return SameSums()


@contextmanager
def same_bits(target):
    """A context in which compile leaves out what may give other bits for other sizes, machines' threads or records.

    Raises UserError for target c without -fp-contract=off: its compiler decides about multiply-adds
    >>> with tilewright.reproducible.same_bits("llvm"): ex = tilewright.compile("model.onnx")
    """
    target = Target(target)
    if target.kind_name == "c" and target.attrs.get("fp-contract") != "off":
        raise UserError(
            "reproducible=True: the C compiler decides about multiply-adds of target c\n"
            "help: add -fp-contract=off to the target"
        )
    context = PassContext.current()
    with ExitStack() as stack:
        # its tiles are chosen by the size of pictures
        stack.enter_context(
            PassContext(
                context.opt_level,
                context.required_pass,
                [*context.disabled_pass, "winograd"],
                context.config,
                context.instruments,
            )
        )
        if (database := _without_other_sums()) is not None:
            stack.enter_context(database)
        yield
