"""Random ONNX models with open extents, called with shapes that fit and shapes that contradict each other.

PYTHONPATH=build/python:tests python -m open_models FIRST [COUNT]
"""

from .check import check
from .generate import generate

__all__ = ["check", "generate"]
