"""I: the names of modules in scripts."""

from .annotation import Annotation as _Annotation
from .decorators import ir_module, pyfunc

__all__ = ["ir_module", "pyfunc"]


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Annotation(f"I.{name}")
