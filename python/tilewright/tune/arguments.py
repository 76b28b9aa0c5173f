"""Checks of arguments: each error names the function, the argument, its value and what is expected."""

import math
from numbers import Integral, Real

from ..errors import UserError


def _is_number(value, kind) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def require_whole(function: str, least: int, most: int | None = None, **values) -> None:
    """Raises UserError for values that are no whole numbers from `least` to `most`; None: there is no most."""
    for name, value in values.items():
        if not _is_number(value, Integral) or value < least or (most is not None and value > most):
            limit = "on" if most is None else f"to {most}"
            raise UserError(f"{function}: {name} is {value!r}, expected a whole number from {least} {limit}")


def require_above(function: str, bound: int, **values) -> None:
    """Raises UserError for values that are no finite numbers above `bound`."""
    for name, value in values.items():
        if not _is_number(value, Real) or not math.isfinite(value) or value <= bound:
            raise UserError(f"{function}: {name} is {value!r}, expected a finite number above {bound}")


def require_flags(function: str, **values) -> None:
    """Raises UserError for values that are neither True nor False."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise UserError(f"{function}: {name} is {value!r}, expected True or False")


def require_kinds(function: str, **values) -> None:
    """Raises UserError for values that are not of their kind.

    values  name=(value, class or classes, as the text calls it)
    """
    for name, (value, kind, text) in values.items():
        if not isinstance(value, kind):
            raise UserError(f"{function}: {name} is a Python {type(value).__name__}, expected {text}")
