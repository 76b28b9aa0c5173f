"""The graphs inside of nodes, branches of If and bodies of Loop and Scan, and those that ran as models of their own."""

import numpy as np

from .fields import Message
from .file import ModelFile, Node, node_of

_GRAPH, _GRAPHS = 6, 11
_NODE, _INPUT = 1, 11


def graphs_of(node: Node) -> dict[str, Message]:
    """{name of the attribute: graph} of a node."""
    return {
        name: Message(graph)
        for name, attribute in node.attributes().items()
        for graph in [*attribute.all(_GRAPH), *attribute.all(_GRAPHS)]
    }


def nodes_inside(node: Node) -> list[Node]:
    """The nodes of its graphs, and of the graphs of these."""
    inner = [node_of(Message(each)) for graph in graphs_of(node).values() for each in graph.all(_NODE)]
    return inner + [deeper for each in inner for deeper in nodes_inside(each)]


def not_compared(model: ModelFile) -> str:
    """Which nodes have values that are no values of the main graph: "3 nodes inside of If node "a""; "" if there are none."""
    counts = {node.shown: len(nodes_inside(node)) for node in model.nodes}
    texts = [
        f"{count} node{'s' if count > 1 else ''} inside of {shown}"
        for shown, count in counts.items()
        if count
    ]
    return ", ".join(texts)


def graph_that_ran(model: ModelFile, node: Node, values: dict) -> tuple[str, ModelFile, dict] | None:
    """What a node ran first: how it is called, it as a model, and its inputs; None if that is unknown, or it ran nothing.

    values  {name: array} of what is known outside: the branch that a condition takes, the first iteration of Loop and Scan
    """

    def array(name: str):
        found = values.get(name)
        return model.constant(name) if found is None and name else found

    graphs = graphs_of(node)
    if node.op == "If":
        condition = array(node.inputs[0])
        if condition is None:
            return None
        name = "then_branch" if bool(np.ravel(condition)[0]) else "else_branch"
        place, given = name, []
    elif node.op == "Loop":
        name, place = "body", "body, first iteration"
        count, condition = array(node.inputs[0]), array(node.inputs[1])
        if (count is not None and int(np.ravel(count)[0]) < 1) or (
            condition is not None and not bool(np.ravel(condition)[0])
        ):
            return None
        given = [np.array(0, "int64"), np.array(True), *map(array, node.inputs[2:])]
    elif node.op == "Scan" and model.opset >= 9:
        name, place = "body", "body, first iteration"
        given = _first_slices(node, [array(each) for each in node.inputs])
    else:
        return None
    names = [Message(each).text(1) for each in graphs[name].all(_INPUT)]
    if any(each is None for each in given) or len(names) != len(given):
        return None
    inner = model.inner(graphs[name], values | dict(zip(names, given, strict=True)))
    return (f"{name if node.op == 'If' else place} of {node.shown}", *inner) if inner else None


def _first_slices(node: Node, arrays: list) -> list:
    """What the body of Scan reads first: states as they are, and the first element of each sequence."""
    attributes = node.attributes()

    def numbers(name: str) -> list[int]:
        return attributes[name].ints(8) if name in attributes else []

    num_states = len(arrays) - attributes["num_scan_inputs"].int(3)
    found = list(arrays[:num_states])
    for n, array in enumerate(arrays[num_states:]):
        axis = (numbers("scan_input_axes") or [0] * len(arrays))[n]
        is_reversed = (numbers("scan_input_directions") or [0] * len(arrays))[n] == 1
        if array is None or array.shape[axis] == 0:
            return [None]
        found.append(np.take(array, -1 if is_reversed else 0, axis))
    return found
