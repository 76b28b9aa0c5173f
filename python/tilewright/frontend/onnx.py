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
    source = path_or_bytes(model)
    return IRModule._of(
        _core.import_onnx_bytes(source) if isinstance(source, bytes) else _core.import_onnx(source)
    )


def path_or_bytes(model) -> str | bytes:
    """What from_onnx takes, as the path of a file or as the bytes of one.

    Raises  UserError if `model` is something else
    """
    if hasattr(model, "SerializeToString"):
        return model.SerializeToString()
    if isinstance(model, bytes):
        return model
    if not isinstance(model, str | os.PathLike):
        raise UserError(
            f"cannot read an ONNX model from a Python {type(model).__name__}\nhelp: give a path, a ModelProto or its bytes"
        )
    return os.fsdecode(model)  # a path may be bytes


def operators() -> list[str]:
    """The operators of ai.onnx that from_onnx takes, in alphabetical order; docs/onnx.md says what of each.

    >>> "Conv" in tilewright.frontend.onnx.operators()
    """
    return _core.onnx_operators()
