"""Working on ONNX files without the package onnx: comparing what they compute, and quantizing them.

`tilewright diff` and `tilewright quantize` are the same as commands.
"""

from .._guard import guard_module
from .differences import Difference, diff
from .file import ModelFile
from .quantization import quantize

__all__ = ["Difference", "ModelFile", "diff", "quantize"]
guard_module(__name__, globals(), __all__)
