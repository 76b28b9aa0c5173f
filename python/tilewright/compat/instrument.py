"""tvm.ir.instrument: watching passes, `with PassContext(instruments=[...])`."""

from tilewright import instrument


def pass_instrument(cls=None):
    """A decorator: objects of the class watch passes with enter_pass_ctx, exit_pass_ctx, should_run(mod, info),
    run_before_pass(mod, info) and run_after_pass(mod, info), of which it has those that it needs."""
    return (lambda given: given) if cls is None else cls


class PassInstrument:
    """The base class of instruments."""


NAMES = {
    "pass_instrument": pass_instrument,
    "PassInstrument": PassInstrument,
    **{
        name: getattr(instrument, name)
        for name in (
            "PassTimingInstrument",
            "PassPrintingInstrument",
            "PrintBeforeAll",
            "PrintAfterAll",
            "WellFormedInstrument",
            "DumpIR",
        )
    },
}
