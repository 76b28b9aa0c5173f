"""relay.frontend: models of other frameworks, by way of ONNX."""

import numpy

from tilewright import runtime
from tilewright.errors import Unsupported, UserError
from tilewright.frontend import onnx

from ..relax_onnx import _with_inputs

#: operators whose inputs say what the operator is, so that they are constants
_OF_CONSTANTS = {"Resize", "Upsample", "Clip", "Pad", "Dropout", "QuantizeLinear", "DequantizeLinear", "TopK"}


def from_onnx(
    model,
    shape=None,
    dtype="float32",
    opset: int | None = None,
    freeze_params: bool = True,
    convert_config=None,
    export_node_renamed_model_path=None,
):
    """(module, params) of an ONNX model.

    shape          {input: its shape} instead of what the model says
    dtype          of inputs that have none, or {input: its dtype}
    opset          the version of operators; default the model's
    freeze_params  True: weights are constants, and params is empty; False: floating point weights are parameters after the
                   inputs, and params has their values
    """
    for name, value in (
        ("convert_config", convert_config),
        ("export_node_renamed_model_path", export_node_renamed_model_path),
    ):
        if value is not None:
            raise UserError(f"relay.frontend.from_onnx: {name} is not known\nhelp: leave it out")
    model = _with_inputs(model, shape or {}, dtype)
    if opset is not None:
        for imported in model.opset_import:
            if imported.domain in ("", "ai.onnx"):
                imported.version = opset
    if freeze_params:
        return onnx.from_onnx(model), {}
    values = _moved_weights(model)
    mod = onnx.from_onnx(model)
    names = [param.name_hint for param in mod["main"].params][-len(values) :] if values else []
    return mod, {name: runtime.tensor(value) for name, value in zip(names, values, strict=True)}


def _moved_weights(model) -> list:
    """The values of floating point weights of `model`, which become its last inputs."""
    from onnx import helper, numpy_helper

    fixed = {name for node in model.graph.node if node.op_type in _OF_CONSTANTS for name in node.input}
    known = {value.name for value in model.graph.input}
    values, kept = [], []
    for weight in model.graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.ndim == 0 or not numpy.issubdtype(array.dtype, numpy.floating) or weight.name in fixed:
            kept.append(weight)
            continue
        if weight.name in known:  # as files of 2018 have it
            (old,) = (n for n, value in enumerate(model.graph.input) if value.name == weight.name)
            del model.graph.input[old]
        model.graph.input.append(helper.make_tensor_value_info(weight.name, weight.data_type, array.shape))
        values.append(array)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return values


def _other_frontend(name: str):
    if not name.startswith("from_"):
        raise AttributeError(name)
    raise Unsupported(
        f"relay.frontend.{name}: models are read from ONNX alone\n"
        "help: export the model as ONNX (torch.onnx.export, tf2onnx) and call relay.frontend.from_onnx"
    )


NAMES = {"from_onnx": from_onnx, "__getattr__": _other_frontend}
ONNX_NAMES = {"from_onnx": from_onnx}
