"""One kind of error for arguments that a public function cannot use.

The body of a function meets a wrong argument wherever it first touches it, and Python then says something about an
attribute or a conversion inside of tilewright.  `guard` turns that into an ArgumentError that names the function, its
arguments and how it is called.  Errors of the user's own callbacks come through as they are.
"""

import functools
import inspect
import sys
from pathlib import Path

from . import _core
from .errors import ArgumentError, UserError

_PACKAGE = str(Path(__file__).parent)
# the last: what Cython has compiled of numpy has paths from its root
_NOT_THE_USERS = (_PACKAGE, str(Path(inspect.__file__).parent), "<frozen", "numpy/")
_FOREIGN = (
    TypeError, ValueError, AttributeError, KeyError, IndexError, ArithmeticError, BufferError, RuntimeError,
)  # fmt: skip


_CALLED = ("__init__", "__getitem__", "__setitem__", "__delitem__", "__call__")


def _described(value) -> str:
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"a Python {type(value).__name__}"


def _named(signature: inspect.Signature | None, args: tuple, kwargs: dict) -> dict:
    try:
        return dict(signature.bind_partial(*args, **kwargs).arguments) if signature else kwargs
    except TypeError:
        return kwargs


def _arguments(signature: inspect.Signature | None, args: tuple, kwargs: dict) -> str:
    named = _named(signature, args, kwargs)
    if named is kwargs:
        if signature and next(iter(signature.parameters), None) in ("self", "cls"):
            args = args[1:]
        return ", ".join(
            [_described(a) for a in args] + [f"{k} = {_described(a)}" for k, a in kwargs.items()]
        )
    named = {name: value for name, value in named.items() if name not in ("self", "cls")}
    return ", ".join(f"{name} = {_described(value)}" for name, value in named.items())


def _reason(error: Exception) -> str:
    text = (str(error).splitlines() or [""])[0]
    # names of C++ types in messages of the bindings mean nothing to the caller
    if not text or "incompatible function arguments" in text or "std::" in text:
        return "these are not the types that it takes"
    return text


def _is_ours(error: Exception) -> bool:
    """True if no function that the user passed took part: only this package, and what it calls of others."""
    numpy = getattr(sys.modules.get("numpy"), "__file__", None)  # wherever it is installed
    known = (*_NOT_THE_USERS, str(Path(numpy).parent)) if numpy else _NOT_THE_USERS
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(known):
            return False
        trace = trace.tb_next
    return True


def _refusal(name: str, function, args: tuple, kwargs: dict, error: Exception) -> ArgumentError:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        signature = None
    dtype = _named(signature, args, kwargs).get("dtype")
    if isinstance(dtype, str):
        try:
            _core.check_dtype(dtype)
        except UserError as problem:
            return ArgumentError(f"{name}: {str(problem).removeprefix('error: ')}")
    doc = (inspect.getdoc(function) or "").partition("\n")[0]
    usage = doc or f"{name} is of C++ and has no signature"
    if signature is not None:
        names = [str(each) for each in signature.parameters.values() if each.name not in ("self", "cls")]
        usage = f"{name.rpartition('.')[2]}({', '.join(names)})" + (f": {doc}" if doc else "")
    given = _arguments(signature, args, kwargs)
    return ArgumentError(f"{name}: cannot take ({given}): {_reason(error)}\nhelp: {usage}")


def guard(name: str, function):
    """`function`, called `name` in messages, with ArgumentError for what it cannot use."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except _FOREIGN as error:
            if type(error).__module__.startswith("tilewright") or not _is_ours(error):
                raise
            raise _refusal(name, function, args, kwargs, error) from error

    call.__tilewright_guarded__ = True
    return call


def _is_plain(function) -> bool:
    return (inspect.isroutine(function) or type(function).__name__.startswith("nb_")) and not hasattr(
        function, "__tilewright_guarded__"
    )


def guard_class(name: str, target: type, skip=()) -> None:
    """Guards the public methods of `target`, and its construction."""
    for key, member in list(vars(target).items()):
        is_public = not key.startswith("_") or key in _CALLED
        if not is_public or key in skip or (key == "__init__" and not inspect.isfunction(member)):
            continue
        shown = name if key == "__init__" else f"{name}.{key}"
        if isinstance(member, staticmethod | classmethod):
            setattr(target, key, type(member)(guard(shown, member.__func__)))
        elif _is_plain(member):
            setattr(target, key, guard(shown, member))


def guard_module(name: str, namespace: dict, names) -> None:
    """Guards the functions `names` of a module, and the classes that it defines."""
    for key in names:
        member = namespace.get(key)
        if isinstance(member, type):
            # nodes guard themselves: they are made too often to look at every method
            is_ours = member.__module__.startswith(name) and not hasattr(member, "field_names")
            if is_ours and not issubclass(member, BaseException):
                guard_class(f"{name}.{key}", member)
        elif callable(member) and _is_plain(member):
            namespace[key] = guard(f"{name}.{key}", member)
