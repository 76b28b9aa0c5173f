"""The function cases as small ONNX graphs, for peers that only run models."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

DTYPES = {"float32": TensorProto.FLOAT, "bfloat16": TensorProto.BFLOAT16, "int8": TensorProto.INT8}

#: nodes from a (and b, c) to result, and the operator set that has them; _ is the result of the last node
FUNCTIONS = {
    "mm": [("MatMul", "a b", {})],
    "mm_relu": [("MatMul", "a b", {}), ("Relu", "_", {})],
    "softmax": [("Softmax", "a", {"axis": -1})],
    "layer_norm": [("LayerNormalization", "a b", {"axis": -1})],
    "gelu": [("Gelu", "a", {})],
    "transpose": [("Transpose", "a", {"perm": [1, 0]})],
    **{
        f"{kind}_{size}_{stride}": [
            (
                operator,
                "a",
                {"kernel_shape": [size] * 2, "strides": [stride] * 2, "pads": [size // 2] * 4},
            )
        ]
        for kind, operator in (("max_pool", "MaxPool"), ("average_pool", "AveragePool"))
        for size, stride in ((2, 2), (3, 2), (5, 1), (15, 1), (15, 2), (31, 1))
    },
    "attention": [
        ("Transpose", "b", {"perm": [0, 1, 3, 2]}),
        ("MatMul", "a _", {}),
        ("Softmax", "_", {"axis": -1}),
        ("MatMul", "_ c", {}),
    ],
}
OPSET = 20
POOL_OPSET = 18  # onnxruntime averages a hundred times as long in later ones


def shape_in_graph(array: np.ndarray, case: dict) -> list[int | str]:
    """The array's shape, with an open number of rows if the case asks for it."""
    return ["n", *array.shape[1:]] if case.get("open_rows") else list(array.shape)


def graph_of(name: str, arrays: list[np.ndarray], case: dict) -> onnx.ModelProto | None:
    """Inputs a, b and c, or b as a constant where the case has weights; None for a function that has no graph."""
    has_weights = case.get("weights", False)
    if name not in FUNCTIONS:
        return None
    nodes, last = [], ""
    for operator, operands, attributes in FUNCTIONS[name]:
        is_int8 = operator == "MatMul" and arrays[0].dtype == np.int8
        inputs = [last if operand == "_" else operand for operand in operands.split()]
        last = f"value{len(nodes)}"
        nodes.append(helper.make_node("MatMulInteger" if is_int8 else operator, inputs, [last], **attributes))
    values = [
        helper.make_tensor_value_info(letter, DTYPES[str(array.dtype)], shape_in_graph(array, case))
        for letter, array in zip("abc", arrays, strict=False)
    ]
    weights = [numpy_helper.from_array(arrays[1], "b")] if has_weights else []
    dtype = TensorProto.INT32 if arrays[0].dtype == np.int8 else DTYPES[str(arrays[0].dtype)]
    output = helper.make_tensor_value_info(last, dtype, [None] * arrays[0].ndim)
    graph = helper.make_graph(nodes, name, values[:1] if has_weights else values, [output], weights)
    opset = POOL_OPSET if "pool" in name else OPSET
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def run_function(runner, name: str, arrays: list[np.ndarray], case: dict):
    """Calls `runner` with the graph of a function case and its inputs; None for a function that has no graph."""
    has_weights = case.get("weights", False)
    graph = graph_of(name, arrays, case)
    return graph and runner(graph, dict(zip("abc", arrays[:1] if has_weights else arrays, strict=False)))


BLOCK = 32  # values that share a scale


def rounded(weight: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """`weight` [k, n] as int8 or int4 with a scale for each block of BLOCK rows: values [k, n], scales [k / BLOCK, n]."""
    rows, columns = weight.shape
    blocks = weight.reshape(rows // BLOCK, BLOCK, columns)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / {"int8": 127, "int4": 7}[dtype]
    return np.round(blocks / scale).astype("int8").reshape(rows, columns), scale[:, 0].astype("float32")


def run_rounded(runner, arrays: list[np.ndarray], case: dict):
    """Calls `runner` with the product of the first array and the second, quantized as in onnxruntime's MatMulNBits."""
    a, b = arrays
    numbers, scale = rounded(b, case["weight_dtype"])
    bits = int(case["weight_dtype"][-1])
    codes = (numbers.T.astype("int16") + 2 ** (bits - 1)).astype("uint8").reshape(b.shape[1], -1, BLOCK)
    packed = codes if bits == 8 else codes[..., ::2] | codes[..., 1::2] << 4
    node = helper.make_node(
        "MatMulNBits",
        ["a", "b", "scale"],
        ["y"],
        domain="com.microsoft",
        K=b.shape[0],
        N=b.shape[1],
        bits=bits,
        block_size=BLOCK,
    )
    value = helper.make_tensor_value_info("a", TensorProto.FLOAT, shape_in_graph(a, case))
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])
    weights = [numpy_helper.from_array(packed, "b"), numpy_helper.from_array(scale.T.copy(), "scale")]
    graph = helper.make_graph([node], "mm", [value], [output], weights)
    domains = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    return runner(helper.make_model(graph, opset_imports=domains, ir_version=9), {"a": a})


def inputs_for(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Random inputs of the shapes that the file declares, with 1 for a symbolic extent."""
    rng = np.random.default_rng(0)
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        if np.issubdtype(dtype, np.integer):
            inputs[value.name] = rng.integers(0, 100, shape, dtype)
        else:
            inputs[value.name] = rng.random(shape, np.float32).astype(dtype)
    return inputs
