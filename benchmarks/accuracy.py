"""Compares the results of the cases with float64."""

import math
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def widened(tensor: TensorProto) -> TensorProto:
    """float32 values as float64; other tensors unchanged."""
    if tensor.data_type != TensorProto.FLOAT:
        return tensor
    return numpy_helper.from_array(numpy_helper.to_array(tensor).astype("float64"), tensor.name)


def as_float64(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with float64 in place of float32."""
    graph = model.graph
    wide = [widened(tensor) for tensor in graph.initializer]
    del graph.initializer[:]
    graph.initializer.extend(wide)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                attribute.t.CopyFrom(widened(attribute.t))
            elif node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    return model


def without_softmax(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The same model with the input of its last softmax as its only result, because with random weights a softmax gives 0 and 1;
    None if it does not end in a softmax."""
    graph = model.graph
    last = graph.node[-1]
    if last.op_type != "Softmax" or [value.name for value in graph.output] != list(last.output):
        return None
    graph.output[0].name = last.input[0]
    del graph.node[-1]
    return model


def model_in_float64(path: str, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The model's results in float64, kernel by kernel; they are right if peers in float32 come close to them."""
    import tilewright.transform

    wide = {
        name: array.astype("float64") if array.dtype == np.float32 else array
        for name, array in inputs.items()
    }
    with tempfile.TemporaryDirectory() as folder, tilewright.transform.PassContext(opt_level=0):
        file = Path(folder) / "model.onnx"
        onnx.save(as_float64(onnx.load(path)), file, save_as_external_data=True)  # more than 2 GB
        main = tilewright.VirtualMachine(tilewright.compile(str(file)))["main"]
        return arrays_of(main(*wide.values()))


def softmax(x: np.ndarray) -> np.ndarray:
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def layer_norm(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


FUNCTIONS = {
    "mm": np.matmul,
    "mm_relu": lambda a, b: np.maximum(a @ b, 0),
    "softmax": softmax,
    "layer_norm": layer_norm,
    "gelu": gelu,
    "transpose": np.transpose,
    "attention": lambda a, b, c: softmax(a @ b.swapaxes(-1, -2)) @ c,
}


def function_in_float64(name: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """numpy's result; sums of products of int8 are exact."""
    return [FUNCTIONS[name](*(array.astype("float64") for array in arrays))]


def arrays_of(result) -> list[np.ndarray]:
    """The results of any library's call, in order."""
    if isinstance(result, list | tuple):
        return [array for part in result for array in arrays_of(part)]
    if hasattr(result, "values") and not hasattr(result, "shape"):  # by name
        return arrays_of(list(result.values()))
    if hasattr(result, "float") and hasattr(result, "detach"):  # numpy does not have torch's bfloat16
        result = result.detach().double()
    return [np.asarray(result.numpy() if hasattr(result, "numpy") else result).astype("float64")]


def error_of(result, reference: list[np.ndarray]) -> float:
    """The largest difference relative to the largest value of its tensor; infinite if shapes differ or it is not a number."""
    arrays = arrays_of(result)
    if [array.shape for array in arrays] != [array.shape for array in reference]:
        return math.inf
    errors = [
        np.abs(array - exact).max(initial=0) / (np.abs(exact).max(initial=0) or 1)
        for array, exact in zip(arrays, reference, strict=True)
    ]
    return float(np.nan_to_num(max(errors, default=0), nan=math.inf))
