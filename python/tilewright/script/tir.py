"""T: the names of loop programs in scripts.  Used outside a script, math functions build expressions."""

from .. import tir as _tir
from .annotation import Annotation as _Annotation
from .decorators import prim_func

__all__ = ["prim_func"]


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(_tir, name, None)
    if callable(found) and not isinstance(found, type):
        return found
    return _Annotation(f"T.{name}")
