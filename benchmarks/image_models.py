"""Networks for pictures whose extents may be open, with random weights: ResNet-50 and MobileNet (arXiv 1512.03385, 1704.04861)."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Network:
    """An ONNX graph that is built operator by operator; values are named by what made them."""

    def __init__(self):
        self.nodes, self.weights = [], []
        self.rng = np.random.default_rng(0)

    def weight(self, shape: tuple[int, ...], scale: float) -> str:
        name = f"w{len(self.weights)}"
        values = (scale * self.rng.standard_normal(shape)).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def add(self, op: str, inputs: list[str], **attributes) -> str:
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def conv(self, x: str, inputs: int, outputs: int, window: int, stride: int = 1, groups: int = 1) -> str:
        shape = (outputs, inputs // groups, window, window)
        weights = [self.weight(shape, (2 / np.prod(shape[1:])) ** 0.5), self.weight((outputs,), 0.1)]
        pad = window // 2
        return self.add("Conv", [x, *weights], strides=[stride] * 2, pads=[pad] * 4, group=groups)

    def relu(self, x: str) -> str:
        return self.add("Relu", [x])

    def classifier(self, x: str, channels: int) -> str:
        x = self.add("Flatten", [self.add("GlobalAveragePool", [x])])
        return self.add("Gemm", [x, self.weight((channels, 1000), 0.02), self.weight((1000,), 0.1)])


def resnet50(net: Network) -> str:
    x = net.relu(net.conv("x", 3, 64, 7, 2))
    x = net.add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = net.relu(net.conv(x, channels, width, 1))
            y = net.relu(net.conv(y, width, width, 3, stride))
            y = net.conv(y, width, 4 * width, 1)
            if not block:
                x = net.conv(x, channels, 4 * width, 1, stride)
            x = net.relu(net.add("Add", [y, x]))
            channels = 4 * width
    return net.classifier(x, channels)


def mobilenet(net: Network) -> str:
    x = net.relu(net.conv("x", 3, 32, 3, 2))
    channels = 32
    for outputs, stride in [
        (64, 1),
        (128, 2),
        (128, 1),
        (256, 2),
        (256, 1),
        (512, 2),
        *[(512, 1)] * 5,
        (1024, 2),
        (1024, 1),
    ]:
        x = net.relu(net.conv(x, channels, channels, 3, stride, channels))
        x = net.relu(net.conv(x, channels, outputs, 1))
        channels = outputs
    return net.classifier(x, channels)


def image_model(name: str, batch: int | str, height: int | str, width: int | str) -> onnx.ModelProto:
    """The network resnet50 or mobilenet; an extent that is a name is open."""
    net = Network()
    result = {"resnet50": resnet50, "mobilenet": mobilenet}[name](net)
    values = [
        helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, shape)
        for value, shape in (("x", (batch, 3, height, width)), (result, (batch, 1000)))
    ]
    graph = helper.make_graph(net.nodes, name, values[:1], values[1:], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def image_model_file(name: str, batch: int | str, height: int | str, width: int | str) -> Path:
    """The path of that model in a folder for temporary files; created if it does not exist."""
    path = Path(tempfile.gettempdir()) / "tilewright-image-models" / f"{name}-{batch}-{height}-{width}.onnx"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        onnx.save(image_model(name, batch, height, width), path)
    return path
