"""ONNX models to graph modules."""

import os

from .. import _core
from .._numbers import is_whole
from ..errors import UserError
from ..ir._nodes import classes
from ..ir.module import IRModule
from ..relax.block_builder import BlockBuilder

_Expr = classes["RelaxExpr"]
#: functions by operator, "my.domain::Op"
_registered: dict = {}


def from_onnx(model, shapes: dict[str, int] | None = None) -> IRModule:
    """A module whose "main" computes an ONNX model; initializers are constants.

    model   path of the file, beside which tensors may be kept in other files; or an onnx.ModelProto, or its bytes
    shapes  {name of an open dimension of the inputs: its extent}, e.g. {"batch": 1}, or {"x.0": 1} where it has no name; default: all
            stay open
    Raises  UserError if the file is damaged, `model` is something else, or it has no such dimension; Unsupported with every operator that has no conversion
    >>> mod = tilewright.frontend.onnx.from_onnx("model.onnx")
    """
    source, fixed = path_or_bytes(model), fixed_dims(shapes)
    read = _core.import_onnx_bytes if isinstance(source, bytes) else _core.import_onnx
    return IRModule._of(read(source, fixed, converters()))


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


def register_converter(op: str, fn) -> None:
    """Says what an operator of another domain than ai.onnx computes, for all later imports; a second call replaces the first.

    op  domain and name, "my.domain::Op"; it goes before a converter of tilewright's own, and after a function of that name that the
        model brings
    fn  function of (bb, inputs, attributes) that returns the graph value of the node's output, or a list with one for each output:
        bb is a relax.BlockBuilder with emit and emit_te, inputs are graph values (None: left out), attributes is a dict of
        int, float, str, tilewright tensors, and lists; those with graphs are missing. None takes the converter away
    Raises  UserError for a name without domain, and for `fn` that cannot be called
    >>> def scale(bb, inputs, attributes):
    ...     return relax.op.multiply(inputs[0], inputs[1])
    >>> tilewright.frontend.onnx.register_converter("my.domain::Scale", scale)
    >>> tilewright.frontend.onnx.register_converter("my.domain::Scale", None)
    """
    if not isinstance(op, str) or op.startswith(("ai.onnx::", "::")) or not all(op.partition("::")):
        raise UserError(
            f'cannot register a converter of {op!r}, expected an operator of another domain than ai.onnx\nhelp: e.g. "my.domain::Op"'
        )
    if fn is not None and not callable(fn):
        raise UserError(
            f"the converter of {op} is a Python {type(fn).__name__}, expected a function\nhelp: give a function of (bb, inputs, attributes)"
        )
    _registered.pop(op, None)
    if fn is not None:
        _registered[op] = fn


def converters() -> dict:
    """What the core calls for the operators of register_converter."""
    return {op: _caller(op, fn) for op, fn in _registered.items()}


class _NodeBuilder(BlockBuilder):
    """The builder of the importer, which a converter may use until it returns."""

    def __init__(self, core):
        self._core = core

    def _refuse(self, *_, **__):
        raise UserError(
            "a converter of ONNX nodes is inside of the model's function\nhelp: use emit, emit_te and call_te of its builder"
        )

    function = dataflow = emit_func_output = _refuse


class _Returned:
    """In place of the builder, once the converter has returned."""

    def __getattr__(self, name):
        raise UserError(
            "the builder of an ONNX converter is used after it returned\nhelp: emit all values before"
        )


def _caller(op: str, fn):
    """`fn` as the core calls it."""

    def call(core, shown: str, attributes: dict, inputs: list) -> list:
        bb = _NodeBuilder(core)
        try:
            made = fn(bb, inputs, attributes)
        except Exception as problem:
            problem.add_note(f"in the converter of {op}, for the {shown}")
            raise
        finally:
            bb._core = _Returned()
        values = list(made) if isinstance(made, list | tuple) else [made]
        for value in values:
            if not isinstance(value, _Expr):
                raise UserError(
                    f"{shown}: its converter returned a Python {type(value).__name__}, expected graph values\nhelp: return what operators of relax.op, or bb.emit, give"
                )
        return values

    return call
