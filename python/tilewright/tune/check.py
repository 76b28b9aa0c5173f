"""A sample of candidates is run by the reference interpreter before it is built."""

from ..errors import InternalError, Unsupported, UserError
from ..schedule import Schedule

#: iterations of loops that the interpreter runs for one candidate, some tenths of a second
MOST_STEPS = 1_000_000


def objection(sch: Schedule) -> str | None:
    """Why a schedule gives other numbers than its program on the interpreter; None if it does not, or the program is too large.

    sch  a Schedule with steps
    >>> tilewright.tune.check.objection(tilewright.Schedule(mm))
    """
    try:
        sch.verify(samples=1, max_steps=MOST_STEPS)
    except InternalError:
        raise
    except Unsupported:
        return None
    except UserError as error:
        text = str(error).splitlines()[0].removeprefix("error: ").removeprefix("verify: ")
        return f"on the interpreter, {text}" if " instead of " in text else None
    return None
