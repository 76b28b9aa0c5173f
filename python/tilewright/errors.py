"""The three kinds of error: whose fault it is, is their type."""

from . import _core


class Error(Exception):
    """Any of the three."""


class UserError(Error, ValueError):
    """Your program, file or argument is wrong; the text says what, where and what to do next."""


class ArgumentError(UserError, TypeError):
    """A function was called with arguments that it cannot use; the text says how it is called."""


class Unsupported(Error, NotImplementedError):
    """Your program is right, but tilewright cannot do this; the text says what it can do instead."""


class InternalError(Error, RuntimeError):
    """A bug of tilewright; please report it with the script that shows it."""


_core.set_exceptions(UserError, Unsupported, InternalError)
