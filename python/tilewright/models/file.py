"""An ONNX file as nodes, values and constants that can be cut into smaller models, without the package onnx."""

import dataclasses
from pathlib import Path

import numpy as np

from ..errors import UserError
from .fields import Message
from .tensors import array_of, dtype_of, tensor_of, value_info

_IR_VERSION, _GRAPH, _OPSETS = 1, 7, 8
_LEAST_IR_VERSION = 4
_NODE, _INITIALIZER, _INPUT, _OUTPUT, _VALUE_INFO, _SPARSE = 1, 5, 11, 12, 13, 15


@dataclasses.dataclass
class Node:
    """One node; `message` is all of it."""

    op: str  # "Conv"; with the domain if it is not ONNX's own
    name: str
    inputs: list[str]  # "" for one that is left out
    outputs: list[str]
    message: Message

    @property
    def shown(self) -> str:
        """How errors of the importer call it."""
        if self.name:
            return f'{self.op} node "{self.name}"'
        return f'{self.op} node that makes "{next(filter(None, self.outputs), "")}"'

    def attributes(self) -> dict:
        """{name: message} of its attributes."""
        return {each.text(1): each for each in map(Message, self.message.all(5))}

    def reads(self) -> set[str]:
        """The names of values that it and its subgraphs read."""
        names = {name for name in self.inputs if name}
        for attribute in self.attributes().values():
            for graph in [*attribute.all(6), *attribute.all(11)]:
                names |= _outer_names(Message(graph))
        return names


def node_of(message: Message) -> Node:
    domain = message.text(7)
    op = message.text(4) if domain in ("", "ai.onnx") else f"{domain}::{message.text(4)}"
    return Node(op, message.text(3), message.texts(1), message.texts(2), message)


def _outer_names(graph: Message) -> set[str]:
    nodes = [node_of(Message(each)) for each in graph.all(_NODE)]
    made = {Message(each).text(8) for each in graph.all(_INITIALIZER)}
    made |= {Message(each).text(1) for each in graph.all(_INPUT)}
    made |= {name for node in nodes for name in node.outputs}
    read = {Message(each).text(1) for each in graph.all(_OUTPUT)}
    for node in nodes:
        read |= node.reads()
    return read - made


class ModelFile:
    """A model that was read; parts of it are models, too.

    source  path of the file, beside which tensors may be kept, or bytes
    Raises  UserError if the file is missing or is no ONNX model
    >>> tilewright.models.ModelFile("model.onnx").nodes[0].shown
    """

    def __init__(self, source):
        if isinstance(source, bytes):
            data, self.folder = source, Path()
        else:
            path = Path(source)
            try:
                data, self.folder = path.read_bytes(), path.parent
            except OSError as error:
                raise UserError(f'"{path}" cannot be read: {error.strerror}\nhelp: check the path') from None
        self._model = Message(data)
        if not self._model.all(_GRAPH):
            raise UserError(
                "the file is not an ONNX model, or is cut short\nhelp: export or download the model again"
            )
        self._graph = Message(self._model.all(_GRAPH)[-1])
        self.opsets = {Message(each).text(1): Message(each).int(2) for each in self._model.all(_OPSETS)}
        self.nodes = _in_order([node_of(Message(each)) for each in self._graph.all(_NODE)])
        tensors = [Message(each) for each in self._graph.all(_INITIALIZER)]
        self._tensors = {tensor.text(8): tensor for tensor in tensors}
        infos = {Message(each).text(1): Message(each) for each in self._graph.all(_INPUT)}
        self._infos = {name: info for name, info in infos.items() if name not in self._tensors}
        self.inputs = list(self._infos)
        self.outputs = [Message(each).text(1) for each in self._graph.all(_OUTPUT)]

    @property
    def opset(self) -> int:
        return self.opsets.get("", self.opsets.get("ai.onnx", 1))

    @property
    def constants(self) -> list[str]:
        """The names of initializers."""
        return list(self._tensors)

    def constant(self, name: str) -> np.ndarray | None:
        """The elements of an initializer, or of a node Constant, also reshaped; None for other values."""
        if name in self._tensors:
            return array_of(self._tensors[name], self.folder)
        node = self.maker(name)
        if node is not None and node.op == "Constant" and "value" in node.attributes():
            return array_of(Message(node.attributes()["value"].bytes(5)), self.folder)
        if node is not None and node.op == "Reshape" and len(node.inputs) == 2:
            array, shape = self.constant(node.inputs[0]), self.constant(node.inputs[1])
            if array is not None and shape is not None and (shape != 0).all():
                return array.reshape(shape.tolist())
        return None

    def input_type(self, name: str) -> tuple:
        """The dtype of an input, and its extents: numbers, names, or None for what is unknown; None without a rank."""
        kind = Message(Message(self._infos[name].bytes(2)).bytes(1))
        shape = None
        if kind.all(2):
            dims = [Message(each) for each in Message(kind.bytes(2)).all(1)]
            shape = [dim.int(1) if dim.all(1) else dim.text(2) or None for dim in dims]
        return dtype_of(kind.int(1), name), shape

    def values(self) -> list[str]:
        """The outputs of all nodes, in order."""
        return [name for node in self.nodes for name in node.outputs if name]

    def maker(self, name: str) -> Node | None:
        """The node that makes a value; None for inputs and constants."""
        return next((node for node in self.nodes if name in node.outputs), None)

    def part(self, nodes: list[Node], outputs: list[str], given: dict | None = None) -> bytes:
        """A model of some of the nodes.

        outputs  the names of its outputs; their types follow from the nodes
        given    {name: array} of values that become inputs of these dtypes and shapes; inputs of the model that the nodes read
                 stay as they are
        """
        given = given or {}
        read = set(outputs).union(*(node.reads() for node in nodes))
        graph = Message()
        graph.fields = [
            field
            for field in self._graph.fields
            if field[0] not in (_NODE, _INITIALIZER, _INPUT, _OUTPUT, _VALUE_INFO)
        ]
        for node in nodes:
            graph.add(_NODE, node.message)
        for name, tensor in self._tensors.items():
            if name in read and name not in given:
                graph.add(_INITIALIZER, self._inside(name, tensor))
        for name, info in self._infos.items():
            if name in read and name not in given:
                graph.add(_INPUT, info)
        for name, array in given.items():
            if name in read:
                graph.add(_INPUT, value_info(name, array.dtype, array.shape))
        for name in outputs:
            graph.add(_OUTPUT, value_info(name))
        return self._written(graph)

    def inner(self, body: Message, values: dict) -> tuple["ModelFile", dict] | None:
        """A graph of one of the nodes as a model, and its inputs; None if it reads what is neither known nor a constant, or
        makes no value.

        values  {name: array} of what is known outside, and of the inputs of the graph
        """
        graph, given = Message(), {}
        graph.fields = [field for field in body.fields if field[0] not in (_INPUT, _OUTPUT, _VALUE_INFO)]
        inputs = [Message(each).text(1) for each in body.all(_INPUT)]
        for name in sorted(_outer_names(body) | set(inputs)):
            if name in values:
                given[name] = values[name]
                graph.add(_INPUT, value_info(name, values[name].dtype, values[name].shape))
            elif (array := self.constant(name)) is not None:
                graph.add(_INITIALIZER, tensor_of(name, array))
            else:
                return None
        made = {name for each in body.all(_NODE) for name in node_of(Message(each)).outputs}
        outputs = [name for name in (Message(each).text(1) for each in body.all(_OUTPUT)) if name in made]
        for name in outputs:
            graph.add(_OUTPUT, value_info(name))
        return (ModelFile(self._written(graph)), given) if outputs else None

    def changed(
        self, nodes: list[Node], constants: dict[str, np.ndarray], *, opset: int | None = None
    ) -> bytes:
        """The model with other nodes, and with constants added; those that nothing reads are left out.

        opset  the opset of the nodes, if it is another one
        """
        read = set(self.outputs).union(*(node.reads() for node in nodes))
        graph = Message()
        graph.fields = [
            field
            for field in self._graph.fields
            if field[0] not in (_NODE, _INITIALIZER, _INPUT, _VALUE_INFO)
        ]
        for info in self._infos.values():
            graph.add(_INPUT, info)
        for node in nodes:
            graph.add(_NODE, node.message)
        for name, tensor in self._tensors.items():
            if name in read and name not in constants:
                graph.add(_INITIALIZER, self._inside(name, tensor))
        for name, array in constants.items():
            if name in read:
                graph.add(_INITIALIZER, tensor_of(name, array))
        return self._written(graph, opset)

    def _inside(self, name: str, tensor: Message) -> Message:
        """The tensor with its elements in it: a part is not in the folder of the model."""
        return tensor_of(name, array_of(tensor, self.folder)) if tensor.int(14) == 1 else tensor

    def _written(self, graph: Message, opset: int | None = None) -> bytes:
        model = Message()
        model.fields = [field for field in self._model.fields if field[0] != _GRAPH]
        # initializers need not be inputs from here on
        model.set(_IR_VERSION, max(model.int(_IR_VERSION), _LEAST_IR_VERSION))
        if opset is not None:
            others = [each for each in model.all(_OPSETS) if Message(each).text(1) not in ("", "ai.onnx")]
            model.set(_OPSETS, *others, Message().set(1, "").set(2, opset))
        return model.add(_GRAPH, graph).to_bytes()


def _in_order(nodes: list[Node]) -> list[Node]:
    """Each node after those whose results it needs; in the order of the file where that is so already."""
    makers = {name: n for n, node in enumerate(nodes) for name in node.outputs if name}
    needs = [sorted({makers[name] for name in node.reads() if name in makers}) for node in nodes]
    if all(needed[-1] < n for n, needed in enumerate(needs) if needed):
        return nodes
    ordered, is_done = [], [False] * len(nodes)
    for first in range(len(nodes)):
        way = [first]  # each needs the next one
        while way:
            n = way[-1]
            left = next((each for each in needs[n] if not is_done[each]), None)
            if is_done[n] or left is None:
                if not is_done[n]:
                    ordered.append(nodes[n])
                    is_done[n] = True
                way.pop()
                continue
            if left in way:
                raise UserError("the graph has a cycle\nhelp: an ONNX graph must be acyclic")
            way.append(left)
    return ordered


def make_node(op: str, inputs: list[str], outputs: list[str], name: str, **numbers: int) -> Node:
    """A node of ai.onnx with attributes that are whole numbers."""
    message = Message().set(1, *inputs).set(2, *outputs).set(3, name).set(4, op)
    for key, value in numbers.items():
        message.add(5, Message().set(1, key).set(3, value).set(20, 2))
    return Node(op, name, list(inputs), list(outputs), message)


def with_inputs(node: Node, inputs: list[str], without: tuple[str, ...] = ()) -> Node:
    """The node with other inputs, and without the attributes named in `without`."""
    if inputs == node.inputs and not without:
        return node
    message = Message(node.message.to_bytes()).set(1, *inputs)
    message.fields = [
        field for field in message.fields if field[0] != 5 or Message(field[2]).text(1) not in without
    ]
    return Node(node.op, node.name, inputs, node.outputs, message)
