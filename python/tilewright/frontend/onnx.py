"""ONNX models to graph modules."""

import os

from .. import _core
from .._numbers import is_whole
from ..errors import UserError
from ..ir.module import IRModule


def from_onnx(model, shapes: dict[str, int] | None = None) -> IRModule:
    """A module whose "main" computes an ONNX model; initializers are constants.

    model   path of the file, beside which tensors may be kept in other files; or an onnx.ModelProto, or its bytes
    shapes  {name of an open dimension of the inputs: its extent}, e.g. {"batch": 1}, or {"x.0": 1} where it has no name; default: all
            stay open
    Raises  UserError if the file is damaged, `model` is something else, or it has no such dimension; Unsupported with every operator that has no conversion
    >>> mod = tilewright.frontend.onnx.from_onnx("model.onnx")
    """
    source, fixed = path_or_bytes(model), fixed_dims(shapes)
    return IRModule._of(
        _core.import_onnx_bytes(source, fixed)
        if isinstance(source, bytes)
        else _core.import_onnx(source, fixed)
    )


def fixed_dims(shapes) -> dict[str, int]:
    """The argument `shapes` of from_onnx, checked; {} for None.

    Raises  UserError unless it maps names to whole numbers
    """
    if shapes is None:
        return {}
    if not isinstance(shapes, dict):
        raise UserError(
            f'shapes is a Python {type(shapes).__name__}, expected a dict\nhelp: e.g. {{"batch": 1}}'
        )
    for name, extent in shapes.items():
        if not isinstance(name, str) or not is_whole(extent):
            raise UserError(
                f'shapes has {name!r}: {extent!r}, expected a name and a whole number\nhelp: e.g. {{"batch": 1}}'
            )
    return {name: int(extent) for name, extent in shapes.items()}


def path_or_bytes(model) -> str | bytes:
    """The argument of from_onnx as the path of a file, or as its bytes.

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
