"""Networks with random weights, and what onnxruntime's quantize_static makes of them, for tests of quantized graphs."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT
OPSET = 17


class Builder:
    """Nodes in order; each method adds some and returns the name of the result."""

    def __init__(self, seed=0):
        self.random, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape, fan_in=None):
        fan_in = fan_in or int(np.prod(shape[1:]))
        return self.constant((self.random.standard_normal(shape) / np.sqrt(fan_in)).astype("float32"))

    def add(self, op, *inputs, **attributes):
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [f"{name}_y"], name=name, **attributes))
        return f"{name}_y"

    def conv(self, x, inputs, outputs, size=3, groups=1, stride=1, act=None):
        bias = self.constant(self.random.standard_normal(outputs).astype("float32") / 10)
        w = self.weight(outputs, inputs // groups, size, size)
        y = self.add(
            "Conv",
            x,
            w,
            bias,
            pads=[size // 2] * 4,
            kernel_shape=[size, size],
            group=groups,
            strides=[stride] * 2,
        )
        return getattr(self, act)(y) if act else y

    def relu(self, x):
        return self.add("Relu", x)

    def relu6(self, x):
        return self.add("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def hard_swish(self, x):
        return self.add("HardSwish", x)

    def leaky(self, x):
        return self.add("LeakyRelu", x, alpha=0.1)

    def silu(self, x):
        return self.add("Mul", x, self.add("Sigmoid", x))

    def gelu(self, x):
        y = self.add("Erf", self.add("Div", x, self.constant(np.float32(2**0.5))))
        y = self.add("Mul", x, self.add("Add", y, self.constant(np.float32(1))))
        return self.add("Mul", y, self.constant(np.float32(0.5)))

    def matmul(self, x, inputs, outputs):
        y = self.add("MatMul", x, self.weight(inputs, outputs, fan_in=inputs))
        return self.add("Add", y, self.constant(self.random.standard_normal(outputs).astype("float32") / 10))

    def model(self, shape, result):
        graph = helper.make_graph(
            self.nodes,
            "network",
            [helper.make_tensor_value_info("x", FLOAT, shape)],
            [helper.make_tensor_value_info(result, FLOAT, None)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def resnet(channels=16, extent=14):
    """Two blocks with residual sums; the second one halves the image."""
    net = Builder(1)
    x = net.conv("x", 3, channels, act="relu")
    x = net.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    for stride in (1, 2):
        y = net.conv(x, channels, channels, stride=stride, act="relu")
        y = net.conv(y, channels, channels)
        shortcut = x if stride == 1 else net.conv(x, channels, channels, 1, stride=2)
        x = net.relu(net.add("Add", y, shortcut))
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    bias = net.constant(np.zeros(5, "float32"))
    x = net.add("Gemm", x, net.weight(5, channels), bias, transB=1)
    return net.model([1, 3, 2 * extent, 2 * extent], x)


def mobilenet(channels=16, extent=14, act="relu6"):
    """Convolutions by channel between those of one place, a residual sum, an average."""
    net = Builder(2)
    x = net.conv("x", 3, channels, stride=2, act=act)
    y = net.conv(x, channels, 2 * channels, 1, act=act)
    y = net.conv(y, 2 * channels, 2 * channels, 3, groups=2 * channels, act=act)
    y = net.conv(y, 2 * channels, channels, 1)
    x = net.add("Add", x, y)
    x = net.conv(x, channels, 2 * channels, 1, act=act)
    x = net.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    x = net.add("Gemm", x, net.weight(5, 2 * channels), net.constant(np.zeros(5, "float32")), transB=1)
    return net.model([1, 3, 2 * extent, 2 * extent], x)


def inception(channels=8, extent=14):
    """Branches of convolutions and pools that are concatenated."""
    net = Builder(3)
    x = net.conv("x", 3, channels, act="relu")
    first = net.conv(x, channels, channels, 1, act="relu")
    second = net.conv(net.conv(x, channels, channels, 1, act="relu"), channels, 2 * channels, act="relu")
    third = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    fourth = net.conv(
        net.add("AveragePool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
        channels,
        channels,
        1,
    )
    x = net.add("Concat", first, second, third, fourth, axis=1)
    x = net.conv(x, 5 * channels, channels, 1, act="leaky")
    return net.model([1, 3, extent, extent], net.add("Softmax", net.add("Flatten", x), axis=1))


def yolo(channels=8, extent=8):
    """A pyramid: upsampled and concatenated with what came before, split, with SiLU."""
    net = Builder(4)
    x = net.conv("x", 3, channels, act="silu")
    down = net.conv(x, channels, 2 * channels, stride=2, act="silu")
    scales = net.constant(np.array([1, 1, 2, 2], "float32"))
    up = net.add(
        "Resize",
        down,
        "",
        scales,
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    x = net.add("Concat", up, x, axis=1)
    x = net.conv(x, 3 * channels, 2 * channels, 1, act="silu")
    halves = [
        net.add("Slice", x, *(net.constant(np.array([n])) for n in (start, start + channels, 1)))
        for start in (0, channels)
    ]
    y = net.conv(halves[1], channels, channels, act="silu")
    x = net.add("Concat", halves[0], y, axis=1)
    x = net.conv(x, 2 * channels, 7, 1)
    x = net.add("Reshape", x, net.constant(np.array([1, 7, 4 * extent * extent])))
    return net.model([1, 3, 2 * extent, 2 * extent], net.add("Transpose", x, perm=[0, 2, 1]))


def transformer(rows=9, width=32, heads=4):
    """Attention and a layer of Gelu, with norms and residual sums."""
    net = Builder(5)

    def norm(x):
        scale, bias = net.constant(np.ones(width, "float32")), net.constant(np.zeros(width, "float32"))
        return net.add("LayerNormalization", x, scale, bias)

    def heads_of(x, perm):
        x = net.add("Reshape", x, net.constant(np.array([1, rows, heads, width // heads])))
        return net.add("Transpose", x, perm=perm)

    n = norm("x")
    q, k, v = (
        heads_of(net.matmul(n, width, width), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    scores = net.add("Mul", net.add("MatMul", q, k), net.constant(np.float32((width // heads) ** -0.5)))
    y = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
    y = net.add(
        "Reshape", net.add("Transpose", y, perm=[0, 2, 1, 3]), net.constant(np.array([1, rows, width]))
    )
    x = net.add("Add", "x", net.matmul(y, width, width))
    y = net.matmul(net.gelu(net.matmul(norm(x), width, 4 * width)), 4 * width, width)
    return net.model([1, rows, width], net.add("Add", x, y))


NETWORKS = {
    "resnet": resnet,
    "mobilenet": mobilenet,
    "inception": inception,
    "yolo": yolo,
    "transformer": transformer,
}


def examples(model, count=8, seed=0):
    """Arrays for the input "x"."""
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype("float32") for _ in range(count)]


def quantized(
    model, path, *, form="QDQ", activation="QUInt8", weight="QInt8", per_channel=True, symmetric=False
):
    """What quantize_static of onnxruntime makes of a model, written to `path`; weights of 7 bits, for processors that add products
    of bytes in 16 bits."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.left = examples(model)

        def get_next(self):
            return {"x": self.left.pop()} if self.left else None

    copy = onnx.ModelProto()  # the function moves the tensors of what it is given
    copy.CopyFrom(model)
    quantize_static(
        copy,
        str(path),
        Reader(),
        quant_format=getattr(QuantFormat, form),
        activation_type=getattr(QuantType, activation),
        weight_type=getattr(QuantType, weight),
        per_channel=per_channel,
        reduce_range=True,
        extra_options={"ActivationSymmetric": symmetric, "WeightSymmetric": symmetric or weight == "QInt8"},
    )
    return path
