"""ONNX models to graph modules."""

from .. import _core
from ..ir.module import IRModule


def from_onnx(model) -> IRModule:
    """A module whose "main" computes the ONNX model at path `model`; initializers are constants.

    model   path of the file; tensors kept in other files beside it are read too
    Raises  UserError if the file is damaged, Unsupported with every operator that has no conversion
    >>> mod = tilewright.frontend.onnx.from_onnx("model.onnx")
    """
    return IRModule._of(_core.import_onnx(str(model)))


def operators() -> list[str]:
    """The operators of ai.onnx that from_onnx takes, in alphabetical order; docs/onnx.md says what of each.

    >>> "Conv" in tilewright.frontend.onnx.operators()
    """
    return _core.onnx_operators()
