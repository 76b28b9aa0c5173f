"""ONNX files of one transposed convolution, from a short description."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def transposed_model(text: str) -> onnx.ModelProto:
    """ConvTranspose with bias as `text` says: "1x64x32x32 128 4x4 2x2 pads=1 output_padding=1 group=1 dilations=1".

    Data, outputs, window, strides, and attributes that are the same for each dimension; the data has open extents with "open".
    """
    shape, outputs, window, strides, *more = text.split()
    data, kernel, steps = ([int(n) for n in part.split("x")] for part in (shape, window, strides))
    attrs = dict(part.split("=") for part in more if "=" in part)
    group, dims = int(attrs.pop("group", 1)), len(kernel)
    lists = {name: [int(n)] * (2 * dims if name == "pads" else dims) for name, n in attrs.items()}
    rng = np.random.default_rng(0)
    weights = {
        "w": rng.standard_normal((data[1], int(outputs) // group, *kernel), np.float32),
        "b": rng.standard_normal(int(outputs), np.float32),
    }
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], strides=steps, group=group, **lists)
    extents = ["n", data[1], *"dhw"[-dims:]] if "open" in more else data
    graph = helper.make_graph(
        [node],
        "transposed",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, extents)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(data))],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def transposed_file(text: str) -> Path:
    """The path of that model in a folder for temporary files; created if it does not exist."""
    name = text.replace(" ", "_").replace("=", "")
    path = Path(tempfile.gettempdir()) / "tilewright-transposed" / f"{name}.onnx"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        onnx.save(transposed_model(text), path)
    return path
