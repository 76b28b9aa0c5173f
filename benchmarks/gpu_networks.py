"""ResNet-50 and a transformer encoder, written once for two sides: as a program of tilewright, and as eager calls of torch.

A network is a function of a `net`, which has the layers.  Program writes the graph as text and makes the weights; Eager, given
these weights, computes at once.
"""

import numpy as np


class Program:
    """Collects the text of a graph, and arrays for its parameters."""

    def __init__(self, dtype: str):
        self.dtype = dtype
        self.weights: list[np.ndarray] = []
        self._params: list[str] = []
        self._lines: list[str] = []
        self._rng = np.random.default_rng(0)

    def input(self, shape: tuple) -> str:
        self._params.append(f'x: R.Tensor({shape}, "{self.dtype}")')
        return "x"

    def module(self, result: str):
        """The graph; its parameters are the input and the weights."""
        import tilewright

        body = "".join(f"            {line}\n" for line in self._lines)
        return tilewright.script.parse(
            f"@I.ir_module\nclass M:\n    @R.function\n    def main({', '.join(self._params)}):\n"
            f"        with R.dataflow():\n{body}            R.output({result})\n        return {result}\n"
        )

    def _weight(self, shape: tuple, scale: float, around: float = 0) -> str:
        array = self._rng.standard_normal(shape, "float32") * np.float32(scale) + np.float32(around)
        self.weights.append(array.astype(self.dtype))
        name = f"w{len(self.weights)}"
        self._params.append(f'{name}: R.Tensor({shape}, "{self.dtype}")')
        return name

    def _do(self, call: str) -> str:
        name = f"v{len(self._lines)}"
        self._lines.append(f"{name} = {call}")
        return name

    def conv(self, x: str, channels: tuple, kernel: int, stride: int) -> str:
        """Without a bias, followed by a normalisation of batches, which is a scale and a shift of each channel."""
        shape = (channels[1], channels[0], kernel, kernel)
        weight = self._weight(shape, (2 / (channels[0] * kernel * kernel)) ** 0.5)
        y = self._do(f"R.nn.conv2d({x}, {weight}, strides=({stride}, {stride}), padding={(kernel - 1) // 2})")
        scale = self._weight((1, channels[1], 1, 1), 0.1, 1)
        shift = self._weight((1, channels[1], 1, 1), 0.1)
        return self._do(f"R.add(R.multiply({y}, {scale}), {shift})")

    def relu(self, x: str) -> str:
        return self._do(f"R.nn.relu({x})")

    def add(self, x: str, y: str) -> str:
        return self._do(f"R.add({x}, {y})")

    def max_pool(self, x: str) -> str:
        return self._do(f"R.nn.max_pool2d({x}, (3, 3), (2, 2), 1)")

    def mean_of_pixels(self, x: str) -> str:
        return self._do(f"R.mean({x}, axis=[2, 3])")

    def linear(self, x: str, width: tuple) -> str:
        weight, bias = self._weight(width, width[0] ** -0.5), self._weight((width[1],), 0.1)
        return self._do(f"R.add(R.matmul({x}, {weight}), {bias})")

    def layer_norm(self, x: str, width: int) -> str:
        scale, shift = self._weight((width,), 0.1, 1), self._weight((width,), 0.1)
        return self._do(f"R.nn.layer_norm({x}, {scale}, {shift}, axes=[-1])")

    def gelu(self, x: str) -> str:
        return self._do(f"R.nn.gelu({x})")

    def attention(self, q: str, k: str, v: str, shape: tuple, heads: int) -> str:
        batch, length, width = shape
        parts = [self._do(f"R.reshape({y}, {(batch, length, heads, width // heads)})") for y in (q, k, v)]
        y = self._do(f"R.nn.attention({', '.join(parts)})")
        return self._do(f"R.reshape({y}, {shape})")


class Eager:
    """The same layers by torch, on tensors; takes the weights in the order in which Program made them."""

    def __init__(self, torch, x, weights: list):
        self._torch, self._x, self._weights = torch, x, iter(weights)

    def input(self, shape: tuple):
        return self._x

    def conv(self, x, channels: tuple, kernel: int, stride: int):
        functional = self._torch.nn.functional
        y = functional.conv2d(x, next(self._weights), stride=stride, padding=(kernel - 1) // 2)
        scale, shift = next(self._weights).reshape(-1), next(self._weights).reshape(-1)
        zero, one = self._torch.zeros_like(scale), self._torch.ones_like(scale)
        return functional.batch_norm(y, zero, one, scale, shift, eps=0)

    def relu(self, x):
        return self._torch.relu(x)

    def add(self, x, y):
        return x + y

    def max_pool(self, x):
        return self._torch.nn.functional.max_pool2d(x, 3, 2, 1)

    def mean_of_pixels(self, x):
        return x.mean((2, 3))

    def linear(self, x, width: tuple):
        weight, bias = next(self._weights), next(self._weights)
        return self._torch.nn.functional.linear(x, weight.t(), bias)

    def layer_norm(self, x, width: int):
        scale, shift = next(self._weights), next(self._weights)
        return self._torch.nn.functional.layer_norm(x, (width,), scale, shift)

    def gelu(self, x):
        return self._torch.nn.functional.gelu(x)

    def attention(self, q, k, v, shape: tuple, heads: int):
        batch, length, width = shape
        parts = [y.reshape(batch, length, heads, width // heads).transpose(1, 2) for y in (q, k, v)]
        y = self._torch.nn.functional.scaled_dot_product_attention(*parts)
        return y.transpose(1, 2).reshape(shape)


def resnet50(net, batch: int, pixels: int, width: int):
    """`width` is 64; less makes a smaller network of the same form."""

    def block(x, channels: int, inner: int, stride: int):
        outer = 4 * inner
        y = net.relu(net.conv(x, (channels, inner), 1, 1))
        y = net.relu(net.conv(y, (inner, inner), 3, stride))
        y = net.conv(y, (inner, outer), 1, 1)
        around = x if (channels, stride) == (outer, 1) else net.conv(x, (channels, outer), 1, stride)
        return net.relu(net.add(y, around))

    x = net.input((batch, 3, pixels, pixels))
    x = net.max_pool(net.relu(net.conv(x, (3, width), 7, 2)))
    channels = width
    for stage, count in enumerate((3, 4, 6, 3)):
        inner = width * 2**stage
        for number in range(count):
            x = block(x, channels, inner, 2 if stage > 0 and number == 0 else 1)
            channels = 4 * inner
    return net.linear(net.mean_of_pixels(x), (channels, 1000 * width // 64))


def resnet50_flops(batch: int, pixels: int) -> float:
    """Of 224 x 224 pixels 4.09 10^9 multiply-adds; the others have proportionally fewer."""
    return 2 * 4.09e9 * batch * (pixels / 224) ** 2


def encoder(net, batch: int, length: int, width: int, heads: int, layers: int = 12):
    """Layers of self-attention and two products with gelu between, normalised before each."""
    shape = (batch, length, width)
    x = net.input(shape)
    for _ in range(layers):
        y = net.layer_norm(x, width)
        q, k, v = (net.linear(y, (width, width)) for _ in range(3))
        x = net.add(x, net.linear(net.attention(q, k, v, shape, heads), (width, width)))
        y = net.gelu(net.linear(net.layer_norm(x, width), (width, 4 * width)))
        x = net.add(x, net.linear(y, (4 * width, width)))
    return net.layer_norm(x, width)


def encoder_flops(batch: int, length: int, width: int, layers: int = 12) -> float:
    products = 12 * batch * length * width * width
    return 2.0 * layers * (products + 2 * batch * length * length * width)
