"""Functions and methods of ../public_signatures.txt take the arguments that the documentation names."""

import functools
import importlib
import inspect
from pathlib import Path

import tvm


def thing(path: str):
    """The function at a path: a module, names in it, a class and its method."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        return functools.reduce(getattr, parts[end:], module)
    raise AttributeError(path)


def accepted(function) -> set | None:
    """The names of arguments; None: all."""
    names = set()
    while True:
        names |= set(getattr(function, "__spellings__", ()))
        if not hasattr(function, "__wrapped__"):
            break
        function = function.__wrapped__
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return names | {parameter.name for parameter in parameters}


wrong = []
for line in (Path(__file__).parents[1] / "public_signatures.txt").read_text().splitlines():
    path, _, names = line.partition(": ")
    if line.startswith("#"):
        continue
    try:
        known = accepted(thing(path))
    except AttributeError:
        wrong.append(f"{path} is not there")
        continue
    missing = [name for name in names.split() if known is not None and name not in known]
    if missing:
        wrong.append(f"{path} does not take {', '.join(missing)}")
assert tvm and not wrong, "\n".join(wrong)

print("ok")
