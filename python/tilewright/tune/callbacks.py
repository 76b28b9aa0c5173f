"""What is told of measured candidates."""

from ..errors import Unsupported, UserError


class MeasureCallback:
    """Is told of each iteration of each task; a subclass needs measured(result, candidates, records).

    >>> class Prints(tilewright.tune.MeasureCallback):
    ...     def measured(self, result, candidates, records):
    ...         print(result.task.name, min(record.median for record in records))
    >>> tilewright.tune.tune(MyModule, database=tilewright.tune.RecordFile("tune.db"), trials=1, callbacks=[Prints()])
    """

    def measured(self, result, candidates: list, records: list) -> None:
        """Called after an iteration, when its records are in the database.

        result      the TaskResult so far
        candidates  a Schedule for each
        records     its Record, failed ones included
        """
        raise Unsupported(
            f"{type(self).__name__} has no method measured(result, candidates, records)\nhelp: define it"
        )


def checked_callbacks(callbacks) -> list[MeasureCallback]:
    """A list of callbacks.

    Raises UserError for what is none
    """
    found = list(callbacks)
    for each in found:
        if not isinstance(each, MeasureCallback):
            raise UserError(f"callbacks has a Python {type(each).__name__}, expected MeasureCallback")
    return found
