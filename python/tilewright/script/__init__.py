"""TVMScript: decorators that turn Python source into programs, and programs back into text.

from tilewright.script import ir as I, relax as R, tir as T
"""

from ..ir.printing import show, to_script
from . import ir, relax, tir
from .decorators import ir_module
from .source import parse

__all__ = ["ir", "ir_module", "parse", "relax", "show", "tir", "to_script"]
