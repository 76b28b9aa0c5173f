"""Readers of model files.  Networks written as Python classes are in tilewright.relax.frontend, whose name is TVM's."""

from . import onnx

__all__ = ["onnx"]
