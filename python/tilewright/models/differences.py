"""Finding the first operator of a model that computes something else than a reference, and the smallest model that shows it."""

import dataclasses
from pathlib import Path

import numpy as np

from ..errors import UserError
from .file import ModelFile, Node
from .numbers import Distance, distance, is_float, range_text
from .runs import Reference, comparable, run_tilewright
from .subgraphs import graph_that_ran, graphs_of
from .tensors import with_objects, without_objects


@dataclasses.dataclass
class Difference:
    """The first node whose results differ.

    node      how errors call it: 'Conv node "conv1"'
    value     its output that differs
    distance  from the reference
    ranges    {name of an input of the node: what the array holds}, of the reference
    is_fused  the values agree while each is an output of the model: kernels that join nodes differ
    chain     the names of the nodes of the reproducer, in order
    folder    where the reproducer is; "" if none was asked for
    inside    for If, Loop and Scan: what differs first in the graph that ran, which says where; or why that is not known
    """

    node: str
    value: str
    distance: Distance
    ranges: dict[str, str]
    is_fused: bool
    chain: list[str]
    folder: str = ""
    inside: "Difference | str" = ""

    def __str__(self) -> str:
        lines = [f"{self.node}: {self.value}: {self.distance}"]
        lines += [f"  input {name}: {text}" for name, text in self.ranges.items()]
        if self.is_fused:
            lines.append("  the values agree where each is an output of the model: fused kernels differ")
        lines.append(f"  smallest part that differs: {', '.join(self.chain)}")
        if self.inside:
            lines += [f"  {line}" for line in str(self.inside).splitlines()]
        return "\n".join(lines)


@dataclasses.dataclass
class _Search:
    """One comparison: `right` has the reference's values, inputs and constants among them."""

    model: ModelFile
    right: dict
    rtol: float | None
    atol: float

    def differs(self, nodes: list[Node], names: list[str]) -> tuple[str, Distance] | None:
        """The first of `names` that differs where the nodes are compiled as one model, fed by the reference."""
        made = {name for node in nodes for name in node.outputs}
        read = set().union(*(node.reads() for node in nodes)) - made
        given = {name: self.right[name] for name in read if name in self.right}
        found = run_tilewright(self.model.part(nodes, names, given), given, names)
        return self.first_far(found, names)

    def first_far(self, found: dict, names: list[str]) -> tuple[str, Distance] | None:
        for name in names:
            if name in self.right:
                far = distance(found[name], self.right[name], self.rtol, self.atol)
                if far.is_far:
                    return name, far
        return None

    def prefix(self, count: int) -> tuple[list[Node], list[str]]:
        """The first `count` nodes, and those of their values that others read."""
        nodes, rest = self.model.nodes[:count], self.model.nodes[count:]
        read = set(self.model.outputs).union(*(node.reads() for node in rest))
        names = [name for node in nodes for name in node.outputs if name in read and name in self.right]
        return nodes, names

    def first_prefix(self, found: tuple[str, Distance]) -> tuple[str, Distance]:
        """What differs of the smallest number of nodes that differ as one model; `found` differs of all of them."""
        low, high = 0, len(self.model.nodes)
        while high - low > 1:
            middle = (low + high) // 2
            nodes, names = self.prefix(middle)
            differs = self.differs(nodes, names) if names else None
            if differs:
                high, found = middle, differs
            else:
                low = middle
        return found

    def chain(self, last: int, value: str) -> list[Node]:
        """Few nodes up to `last` of which `value` differs; the first ones start from the reference's values."""
        size = 1
        while size <= last:
            some = self.from_node(last + 1 - size, last, value)
            if self.differs(some, [value]):
                return some
            size = max(size + 1, size * 3 // 2)
        return self.from_node(0, last, value)

    def from_node(self, first: int, last: int, value: str) -> list[Node]:
        """The nodes that `value` needs from number `first` on, and those before that make what the reference has not."""
        wanted, kept = {value}, []
        for n, node in reversed(list(enumerate(self.model.nodes[: last + 1]))):
            made = wanted & set(node.outputs)
            if made and (n >= first or made - set(self.right)):
                kept.append(node)
                wanted |= node.reads()
        return kept[::-1]


def diff(
    model,
    inputs: dict,
    reference: str = "interpreter",
    *,
    rtol: float | None = None,
    atol: float = 1e-5,
    folder: str | None = None,
) -> Difference | None:
    """The first node of a model whose results differ from a reference; None if all agree.

    model      path of an ONNX file, its bytes, or a ModelFile
    inputs     {name of an input: array}
    reference  "interpreter", "onnxruntime", or the path of an .npz file with arrays by the names of values
    rtol       part of each number by which it may differ; default by dtype, 1e-3 for float32
    atol       part of the largest number of a tensor by which its numbers may differ, too; default 1e-5
    folder     where model.onnx, inputs.npz and expected.npz of the smallest part that differs are written; default: nowhere
    Raises     UserError for inputs or a reference that do not fit; what the model raises when it is imported or run
    >>> tilewright.models.diff("model.onnx", {"image": np.ones((1, 1, 28, 28), "float32")}, reference="onnxruntime")
    """
    model = model if isinstance(model, ModelFile) else ModelFile(model)
    inputs = {name: with_objects(np.asarray(array)) for name, array in inputs.items()}
    right = inputs | Reference(reference).values(model, inputs)
    search = _Search(model, right, rtol, atol)
    names = [name for name in comparable(model) if name in right]
    found = search.differs(model.nodes, names)
    is_fused = found is None
    if is_fused:
        outputs = [name for name in model.outputs if name in right and name in model.values()]
        found = search.differs(model.nodes, outputs) if outputs else None
        if found is None:
            return None
        found = search.first_prefix(found)
    value, far = found
    last = next(n for n, node in enumerate(model.nodes) if value in node.outputs)
    chain = search.chain(last, value)
    node = model.nodes[last]
    ranges = {name: range_text(array) for name, array in _inputs_of(search, node).items()}
    made = Difference(node.shown, value, far, ranges, is_fused, [each.name or each.shown for each in chain])
    if folder:
        made.folder = folder
        write_reproducer(search, chain, value, Path(folder))
    if graphs_of(node):
        made.inside = _inside(search, node, reference)
    return made


def _inside(search: _Search, node: Node, reference: str) -> Difference | str:
    """The first difference inside of a node with graphs, or why there is none to name."""
    if reference.endswith(".npz"):
        return f"not compared: values inside of {node.shown}, which {reference} does not have"
    ran = graph_that_ran(search.model, node, search.right)
    if ran is None:
        return (
            f"not compared: values inside of {node.shown}, whose inputs are not all tensors of the reference"
        )
    place, model, inputs = ran
    found = diff(model, inputs, reference, rtol=search.rtol, atol=search.atol)
    if found is None:
        rest = "; later iterations were not compared" if node.op != "If" else ""
        return f"{place}: {len(comparable(model))} values agree where it runs by itself{rest}"
    found.node = f"{place}: {found.node}"
    return found


def _inputs_of(search: _Search, node: Node) -> dict:
    """The arrays that a node reads, as far as they are known."""
    arrays = {}
    for name in node.inputs:
        array = search.right.get(name)
        if array is None and name:
            array = search.model.constant(name)
        if array is not None:
            arrays[name] = array
    return arrays


def write_reproducer(search: _Search, nodes: list[Node], value: str, folder: Path) -> None:
    """Writes the nodes as a model, what it reads, and what the reference makes of that."""
    made = {name for node in nodes for name in node.outputs}
    read = set().union(*(node.reads() for node in nodes)) - made
    given = {name: search.right[name] for name in sorted(read) if name in search.right}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(search.model.part(nodes, [value], given))
        np.savez(folder / "inputs.npz", **without_objects(given))
        expected = {name: search.right[name] for name in made if name in search.right}
        np.savez(folder / "expected.npz", **without_objects(expected))
    except OSError as error:
        raise UserError(
            f'"{folder}" cannot be written: {error.strerror}\nhelp: name another folder'
        ) from None


def first_strange(model: ModelFile, found: dict, kinds: str) -> tuple[Node, str] | None:
    """The first node with a NaN among its results, or an Inf if `kinds` is "inf", and the name of that result."""
    for node in model.nodes:
        for name in node.outputs:
            array = found.get(name)
            if array is None or not is_float(array.dtype):
                continue
            numbers = array.astype("float64")
            strange = np.isnan(numbers) if kinds == "nan" else ~np.isfinite(numbers)
            if strange.any():
                return node, name
    return None
