"""tvm.error: the types of exceptions that programs written for TVM catch, as tilewright raises them."""

from tilewright import errors


class RPCError(errors.Error):
    """A remote machine failed; nothing here is remote."""


class RPCSessionTimeoutError(RPCError, TimeoutError):
    """A remote machine did not answer in time."""


def register_error(func_name=None, cls=None):
    """The class of errors itself, also as a decorator with or without a name: what a function raises comes as it is."""
    found = func_name if isinstance(func_name, type) else cls
    return found if found is not None else lambda error: error


NAMES = {
    "TVMError": errors.Error,
    "InternalError": errors.InternalError,
    "DiagnosticError": errors.UserError,
    "ScheduleError": errors.UserError,
    "OpError": errors.Unsupported,
    "OpNotImplemented": errors.Unsupported,
    "OpAttributeRequired": errors.UserError,
    "OpAttributeInvalid": errors.UserError,
    "OpAttributeUnImplemented": errors.Unsupported,
    "register_error": register_error,
    "RPCError": RPCError,
    "RPCSessionTimeoutError": RPCSessionTimeoutError,
}


def add() -> None:
    """Makes every error a RuntimeError, as TVMError is."""
    errors.Error.__bases__ = (RuntimeError,)
