"""Index maps from Python functions."""

import inspect

from ..errors import UserError
from ..ir._nodes import classes

_Var, _IndexMap = classes["tir.Var"], classes["tir.IndexMap"]


def index_map(mapping):
    """The index map that a Python function describes.

    mapping  takes one index per dimension by position and returns the new index or indices
    Raises   UserError if it takes *args: the number of dimensions would not be known
    >>> tilewright.tir.index_map(lambda i, j: (j // 32, i, j % 32))
    """
    parameters = list(inspect.signature(mapping).parameters.values())
    if any(each.kind not in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) for each in parameters):
        raise UserError(
            "an index map takes each index by position, not *args or **kwargs\nhelp: write lambda i, j: ..."
        )
    variables = [_Var(each.name, "int32") for each in parameters]
    indices = mapping(*variables)
    if not isinstance(indices, list | tuple):
        indices = [indices]
    return _IndexMap(variables, list(indices))
