"""te.hybrid: Python functions as operations of tensor expressions, as TVM had them until 2025.

`te.hybrid.script` reads the source of a function; called with tensors of te, the function becomes the body of an operation
whose loops are fixed, and called with numpy arrays it runs as Python.
"""

from .functions import PLAIN
from .script import script

__all__ = ["NAMES", "script"]

#: of tvm.te.hybrid
NAMES = {**PLAIN, "script": script}
