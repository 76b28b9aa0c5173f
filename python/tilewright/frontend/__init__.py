"""Importers of models."""

from . import onnx

__all__ = ["onnx"]
