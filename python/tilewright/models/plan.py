"""Which layers and which values between them become integers, and the model that follows."""

import dataclasses

import numpy as np

from .file import ModelFile, Node, make_node, with_inputs
from .opsets import FIRST_OPSET

LAYERS = ("Conv", "ConvTranspose", "MatMul", "Gemm")
#: they keep the numbers of their input
_MOVES = {
    "DepthToSpace",
    "Flatten",
    "Identity",
    "MaxPool",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
}
#: kernels compute them with what comes before
_ACTIVATIONS = {"Clip", "Elu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mul", "Relu", "Sigmoid", "Tanh"}
_BETWEEN = _MOVES | _ACTIVATIONS | {"Add", "Concat", "AveragePool", "GlobalAveragePool"}
_MANY_INPUTS = ("Add", "Concat", "Mul")


@dataclasses.dataclass
class Layer:
    """A node whose weight becomes integers: the axis of the weight that counts output channels."""

    node: Node
    weight: np.ndarray
    axis: int


def channel_axis(node: Node, weight: np.ndarray) -> int:
    if node.op == "Conv":
        return 0
    if node.op == "ConvTranspose":
        return 1
    if node.op == "Gemm":
        return 0 if number(node, "transB", 0) else 1
    return weight.ndim - 1


def number(node: Node, name: str, otherwise: int) -> int:
    attribute = node.attributes().get(name)
    return attribute.int(3) if attribute else otherwise


class Plan:
    """Which layers and which values between them are quantized, and the model that follows.

    layers   {number of a node: Layer}
    tensors  the values that are rounded to 8 bits, in order
    left     {node: why it is not quantized}
    """

    def __init__(self, model: ModelFile, keep: set[str], most: int = 127):
        """most: the largest integer of a weight."""
        self.model, self.layers, self.left, self._most = model, {}, {}, most
        for n, node in enumerate(model.nodes):
            if node.op not in LAYERS:
                continue
            weight = model.constant(node.inputs[1])
            why = reason_against(node, weight, keep)
            if why:
                self.left[node.name or node.outputs[0]] = why
            else:
                self.layers[n] = Layer(node, weight, channel_axis(node, weight))
        self.tensors = self._tensors()
        self._by_channel = model.opset >= FIRST_OPSET
        self._taken = set(model.values()) | set(model.inputs) | set(model.constants)

    def _tensors(self) -> list[str]:
        """What layers read, and back from there what operators between layers read, if layers made it."""
        layers = {id(layer.node) for layer in self.layers.values()}
        rounded = {layer.node.inputs[0] for layer in self.layers.values()}
        quantizable: set[str] = set()
        for node in self.model.nodes:
            reads = self._activations(node)
            if id(node) in layers or (node.op in _BETWEEN and reads and quantizable.issuperset(reads)):
                quantizable.update(node.outputs)
        for node in reversed(self.model.nodes):
            reads = self._activations(node)
            is_between = node.op in _BETWEEN - _ACTIVATIONS and quantizable.issuperset(reads)
            if is_between and rounded & set(node.outputs):
                rounded.update(reads)
        order = [*self.model.inputs, *self.model.values()]
        return [name for name in order if name in rounded]

    def _activations(self, node: Node) -> list[str]:
        reads = node.inputs if node.op in _MANY_INPUTS else node.inputs[:1]
        return [name for name in reads if name and name not in self.model.constants]

    def written(self, found: dict[str, tuple]) -> bytes:
        """The quantized model, with ranges of the values `tensors`."""
        constants: dict[str, np.ndarray] = {}
        scales, names, nodes = {}, {}, []
        self._share_ranges(found)

        def add_pair(name: str) -> None:
            scale, zero = scale_of(*found[name])
            scales[name] = scale
            base = self._free(name)
            constants[f"{base}_scale"], constants[f"{base}_zero_point"] = scale, zero
            parameters = [f"{base}_scale", f"{base}_zero_point"]
            rounded, names[name] = f"{base}_quantized", f"{base}_dequantized"
            nodes.append(make_node("QuantizeLinear", [name, *parameters], [rounded], f"{base}_quantize"))
            nodes.append(
                make_node("DequantizeLinear", [rounded, *parameters], [names[name]], f"{base}_dequantize")
            )

        for name in self.tensors:
            if name in self.model.inputs:
                add_pair(name)
        for n, node in enumerate(self.model.nodes):
            inputs = [names.get(name, name) for name in node.inputs]
            if n in self.layers:
                inputs = self._integers(self.layers[n], inputs, scales, constants, nodes)
            nodes.append(with_inputs(node, inputs))
            for name in node.outputs:
                if name in self.tensors:
                    add_pair(name)
        return self.model.changed(nodes, constants)

    def _share_ranges(self, found: dict[str, tuple]) -> None:
        """What only moves elements has the range of its input, and parts that only a concat reads have that of the whole."""
        for node in self.model.nodes:
            for name in node.outputs:
                if node.op in _MOVES and node.inputs[0] in found and name in found:
                    found[name] = found[node.inputs[0]]
        readers = [name for node in self.model.nodes for name in node.reads()]
        for node in reversed(self.model.nodes):
            if node.op != "Concat" or node.outputs[0] not in found:
                continue
            for name in node.inputs:
                maker = self.model.maker(name)
                if name in found and readers.count(name) == 1 and maker and maker.op not in _MOVES:
                    found[name] = found[node.outputs[0]]

    def _free(self, name: str) -> str:
        """`name`, with as many "_" as values of the model ask for."""
        while any(f"{name}_{end}" in self._taken for end in _ENDS):
            name += "_"
        self._taken.update(f"{name}_{end}" for end in _ENDS)
        return name

    def _integers(self, layer: Layer, inputs: list, scales: dict, constants: dict, nodes: list) -> list:
        """The inputs of a layer whose weight, and bias, are integers."""
        node, weight = layer.node, layer.weight
        base = self._free(f"{node.name or node.outputs[0]}_weight")
        others = tuple(axis for axis in range(weight.ndim) if axis != layer.axis or not self._by_channel)
        largest = np.maximum(np.abs(weight).max(axis=others, initial=0), 1e-30)
        scale = (largest / self._most).astype("float32")
        along = [-1 if axis == layer.axis else 1 for axis in range(weight.ndim)]
        steps = weight / (scale.reshape(along) if self._by_channel else scale)
        rounded = np.clip(np.rint(steps), -self._most, self._most).astype("int8")
        constants[f"{base}_quantized"], constants[f"{base}_scale"] = rounded, scale
        constants[f"{base}_zero_point"] = np.zeros(scale.shape, "int8")
        made = [inputs[0], f"{base}_dequantized", *inputs[2:]]
        parameters = [f"{base}_quantized", f"{base}_scale", f"{base}_zero_point"]
        axis = {"axis": layer.axis} if self._by_channel else {}
        nodes.append(make_node("DequantizeLinear", parameters, [made[1]], f"{base}_dequantize", **axis))
        bias = self.model.constant(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else None
        fits = bias is not None and bias.ndim == 1 and scale.shape in (bias.shape, ())
        if fits and bias.dtype == np.float32 and is_plain(node):
            made[2] = self._integer_bias(node, bias, scale * scales[node.inputs[0]], constants, nodes)
        return made

    def _integer_bias(self, node: Node, bias, scale, constants: dict, nodes: list) -> str:
        rounded = np.rint(bias.astype("float64") / scale)
        if np.abs(rounded).max(initial=0) >= 2**31:  # a channel whose weights are nearly 0
            return node.inputs[2]
        base = self._free(f"{node.name or node.outputs[0]}_bias")
        constants[f"{base}_quantized"], constants[f"{base}_scale"] = rounded.astype("int32"), scale
        made, axis = f"{base}_dequantized", {"axis": 0} if self._by_channel else {}
        parameters = [f"{base}_quantized", f"{base}_scale"]
        nodes.append(make_node("DequantizeLinear", parameters, [made], f"{base}_dequantize", **axis))
        return made


_ENDS = ("scale", "zero_point", "quantized", "dequantized")


def reason_against(node: Node, weight: np.ndarray | None, keep: set[str]) -> str:
    """Why a node stays as it is; "" if it need not."""
    if node.name and node.name in keep:
        return "asked for"
    if weight is None:
        return "its weight is no constant"
    if weight.dtype != np.float32:
        return f"its weight is {weight.dtype}"
    if weight.ndim < 2:
        return "its weight is a vector"
    if node.op == "MatMul" and weight.ndim > 2:
        return "its weight is a batch of matrices"
    return ""


def is_plain(node: Node) -> bool:
    """True if the bias is added as it is: not scaled by alpha or beta of a Gemm."""
    attributes = node.attributes()
    return not any(name in attributes and attributes[name].packed(2) != _ONE for name in ("alpha", "beta"))


_ONE = np.float32(1).tobytes()


def scale_of(least: float, largest: float) -> tuple[np.ndarray, np.ndarray]:
    """Scale and zero point of uint8 for a range with 0 in it, which is represented exactly."""
    scale = np.float32((largest - least) / 255 or 1.0)
    zero = np.uint8(np.clip(np.rint(-least / float(scale)), 0, 255))
    return np.array(scale), np.array(zero)
