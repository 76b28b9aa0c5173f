"""Quantizing a model after training: weights of 8 bits by channel, activations of 8 bits by ranges over examples.

The result has ordinary operators: QuantizeLinear and DequantizeLinear around convolutions and matrix products, whose weights and
biases are stored as integers.
"""

import dataclasses
from pathlib import Path

import numpy as np

from ..errors import Unsupported, UserError
from .calibrate import METHODS, calls_of, ranges, values_at
from .file import ModelFile
from .opsets import FIRST_OPSET, raised
from .plan import LAYERS, Plan
from .subgraphs import nodes_inside

#: QuantizeLinear is there from this opset on
_LEAST_OPSET = 10


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
    """data: the model's bytes; layers: the errors, in order; left: {node: why it was not quantized}; notes: what else is to be known."""

    data: bytes
    layers: list[LayerError]
    left: dict[str, str]
    notes: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        width = max([len("layer"), *(len(each.node) for each in self.layers)])
        lines = [f"{'layer':<{width}}  {'operator':<8}  {'max abs':>9}  {'max rel':>8}  {'SQNR dB':>7}"]
        for each in self.layers:
            lines.append(
                f"{each.node:<{width}}  {each.op:<8}  {each.max_abs:>9.3g}  {each.max_rel:>8.2%}  {each.sqnr_db:>7.1f}"
            )
        lines += [f"not quantized: {node}: {why}" for node, why in self.left.items()]
        lines += [f"note: {text}" for text in self.notes]
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

    model        path of an ONNX file, or its bytes; one of an opset before 13 becomes one of 13, as far as its nodes say the same there
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
    model, notes = in_quantizable_opset(model)
    unknown = sorted(set(keep) - {node.name for node in model.nodes})
    if unknown:
        raise UserError(f'keep: there is no node "{unknown[0]}"\nhelp: names of nodes are needed')
    calls = calls_of(model, calibration)
    plan = Plan(model, set(keep), 2 ** (weight_bits - 1) - 1)
    plan.left |= layers_inside(model)
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
    return Quantized(data, errors(model, data, plan.layers, calls), plan.left, notes)


def in_quantizable_opset(model: ModelFile) -> tuple[ModelFile, list[str]]:
    """The model in an opset that has what quantized nodes need, and what is to be said of that."""
    found = raised(model)
    if isinstance(found, ModelFile):
        is_same = found is model
        return found, [] if is_same else [f"opset {model.opset} became {found.opset}"]
    if model.opset < _LEAST_OPSET:
        raise Unsupported(
            f"the model has opset {model.opset}, quantized layers need {_LEAST_OPSET}, and {found} has another meaning there\n"
            "help: export it with a later opset, or convert it by onnx.version_converter"
        )
    return model, [
        f"each weight has one scale: those by channel need opset {FIRST_OPSET}, where {found} has another meaning"
    ]


def layers_inside(model: ModelFile) -> dict[str, str]:
    """{node: why} of layers in branches and bodies."""
    left = {}
    for node in model.nodes:
        count = sum(each.op in LAYERS for each in nodes_inside(node))
        if count:
            left[node.name or node.outputs[0]] = (
                f"{count} layer{'s' if count > 1 else ''} inside of {node.shown}, whose graphs stay as they are"
            )
    return left


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
