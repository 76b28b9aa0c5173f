"""Equality up to names, content hash, and JSON of any node or module."""

from .. import _core
from .._guard import guard_module
from .module import IRModule, unwrapped, wrapped
from .printing import to_script


class StructuralMismatch(AssertionError, ValueError):
    """Two programs that should be equal differ; the text shows both, the first difference marked, and its path."""


def structural_equal(a, b, map_free_vars: bool = False) -> bool:
    """True if `a` and `b` are the same program up to the names of bound variables.

    a, b           nodes or modules
    map_free_vars  let free variables of `a` correspond to free variables of `b`, one to one; default False
    """
    return _core.structural_equal(unwrapped(a), unwrapped(b), map_free_vars)


def structural_hash(node) -> str:
    """32 hexadecimal digits that depend on the meaning of `node` only: equal programs, equal digits, on any machine."""
    return _core.structural_hash(unwrapped(node))


def assert_structural_equal(a, b, map_free_vars: bool = False) -> None:
    """Nothing if `a` and `b` are structurally equal.

    Raises StructuralMismatch with the path of the first difference and both programs otherwise.
    """
    found = _core.first_mismatch(unwrapped(a), unwrapped(b), map_free_vars)
    if found is None:
        return
    path, reason, left, right = found
    raise StructuralMismatch(
        f"the programs differ at {path or 'the top'}: {reason}\n"
        f"--- left\n{_marked(a, left)}\n--- right\n{_marked(b, right)}"
    )


def _marked(program, node) -> str:
    """`program` as text with `node` underlined if the printer can find it."""
    return to_script(program, underline=[node] if node is not None else [])


def save_json(node) -> str:
    """`node` or module as JSON text; shared variables and buffers stay shared."""
    return _core.save_json(unwrapped(node))


def load_json(text: str):
    """The node or module that save_json wrote.

    Raises UserError if the text is something else, damaged, or of a newer format.
    """
    return wrapped(_core.load_json(text))


__all__ = [
    "IRModule",
    "StructuralMismatch",
    "assert_structural_equal",
    "load_json",
    "save_json",
    "structural_equal",
    "structural_hash",
]


guard_module("tilewright.ir", globals(), [name for name in __all__ if name != "IRModule"])
