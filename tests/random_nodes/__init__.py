"""Random single nodes: what they compute is held against onnx's ReferenceEvaluator and onnxruntime, open extents included."""

from .makers import MAKERS
from .model import Spec, generate

__all__ = ["MAKERS", "Spec", "generate"]
