"""ONNX files that someone has damaged, or made to do harm: each is refused with an error, in little memory."""

from .generate import KINDS, generate

__all__ = ["KINDS", "generate"]
