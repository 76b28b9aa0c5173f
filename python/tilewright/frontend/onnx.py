"""ONNX models to graph modules."""

import os

from .. import _core
from ..errors import UserError
from ..ir.module import IRModule


def from_onnx(model) -> IRModule:
    """A module whose "main" computes an ONNX model; initializers are constants.

    model   path of the file, beside which tensors may be kept in other files; or an onnx.ModelProto, or its bytes
    Raises  UserError if the file is damaged or `model` is something else, Unsupported with every operator that has no conversion
    >>> mod = tilewright.frontend.onnx.from_onnx("model.onnx")
    """
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, bytes):
        return IRModule._of(_core.import_onnx_bytes(model))
    if not isinstance(model, str | os.PathLike):
        raise UserError(
            f"cannot read an ONNX model from a Python {type(model).__name__}\nhelp: give a path, a ModelProto or its bytes"
        )
    return IRModule._of(_core.import_onnx(os.fspath(model)))


def operators() -> list[str]:
    """The operators of ai.onnx that from_onnx takes, in alphabetical order; docs/onnx.md says what of each.

    >>> "Conv" in tilewright.frontend.onnx.operators()
    """
    return _core.onnx_operators()
