"""Models of older opsets as models of opset 13, whose quantized weights have scales by channel."""

import struct

import numpy as np

from .fields import Message
from .file import ModelFile, Node, make_node, with_inputs
from .subgraphs import nodes_inside

#: DequantizeLinear has scales by channel from this opset on
FIRST_OPSET = 13
#: {operator: the first opset whose nodes mean in opset 13 what they mean in theirs}
SAME_SINCE = {
    "Abs": 6,
    "Add": 7,
    "AveragePool": 7,
    "BatchNormalization": 9,
    "Cast": 9,
    "Ceil": 6,
    "Clip": 11,
    "Concat": 4,
    "Constant": 1,
    "ConstantOfShape": 9,
    "Conv": 1,
    "ConvTranspose": 1,
    "DepthToSpace": 1,
    "Div": 7,
    "Elu": 6,
    "Equal": 7,
    "Erf": 9,
    "Exp": 6,
    "Expand": 8,
    "Flatten": 1,
    "Floor": 6,
    "Gather": 1,
    "Gemm": 7,
    "GlobalAveragePool": 1,
    "GlobalMaxPool": 1,
    "HardSigmoid": 6,
    "Identity": 1,
    "InstanceNormalization": 6,
    "LRN": 1,
    "LeakyRelu": 6,
    "Log": 6,
    "MatMul": 1,
    "Max": 8,
    "MaxPool": 8,
    "Min": 8,
    "Mul": 7,
    "Neg": 6,
    "Pad": 11,
    "Pow": 7,
    "PRelu": 9,
    "Reciprocal": 6,
    "ReduceMax": 1,
    "ReduceMean": 1,
    "Relu": 6,
    "Reshape": 5,
    "Resize": 11,
    "Selu": 6,
    "Shape": 1,
    "Sigmoid": 6,
    "Slice": 10,
    "SpaceToDepth": 1,
    "Sqrt": 6,
    "Sub": 7,
    "Sum": 8,
    "Tanh": 6,
    "Tile": 6,
    "Transpose": 1,
    "Where": 9,
}


def raised(model: ModelFile) -> ModelFile | str:
    """The model as one of opset 13; or the name of a node that means something else there."""
    if model.opset >= FIRST_OPSET:
        return model
    nodes: list[Node] = []
    constants: dict[str, np.ndarray] = {}
    for node in model.nodes:
        blocked = next(
            (each for each in [node, *nodes_inside(node)] if not _is_same(each, model.opset)), None
        )
        if blocked is None or "::" in node.op:
            nodes.append(node)
        elif blocked is node and node.op in _CHANGES:
            nodes += _CHANGES[node.op](node, constants)
        else:
            return blocked.shown
    return ModelFile(model.changed(nodes, constants, opset=FIRST_OPSET))


def _is_same(node: Node, opset: int) -> bool:
    return "::" in node.op or node.op == "If" or SAME_SINCE.get(node.op, FIRST_OPSET) <= opset


def _inputs_instead(*attributes: str):
    """A change that makes inputs, after the first, of attributes with whole numbers."""

    def change(node: Node, constants: dict) -> list[Node]:
        found, inputs = node.attributes(), list(node.inputs)
        for name in attributes:
            if name in found:
                inputs.append(f"{node.outputs[0]}_{name}")
                constants[inputs[-1]] = np.array(found[name].ints(8), "int64")
            else:
                inputs.append("")
        while not inputs[-1]:
            inputs.pop()
        return [with_inputs(node, inputs, attributes)]

    return change


def _limits(node: Node, constants: dict) -> list[Node]:
    """Clip: limits were attributes."""
    found, inputs = node.attributes(), list(node.inputs)
    for name in ("min", "max"):
        inputs.append(f"{node.outputs[0]}_{name}" if name in found else "")
        if name in found:
            constants[inputs[-1]] = np.array(struct.unpack("<f", found[name].packed(2))[0], "float32")
    return [with_inputs(node, inputs, ("min", "max"))]


def _softmax(node: Node, constants: dict) -> list[Node]:
    """Softmax took all dimensions from its axis on as one."""
    axis = node.attributes()["axis"].int(3) if "axis" in node.attributes() else 1
    x, y = node.inputs[0], node.outputs[0]
    flat, shares, shape = f"{y}_flat", f"{y}_shares", f"{y}_shape"
    inner = with_inputs(node, [flat], ("axis",))
    inner.outputs = [shares]
    inner.message.set(2, shares).add(5, Message().set(1, "axis").set(3, 1).set(20, 2))
    return [
        make_node("Shape", [x], [shape], f"{y}_shape"),
        make_node("Flatten", [x], [flat], f"{y}_flatten", axis=axis),
        inner,
        make_node("Reshape", [shares, shape], [y], f"{y}_reshape"),
    ]


_CHANGES = {
    "Clip": _limits,
    "LogSoftmax": _softmax,
    "ReduceSum": _inputs_instead("axes"),
    "Slice": _inputs_instead("starts", "ends", "axes"),
    "Softmax": _softmax,
    "Split": _inputs_instead("split"),
    "Squeeze": _inputs_instead("axes"),
    "Unsqueeze": _inputs_instead("axes"),
}
