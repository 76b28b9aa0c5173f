"""Quantizing a model after training: weights of 8 bits by channel, activations of 8 bits by ranges over examples.

The result has ordinary operators: QuantizeLinear and DequantizeLinear around convolutions and matrix products, whose weights and
biases are stored as integers.
"""

import dataclasses
from pathlib import Path

import numpy as np

from ..errors import Unsupported, UserError
from .calibrate import METHODS, calls_of, ranges, values_at
from .file import ModelFile, Node, make_node

#: DequantizeLinear has scales by channel from this opset on
_FIRST_OPSET = 13
#: they keep the numbers of their input
_MOVES = {"MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze"}
_BETWEEN = _MOVES | {"Add", "Concat", "AveragePool", "GlobalAveragePool", "Relu", "Clip"}


@dataclasses.dataclass
class LayerError:
    """One quantized layer: what its results, with all before it quantized, are off by over the examples.

    max_abs   largest absolute difference
    max_rel   that, relative to the largest magnitude of the float model's results
    sqnr_db   power of the results over power of the differences, in decibels; infinite if they are equal
    """

    node: str
    op: str
    max_abs: float
    max_rel: float
    sqnr_db: float


@dataclasses.dataclass
class Quantized:
    """data: the model's bytes; layers: the errors, in order; left: {node: why it was not quantized}."""

    data: bytes
    layers: list[LayerError]
    left: dict[str, str]

    def __str__(self) -> str:
        width = max([len("layer"), *(len(each.node) for each in self.layers)])
        lines = [f"{'layer':<{width}}  {'operator':<8}  {'max abs':>9}  {'max rel':>8}  {'SQNR dB':>7}"]
        for each in self.layers:
            lines.append(
                f"{each.node:<{width}}  {each.op:<8}  {each.max_abs:>9.3g}  {each.max_rel:>8.2%}  {each.sqnr_db:>7.1f}"
            )
        lines += [f"not quantized: {node}: {why}" for node, why in self.left.items()]
        return "\n".join(lines)


def quantize(
    model,
    calibration: dict,
    path=None,
    *,
    method: str = "minmax",
    weight_bits: int = 8,
    keep: tuple | list = (),
) -> Quantized:
    """A model with convolutions and matrix products of integers, and what each is off by.

    model        path of an ONNX file of opset 13 or later, or its bytes
    calibration  {name of an input: array of examples}; the first axis counts samples
    path         where the quantized model is written; default: only its bytes are returned
    method       "minmax": ranges reach from the least to the largest number of the examples; "entropy": they are cut where clipping
                 loses least information; default "minmax"
    weight_bits  8, or 7: then sums of two products fit 16 bits, which programs need that add so on processors without VNNI, as
                 onnxruntime does; default 8
    keep         names of nodes that stay as they are; default none
    Raises       UserError for examples, a method, bits or names that do not fit; Unsupported for a model of an older opset, or one without
                 a layer to quantize
    >>> examples = {"image": np.random.default_rng(0).random((64, 1, 28, 28), "float32")}
    >>> print(tilewright.models.quantize("model.onnx", examples, "model.int8.onnx").layers[0].sqnr_db)
    """
    model = model if isinstance(model, ModelFile) else ModelFile(model)
    if method not in METHODS:
        raise UserError(f'the method of calibration is "{method}"\nhelp: it is minmax or entropy')
    if weight_bits not in (7, 8):
        raise UserError(f"weight_bits is {weight_bits}\nhelp: it is 7 or 8")
    if model.opset < _FIRST_OPSET:
        raise Unsupported(
            f"the model has opset {model.opset}, but scales by channel need {_FIRST_OPSET}\n"
            "help: export it with a later opset, or convert it by onnx.version_converter"
        )
    unknown = sorted(set(keep) - {node.name for node in model.nodes})
    if unknown:
        raise UserError(f'keep: there is no node "{unknown[0]}"\nhelp: names of nodes are needed')
    calls = calls_of(model, calibration)
    plan = Plan(model, set(keep), 2 ** (weight_bits - 1) - 1)
    if not plan.layers:
        reasons = "; ".join(f"{node}: {why}" for node, why in plan.left.items())
        raise Unsupported(
            f"the model has no layer to quantize{': ' + reasons if reasons else ''}\n"
            "help: convolutions and matrix products with constant weights of float32 can be"
        )
    data = plan.written(ranges(model, plan.tensors, calls, method))
    if path:
        try:
            Path(path).write_bytes(data)
        except OSError as error:
            raise UserError(
                f'"{path}" cannot be written: {error.strerror}\nhelp: name another file'
            ) from None
    return Quantized(data, errors(model, data, plan.layers, calls), plan.left)


def errors(model: ModelFile, data: bytes, layers: dict, calls: list[dict]) -> list[LayerError]:
    """The errors of the layers over all calls."""
    names = [layer.node.outputs[0] for layer in layers.values()]
    most, gap, power, lost = (dict.fromkeys(names, 0.0) for _ in range(4))
    pairs = zip(values_at(model, names, calls), values_at(ModelFile(data), names, calls), strict=True)
    for right, found in pairs:
        for name in names:
            a, b = right[name].astype("float64"), found[name].astype("float64")
            if a.size:
                most[name] = max(most[name], float(np.abs(a).max()))
                gap[name] = max(gap[name], float(np.abs(a - b).max()))
            power[name] += float((a * a).sum())
            lost[name] += float(((a - b) ** 2).sum())
    return [
        LayerError(
            layer.node.name or name,
            layer.node.op,
            gap[name],
            gap[name] / (most[name] or 1.0),
            10 * float(np.log10(power[name] / lost[name])) if lost[name] and power[name] else float("inf"),
        )
        for name, layer in zip(names, layers.values(), strict=True)
    ]


@dataclasses.dataclass
class Layer:
    """A node whose weight becomes integers: the axis of the weight that counts output channels."""

    node: Node
    weight: np.ndarray
    axis: int


def channel_axis(node: Node, weight: np.ndarray) -> int:
    if node.op == "Conv":
        return 0
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
            if node.op not in ("Conv", "MatMul", "Gemm"):
                continue
            weight = model.constant(node.inputs[1])
            why = reason_against(node, weight, keep)
            if why:
                self.left[node.name or node.outputs[0]] = why
            else:
                self.layers[n] = Layer(node, weight, channel_axis(node, weight))
        self.tensors = self._tensors()
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
            is_between = node.op in _BETWEEN - {"Relu", "Clip"} and quantizable.issuperset(reads)
            if is_between and rounded & set(node.outputs):
                rounded.update(reads)
        order = [*self.model.inputs, *self.model.values()]
        return [name for name in order if name in rounded]

    def _activations(self, node: Node) -> list[str]:
        reads = node.inputs if node.op in ("Add", "Concat") else node.inputs[:1]
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
        """What only moves elements has the range of its input."""
        for node in self.model.nodes:
            if node.op in _MOVES and node.inputs[0] in found and node.outputs[0] in found:
                found[node.outputs[0]] = found[node.inputs[0]]

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
        others = tuple(axis for axis in range(weight.ndim) if axis != layer.axis)
        largest = np.maximum(np.abs(weight).max(axis=others, initial=0), 1e-30)
        scale = (largest / self._most).astype("float32")
        along = [-1 if axis == layer.axis else 1 for axis in range(weight.ndim)]
        rounded = np.clip(np.rint(weight / scale.reshape(along)), -self._most, self._most).astype("int8")
        constants[f"{base}_quantized"], constants[f"{base}_scale"] = rounded, scale
        constants[f"{base}_zero_point"] = np.zeros(scale.shape, "int8")
        made = [inputs[0], f"{base}_dequantized", *inputs[2:]]
        parameters = [f"{base}_quantized", f"{base}_scale", f"{base}_zero_point"]
        nodes.append(
            make_node("DequantizeLinear", parameters, [made[1]], f"{base}_dequantize", axis=layer.axis)
        )
        bias = self.model.constant(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] else None
        if bias is not None and bias.dtype == np.float32 and bias.shape == scale.shape and is_plain(node):
            made[2] = self._integer_bias(node, bias, scale * scales[node.inputs[0]], constants, nodes)
        return made

    def _integer_bias(self, node: Node, bias, scale, constants: dict, nodes: list) -> str:
        rounded = np.rint(bias.astype("float64") / scale)
        if np.abs(rounded).max(initial=0) >= 2**31:  # a channel whose weights are nearly 0
            return node.inputs[2]
        base = self._free(f"{node.name or node.outputs[0]}_bias")
        constants[f"{base}_quantized"], constants[f"{base}_scale"] = rounded.astype("int32"), scale
        nodes.append(
            make_node(
                "DequantizeLinear",
                [f"{base}_quantized", f"{base}_scale"],
                [f"{base}_dequantized"],
                f"{base}_dequantize",
                axis=0,
            )
        )
        return f"{base}_dequantized"


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


def with_inputs(node: Node, inputs: list[str]) -> Node:
    if inputs == node.inputs:
        return node
    from .fields import Message

    message = Message(node.message.to_bytes()).set(1, *inputs)
    return Node(node.op, node.name, inputs, node.outputs, message)
