"""Gives random weights to the networks that the onnx package ships without weights ("light")."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

FOLDER = Path(onnx.__file__).parent / "backend/test/data/light"


def light_model(name: str) -> onnx.ModelProto:
    """light_NAME.onnx with weights for constants that it computes from a shape.

    In the file all weights are equal, which optimisers fold, and which gives infinities or denormals.  Here weights of
    contractions keep the variance of their input, scales and variances are near 1, the rest is near 0.
    """
    model = onnx.load(FOLDER / f"light_{name}.onnx")
    graph = model.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    near_one = {node.input[n] for node in graph.node if node.op_type == "BatchNormalization" for n in (1, 4)}
    rng = np.random.default_rng(0)
    kept, made = [], []
    for node in graph.node:
        if node.op_type != "ConstantOfShape" or node.input[0] not in shapes:
            kept.append(node)
            continue
        shape = shapes[node.input[0]]
        if node.output[0] in near_one:
            value = 1 + 0.1 * rng.random(shape)
        elif len(shape) > 1:
            value = rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
        else:
            value = 0.1 * rng.standard_normal(shape)
        made.append(numpy_helper.from_array(value.astype(np.float32), node.output[0]))
    del graph.node[:]
    graph.node.extend(kept)
    used = {name for node in kept for name in node.input}
    weights = [tensor for tensor in graph.initializer if tensor.name in used] + made
    inputs = [value for value in graph.input if value.name in used]
    del graph.initializer[:], graph.input[:]
    graph.initializer.extend(weights)
    graph.input.extend(inputs)
    return model


def light_model_file(name: str) -> Path:
    """The path of that model in a folder for temporary files; created if it does not exist."""
    path = Path(tempfile.gettempdir()) / "tilewright-light-models" / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        onnx.save(light_model(name), path)
    return path
