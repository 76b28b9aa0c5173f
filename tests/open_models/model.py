"""A random model: nodes, inputs whose extents are sizes or numbers, and calls of it that are legal or not."""

import dataclasses
import math
import random
from collections.abc import Callable

import numpy as np
from onnx import ModelProto, helper, numpy_helper

#: an extent: the name of a size, a number, or the product of such
Extent = str | int | tuple
Data = Callable[[np.random.Generator, tuple[int, ...], dict[str, int]], np.ndarray]


def floats(rng, shape, sizes):
    return rng.standard_normal(shape).astype("float32")


def positive(rng, shape, sizes):
    return rng.uniform(0.5, 1.5, shape).astype("float32")


def integers(low: int, high: int, dtype: str = "int64") -> Data:
    return lambda rng, shape, sizes: rng.integers(low, high, shape).astype(dtype)


def indices_below(extent: Extent, dtype: str = "int64") -> Data:
    """Indices of an axis; negative ones count from the end."""

    def make(rng, shape, sizes):
        count = max(1, value_of(extent, sizes))
        return rng.integers(-count, count, shape).astype(dtype)

    return make


def value_of(extent: Extent, sizes: dict[str, int]) -> int:
    if isinstance(extent, tuple):
        return math.prod(value_of(factor, sizes) for factor in extent)
    return sizes[extent] if isinstance(extent, str) else extent


def names_in(extent: Extent) -> set[str]:
    if isinstance(extent, tuple):
        return set().union(*map(names_in, extent))
    return {extent} if isinstance(extent, str) else set()


@dataclasses.dataclass
class Input:
    shape: list[Extent]
    data: Data = floats
    declared: list[str | int] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Call:
    """kind: "legal"; or "extent x.1 = 5": an extent of an input is not what the others ask for."""

    kind: str
    arrays: dict[str, np.ndarray]
    contradicts_names: bool = False  # two extents of one name differ
    is_shared: bool = True  # another extent depends on the same size

    @property
    def is_legal(self) -> bool:
        return self.kind == "legal"


@dataclasses.dataclass
class Model:
    operator: str
    seed: int
    nodes: list = dataclasses.field(default_factory=list)
    inputs: dict[str, Input] = dataclasses.field(default_factory=dict)
    constants: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    outputs: list[str] = dataclasses.field(default_factory=lambda: ["y"])
    fixed: dict[str, int] = dataclasses.field(default_factory=dict)  # sizes that are the same in all calls
    closed: set = dataclasses.field(default_factory=set)  # (input, axis) whose extent importers must know
    least: dict[str, int] = dataclasses.field(default_factory=dict)  # what else a size is at least; default 1
    opset: int = 17
    tolerance: float = 1e-4

    # ---- what makers use
    def node(self, op: str, inputs: str, outputs: str = "y", domain: str = "", **attrs) -> None:
        """inputs, outputs: names with spaces between; "-" is one that is left out."""
        names = ["" if name == "-" else name for name in inputs.split()]
        self.nodes.append(helper.make_node(op, names, outputs.split(), domain=domain, **attrs))

    def input(self, name: str, *shape: Extent, data: Data = floats) -> None:
        self.inputs[name] = Input(list(shape), data)

    def constant(self, name: str, value, dtype: str = "int64") -> None:
        self.constants[name] = np.asarray(value, dtype=dtype)

    # ---- the model
    def declare(self, pick: random.Random) -> None:
        """Decides which extents are open, and under which names."""
        for size in sorted(self.size_names() - set(self.fixed)):
            if pick.random() < 0.2:
                self.fixed[size] = self.size(size, pick)
        for name, each in self.inputs.items():
            each.declared = [
                self._declared(name, axis, extent, pick) for axis, extent in enumerate(each.shape)
            ]

    def _declared(self, name: str, axis: int, extent: Extent, pick: random.Random) -> str | int:
        own = f"{name}{axis}"
        if isinstance(extent, str) and extent not in self.fixed:
            return extent if pick.random() < 0.25 else own
        known = (
            extent if isinstance(extent, int) else self.fixed.get(extent) if isinstance(extent, str) else None
        )
        is_closed = (name, axis) in self.closed
        return own if known is None or (pick.random() < 0.6 and not is_closed) else known

    def size_names(self) -> set[str]:
        return {name for each in self.inputs.values() for extent in each.shape for name in names_in(extent)}

    def size(self, name: str, pick: random.Random) -> int:
        return self.least.get(name, 1) + pick.choice([0, 0, 1, 1, 2, 3, 4, 6])

    def proto(self) -> ModelProto:
        infos = [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(self._sample(each).dtype), each.declared
            )
            for name, each in self.inputs.items()
        ]
        graph = helper.make_graph(
            self.nodes,
            "g",
            infos,
            [helper.make_empty_tensor_value_info(name) for name in self.outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        domains = {node.domain for node in self.nodes} - {""}
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(name, 1) for name in domains)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _sample(self, each: Input) -> np.ndarray:
        sizes = dict.fromkeys(self.size_names(), 8)
        return each.data(np.random.default_rng(0), (1,) * len(each.shape), sizes | self.fixed)

    # ---- calls
    def calls(self, legal: int, illegal: int) -> list[Call]:
        pick = random.Random(self.seed)
        made = [self._call(pick, n, None) for n in range(legal)]
        axes = [
            (name, axis)
            for name, each in self.inputs.items()
            for axis, declared in enumerate(each.declared)
            if isinstance(declared, str)
        ]
        pick.shuffle(axes)
        return made + [self._call(pick, legal + n, where) for n, where in enumerate(axes[:illegal])]

    def _call(self, pick: random.Random, number: int, where: tuple[str, int] | None) -> Call:
        sizes = {name: self.fixed.get(name) or self.size(name, pick) for name in sorted(self.size_names())}
        rng = np.random.default_rng([self.seed, number])
        shapes = {
            name: [value_of(extent, sizes) for extent in each.shape] for name, each in self.inputs.items()
        }
        kind = "legal"
        if where:
            name, axis = where
            was = shapes[name][axis]
            now = pick.choice(
                [each for each in (was - 1, was + 1, was * 2, was + 3, 1, 0) if each >= 0 and each != was]
            )
            shapes[name][axis] = now
            kind = f"extent {name}.{axis} = {now}, not {was}"
        arrays = {name: each.data(rng, tuple(shapes[name]), sizes) for name, each in self.inputs.items()}
        return Call(kind, arrays, self._contradicts(shapes), where is None or self._is_shared(*where))

    def _is_shared(self, name: str, axis: int) -> bool:
        mine = names_in(self.inputs[name].shape[axis])
        others = [
            names_in(extent)
            for other, each in self.inputs.items()
            for place, extent in enumerate(each.shape)
            if (other, place) != (name, axis)
        ]
        return any(mine & each for each in others)

    def _contradicts(self, shapes: dict[str, list[int]]) -> bool:
        known: dict[str, int] = {}
        for name, each in self.inputs.items():
            for declared, extent in zip(each.declared, shapes[name], strict=True):
                if isinstance(declared, int):
                    if declared != extent:
                        return True
                elif known.setdefault(declared, extent) != extent:
                    return True
        return False

    def text(self) -> str:
        """The model in a few lines, for people."""
        lines = [f"{name}: {[*each.declared]}" for name, each in self.inputs.items()]
        lines += [
            f"{name} = {value.tolist() if value.size < 9 else value.shape}"
            for name, value in self.constants.items()
        ]
        for node in self.nodes:
            attrs = ", ".join(f"{each.name}={helper.get_attribute_value(each)}" for each in node.attribute)
            lines.append(f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)}) {attrs}")
        return "\n".join(lines)
