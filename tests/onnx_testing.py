"""Shared by the tests of imported models: one node as a model, run on arrays."""

import numpy as np
import onnx

import tilewright


def run_node(op, arrays, constants=(), outputs=1, opset=22, **attrs):
    """Runs the node on `arrays`; returns an array, or a list if it has several outputs.

    constants  the places of those that are part of the model
    """
    kind = onnx.helper.np_dtype_to_tensor_dtype
    arrays = [np.asarray(each) for each in arrays]
    inputs = [n for n in range(len(arrays)) if n not in constants]
    weights = [
        onnx.helper.make_tensor(
            f"x{n}", kind(arrays[n].dtype), arrays[n].shape, arrays[n].tobytes(), raw=True
        )
        for n in constants
    ]
    names = [f"y{n}" for n in range(outputs)]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, [f"x{n}" for n in range(len(arrays))], names, **attrs)],
        "g",
        [onnx.helper.make_tensor_value_info(f"x{n}", kind(arrays[n].dtype), arrays[n].shape) for n in inputs],
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names],
        weights,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
    main = tilewright.VirtualMachine(tilewright.compile(model))["main"]
    result = main(*[tilewright.tensor(arrays[n]) for n in inputs])
    return [each.numpy() for each in result] if outputs > 1 else result.numpy()
