"""The demo's network in plain numpy: forward, backward, and its ONNX file.

    image [n, 1, 28, 28] - conv 3x3 (8) - relu - maxpool 2 - conv 3x3 (16) - relu - maxpool 2
                         - flatten 784 - gemm 128 - relu - gemm 10 - softmax -> probability [n, 10]

Inside, channels come last, so that a convolution is one matrix product over the nine shifted pictures.
"""

from pathlib import Path

import numpy as np

SHAPES = {
    "conv1": (9 * 1, 8),
    "conv2": (9 * 8, 16),
    "dense1": (7 * 7 * 16, 128),
    "dense2": (128, 10),
}
Params = dict[str, np.ndarray]


def initial(rng: np.random.Generator) -> Params:
    """Weights `name.w` [inputs, outputs] drawn as He et al. (2015) propose, biases `name.b` [outputs] zero."""
    params = {}
    for name, (num_inputs, num_outputs) in SHAPES.items():
        params[name + ".w"] = rng.normal(0, np.sqrt(2 / num_inputs), (num_inputs, num_outputs)).astype(
            np.float32
        )
        params[name + ".b"] = np.zeros(num_outputs, np.float32)
    return params


def neighbours(x: np.ndarray) -> np.ndarray:
    """[n, h, w, c] -> [n, h, w, 9 * c]: each pixel's 3x3 surroundings, zero outside the picture."""
    _, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return np.concatenate(
        [padded[:, r : r + height, s : s + width] for r in range(3) for s in range(3)], axis=3
    )


def neighbours_grad(grad: np.ndarray) -> np.ndarray:
    """The transpose of `neighbours`: every shifted picture is added back where it came from."""
    num, height, width, depth = grad.shape
    channels = depth // 9
    padded = np.zeros((num, height + 2, width + 2, channels), grad.dtype)
    for r in range(3):
        for s in range(3):
            at = (r * 3 + s) * channels
            padded[:, r : r + height, s : s + width] += grad[..., at : at + channels]
    return padded[:, 1:-1, 1:-1]


def pool(x: np.ndarray) -> np.ndarray:
    """[n, h, w, c] -> [n, h/2, w/2, c]: the largest of each 2x2 square."""
    rows = np.maximum(x[:, 0::2], x[:, 1::2])
    return np.maximum(rows[:, :, 0::2], rows[:, :, 1::2])


def pool_grad(grad: np.ndarray, x: np.ndarray, pooled: np.ndarray) -> np.ndarray:
    """The gradient goes to every pixel of the square that equals its maximum."""

    def spread(small):
        return small.repeat(2, axis=1).repeat(2, axis=2)

    return spread(grad) * (x == spread(pooled))


def forward(params: Params, images: np.ndarray, keep: dict[str, np.ndarray] | None = None) -> np.ndarray:
    """Logits [n, 10] of images [n, 1, 28, 28]; intermediate values go into `keep` for `backward`."""
    values = {} if keep is None else keep
    x = images.transpose(0, 2, 3, 1)
    for name in ("conv1", "conv2"):
        values[name + ".in"] = neighbours(x)
        values[name] = np.maximum(values[name + ".in"] @ params[name + ".w"] + params[name + ".b"], 0)
        x = values[name + ".pooled"] = pool(values[name])
    values["dense1.in"] = x.reshape(len(x), -1)
    values["dense2.in"] = np.maximum(values["dense1.in"] @ params["dense1.w"] + params["dense1.b"], 0)
    return values["dense2.in"] @ params["dense2.w"] + params["dense2.b"]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def backward(params: Params, images: np.ndarray, labels: np.ndarray) -> tuple[float, Params]:
    """Mean cross entropy of a batch and its gradient by every parameter."""
    keep: dict[str, np.ndarray] = {}
    probability = softmax(forward(params, images, keep))
    picked = probability[np.arange(len(labels)), labels]
    grads: Params = {}

    grad = probability
    grad[np.arange(len(labels)), labels] -= 1
    grad /= len(labels)
    for name in ("dense2", "dense1"):
        grads[name + ".w"] = keep[name + ".in"].T @ grad
        grads[name + ".b"] = grad.sum(axis=0)
        grad = grad @ params[name + ".w"].T
        if name == "dense2":
            grad *= keep["dense2.in"] > 0
    grad = grad.reshape(keep["conv2.pooled"].shape)
    for name in ("conv2", "conv1"):
        grad = pool_grad(grad, keep[name], keep[name + ".pooled"]) * (keep[name] > 0)
        rows = grad.reshape(-1, grad.shape[-1])
        grads[name + ".w"] = keep[name + ".in"].reshape(len(rows), -1).T @ rows
        grads[name + ".b"] = rows.sum(axis=0)
        if name == "conv2":
            grad = neighbours_grad((rows @ params[name + ".w"].T).reshape(*grad.shape[:3], -1))
    return float(-np.log(picked + 1e-12).mean()), grads


def write_onnx(params: Params, path: Path) -> None:
    """The network as an ONNX file, opset 17, batch size open: input `image`, output `probability`."""
    import onnx
    from onnx import helper, numpy_helper

    def conv_weight(name: str) -> np.ndarray:  # [9 * in, out] -> [out, in, 3, 3]
        weight = params[name + ".w"]
        return weight.reshape(3, 3, -1, weight.shape[1]).transpose(3, 2, 0, 1)

    # ONNX flattens [c, h, w]; here the pixels were flattened as [h, w, c]
    dense1 = params["dense1.w"].reshape(7, 7, 16, 128).transpose(2, 0, 1, 3).reshape(784, 128)
    weights = {
        "conv1.w": conv_weight("conv1"),
        "conv2.w": conv_weight("conv2"),
        "dense1.w": dense1,
        "dense2.w": params["dense2.w"],
    }
    weights |= {name: value for name, value in params.items() if name.endswith(".b")}

    nodes = []

    def node(op: str, inputs: list[str], output: str, **attributes) -> str:
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    x = "image"
    for name in ("conv1", "conv2"):
        x = node("Conv", [x, name + ".w", name + ".b"], name, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        x = node("Relu", [x], name + ".relu")
        x = node("MaxPool", [x], name + ".pool", kernel_shape=[2, 2], strides=[2, 2])
    x = node("Flatten", [x], "flat", axis=1)
    x = node("Gemm", [x, "dense1.w", "dense1.b"], "dense1")
    x = node("Relu", [x], "dense1.relu")
    x = node("Gemm", [x, "dense2.w", "dense2.b"], "dense2")
    node("Softmax", [x], "probability", axis=-1)

    graph = helper.make_graph(
        nodes,
        "fashion_mnist",
        [helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, ["n", 1, 28, 28])],
        [helper.make_tensor_value_info("probability", onnx.TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()],
    )
    model = helper.make_model(
        graph, producer_name="tilewright", opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    onnx.checker.check_model(model, full_check=True)
    path.write_bytes(model.SerializeToString())


def read_onnx(path: Path) -> Params:
    """The parameters in a file that `write_onnx` wrote, in this module's order."""
    import onnx
    from onnx import numpy_helper

    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    for name in ("conv1", "conv2"):
        weight = found[name + ".w"]
        found[name + ".w"] = np.ascontiguousarray(weight.transpose(2, 3, 1, 0).reshape(-1, weight.shape[0]))
    found["dense1.w"] = np.ascontiguousarray(
        found["dense1.w"].reshape(16, 7, 7, 128).transpose(1, 2, 0, 3).reshape(784, 128)
    )
    return found
