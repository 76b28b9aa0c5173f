"""The inputs and outputs of a model's function."""

import re
from typing import NamedTuple

from ..errors import UserError


class TensorInfo(NamedTuple):
    """One input or output of a model.

    name   as the model calls it
    shape  the extents: ints, and the names or formulas of those that are open ("n", "n + 1"); None if nothing is known of
           them, or it is no tensor
    dtype  of the elements, "string" of strings; None if any is taken, or it is no tensor
    type   all of it as messages show it: "float32[n, 784]"
    """

    name: str
    shape: tuple | None
    dtype: str | None
    type: str

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


_TENSOR = re.compile(r"(tensor|string|bool|bfloat\d+|float\d+\w*|u?int\d+)(?:\[(.*)\])?")


def _extents(text: str) -> tuple:
    """ "n, min(n, 3), 7" as ("n", "min(n, 3)", 7)."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    parts = [part.strip() for part in parts if part.strip()]
    return tuple(int(part) if part.isdigit() else part for part in parts)


def tensor_info(name: str, text: str) -> TensorInfo:
    """The input or output `name` of the type that `text` shows."""
    found = _TENSOR.fullmatch(text)
    if not found:
        return TensorInfo(name, None, None, text)
    dtype, extents = found.groups()
    is_known = extents is not None and not extents.startswith("ndim=")
    return TensorInfo(
        name, _extents(extents) if is_known else None, None if dtype == "tensor" else dtype, text
    )


def main_of(machine) -> str:
    """The function that a model is about: "main", or the only one; raises UserError if there are several."""
    names = machine.graph_names
    if "main" in names:
        return "main"
    if len(names) != 1:
        raise UserError(
            f"the model has no function main, but {', '.join(names)}\nhelp: ask vm.inputs_of(name) of one of them"
        )
    return names[0]


def inputs_of(machine, name: str) -> list[TensorInfo]:
    """The inputs of function `name` of a virtual machine, in order."""
    return [tensor_info(*each) for each in machine.described(name)[0]]


def outputs_of(machine, name: str) -> list[TensorInfo]:
    """The outputs of function `name` of a virtual machine, in order."""
    return [tensor_info(*each) for each in machine.described(name)[1]]


def signatures(machine) -> str:
    """The functions of a machine as text: "main(x: float32[n, 7]) -> output: float32[n, 7]"."""
    return "; ".join(machine.described(name)[2] for name in machine.graph_names)
