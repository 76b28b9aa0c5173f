"""The operators of graphs, from the table of C++: relax.op.add(x, y), relax.op.nn.relu(x).

Each takes its tensors by position and its attributes by keyword.
"""

import functools
import sys
import types

from .. import _core
from .._guard import guard
from ._calls import NAMES as _NAMES
from ._op_call import operator as _operator


def _fill() -> None:
    here = sys.modules[__name__]
    for name, arg_names, doc, attrs, source in _core.relax_op_table():
        parts = name.split(".")[1:]
        place = here
        for group in parts[:-1]:
            if not hasattr(place, group):
                setattr(place, group, types.SimpleNamespace())
            place = getattr(place, group)
        setattr(
            place,
            parts[-1],
            guard(f"tilewright.relax.op.{'.'.join(parts)}", _operator(name, arg_names, doc, attrs, source)),
        )


_fill()
for _name, _function in _NAMES.items():
    *_groups, _last = _name.split(".")
    _place = functools.reduce(getattr, _groups, sys.modules[__name__])
    setattr(_place, _last, guard(f"tilewright.relax.op.{_name}", _function))
del _name, _function, _groups, _last, _place
