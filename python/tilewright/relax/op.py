"""The operators of graphs, from the table of C++: relax.op.add(x, y), relax.op.nn.relu(x).

Each takes its tensors by position and its attributes by keyword.
"""

import sys
import types

from .. import _core
from .._guard import guard


def _operator(name: str, arg_names: list, doc: str, attrs: list):
    attr_names = [attr for attr, _, _ in attrs]

    def call(*args, **kwargs):
        positional = list(args[: len(arg_names)]) if arg_names else []
        values = dict(zip(attr_names, args[len(positional) :], strict=False))
        for key, value in kwargs.items():
            if key in arg_names:
                positional.append(value)
            else:
                values[key] = value
        return _core.relax_call_op(name, positional, {k: v for k, v in values.items() if v is not None})

    call.__name__ = call.__qualname__ = name.rsplit(".", 1)[-1]
    lines = [doc, "", *(f"{attr}  {text} ({kind})" for attr, text, kind in attrs)]
    call.__doc__ = "\n".join(lines)
    return call


def _fill() -> None:
    here = sys.modules[__name__]
    for name, arg_names, doc, attrs in _core.relax_op_table():
        parts = name.split(".")[1:]
        place = here
        for group in parts[:-1]:
            if not hasattr(place, group):
                setattr(place, group, types.SimpleNamespace())
            place = getattr(place, group)
        setattr(
            place,
            parts[-1],
            guard(f"tilewright.relax.op.{'.'.join(parts)}", _operator(name, arg_names, doc, attrs)),
        )


_fill()
