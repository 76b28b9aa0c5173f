"""R: the names of graphs in scripts."""

from .annotation import Annotation as _Annotation
from .decorators import function

__all__ = ["function"]


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Annotation(f"R.{name}")
