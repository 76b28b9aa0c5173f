"""A random node of a seed: its arrays, which of them are constants, and which extents are open."""

import dataclasses
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper


@dataclasses.dataclass
class Spec:
    """constants: places of inputs that are part of the model; opset: of the model; loose: parts of numbers that may differ."""

    op: str
    arrays: list
    constants: tuple = ()
    outputs: int = 1
    opset: int = 22
    attrs: dict = dataclasses.field(default_factory=dict)
    open_axes: set = dataclasses.field(default_factory=set)  # (place, axis)
    loose: float = 1e-4
    domain: str = ""

    def model(self) -> onnx.ModelProto:
        names = [f"x{n}" if array is not None else "" for n, array in enumerate(self.arrays)]
        infos, tensors = [], []
        for n, array in enumerate(self.arrays):
            if array is None:
                continue
            if n in self.constants:
                tensors.append(numpy_helper.from_array(array, f"x{n}"))
                continue
            shape = [
                f"x{n}_{axis}" if (n, axis) in self.open_axes else extent
                for axis, extent in enumerate(array.shape)
            ]
            infos.append(
                helper.make_tensor_value_info(f"x{n}", helper.np_dtype_to_tensor_dtype(array.dtype), shape)
            )
        results = [f"y{n}" for n in range(self.outputs)]
        node = helper.make_node(self.op, names, results, domain=self.domain, name="node", **self.attrs)
        graph = helper.make_graph(
            [node], "g", infos, [helper.make_empty_tensor_value_info(name) for name in results], tensors
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def inputs(self) -> dict:
        return {
            f"x{n}": array
            for n, array in enumerate(self.arrays)
            if array is not None and n not in self.constants
        }

    def text(self) -> str:
        """The node in one line, for people."""
        shown = [
            "-"
            if array is None
            else f"{array.dtype}{list(array.shape)}"
            + (f" = {array.tolist()}" if n in self.constants and array.size < 9 else "")
            for n, array in enumerate(self.arrays)
        ]
        return f"{self.op}-{self.opset}({', '.join(shown)}) {self.attrs} open {sorted(self.open_axes)}"


def generate(seed: int) -> Spec:
    from .makers import MAKERS

    pick, rng = random.Random(seed), np.random.default_rng(seed)
    spec = MAKERS[pick.choice(sorted(MAKERS))](pick, rng)
    if pick.random() < 0.5:
        for n, array in enumerate(spec.arrays):
            if array is not None and n not in spec.constants:
                spec.open_axes |= {(n, axis) for axis in range(array.ndim) if pick.random() < 0.6}
    return spec
