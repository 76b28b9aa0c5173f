"""ONNX files of one TopK, ArgMax or ArgMin, from a short description."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def selection_model(text: str) -> onnx.ModelProto:
    """The node as `text` says: "TopK 4x50257 k=50 axis=-1 largest=0", "ArgMax 1x21x128x128 axis=1 select_last_index=1".

    Data of float32, or of the dtype that is named; its extents are open with "open".
    """
    op, shape, *more = text.split()
    extents = [int(extent) for extent in shape.split("x")]
    attrs = {name: int(value) for name, _, value in (part.partition("=") for part in more if "=" in part)}
    words = [part for part in more if "=" not in part and part != "open"]
    dtype = helper.np_dtype_to_tensor_dtype(np.dtype(words[0] if words else "float32"))
    weights = []
    if op == "TopK":
        weights.append(numpy_helper.from_array(np.array([attrs.pop("k")]), "k"))
    outputs = {"y": dtype, "places": TensorProto.INT64} if op == "TopK" else {"y": TensorProto.INT64}
    rank = len(extents) - (attrs.get("keepdims", 1) == 0)
    node = helper.make_node(op, ["x", *(tensor.name for tensor in weights)], list(outputs), **attrs)
    graph = helper.make_graph(
        [node],
        "selection",
        [
            helper.make_tensor_value_info(
                "x", dtype, list("abcd"[: len(extents)]) if "open" in more else extents
            )
        ],
        [helper.make_tensor_value_info(name, each, [None] * rank) for name, each in outputs.items()],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def selection_file(text: str) -> Path:
    """The path of that model in a folder for temporary files; created if it does not exist."""
    path = (
        Path(tempfile.gettempdir())
        / "tilewright-selections"
        / f"{text.replace(' ', '_').replace('=', '')}.onnx"
    )
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        onnx.save(selection_model(text), path)
    return path
