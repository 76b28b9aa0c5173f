"""The function cases as small ONNX graphs, for peers that run models only."""

import numpy as np
import onnx
from onnx import TensorProto, helper


def graph_of(name: str, arrays: list[np.ndarray]) -> onnx.ModelProto | None:
    """Inputs a and b; None for a function that has no graph."""
    if name not in ("mm", "mm_relu"):
        return None
    a, b = arrays
    nodes = [helper.make_node("MatMul", ["a", "b"], ["product"])]
    if name == "mm_relu":
        nodes.append(helper.make_node("Relu", ["product"], ["positive"]))

    def value(name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    output = value(nodes[-1].output[0], (a.shape[0], b.shape[1]))
    graph = helper.make_graph(nodes, name, [value("a", a.shape), value("b", b.shape)], [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def inputs_for(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Random inputs of the shapes that the file states, 1 for an open extent."""
    rng = np.random.default_rng(0)
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name not in weights:
            inputs[value.name] = rng.random(
                [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim], np.float32
            )
    return inputs
