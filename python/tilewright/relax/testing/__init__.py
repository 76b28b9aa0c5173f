"""Helpers of graph tests: small models, registered functions, modules with a product of matrices."""

from . import matmul, nn, vm

__all__ = ["matmul", "nn", "vm"]
