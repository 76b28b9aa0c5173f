"""tvm.relay.testing: networks with random weights, as the tutorials load them."""

import numpy

from tilewright import ir, runtime
from tilewright.errors import UserError

from .expressions import Function, as_module, free_vars, type_of, var
from .layers import NN as _NN
from .layers import (
    batch_flatten,
    batch_norm,
    bias_add,
    conv2d,
    dense,
    global_avg_pool2d,
    softmax,
)
from .operators import NAMES as _NAMES

_relu, _max_pool, _add = _NN["relu"], _NN["max_pool2d"], _NAMES["add"]

# blocks of each of the four stages, and whether a block has three convolutions
_RESNETS = {18: ([2, 2, 2, 2], False), 34: ([3, 4, 6, 3], False), 50: ([3, 4, 6, 3], True)}
_RESNETS |= {101: ([3, 4, 23, 3], True), 152: ([3, 8, 36, 3], True)}


def create_workload(net, initializer=None, seed: int = 0):
    """(module, {name: value}) of a network: weights get random values, what is called data does not.

    initializer   called as initializer(name, array) it fills an array of float32; default: small numbers for weights, 1 for gamma and
                  variances, 0 for beta, means and biases
    >>> testing = tilewright.compat.relay.workloads
    >>> mod, params = testing.create_workload(testing.get_mlp(batch_size=2, num_classes=3, image_shape=(1, 4, 4)))
    >>> sorted(params)[:2]
    ['fc1_bias', 'fc1_weight']
    """
    mod = as_module(net)
    fill = initializer or _Initial(seed)
    params = {}
    for each in mod["main"].params:
        if each.name_hint == "data":
            continue
        value = numpy.zeros([int(extent) for extent in each.type.shape], each.type.dtype)
        fill(each.name_hint, value)
        params[each.name_hint] = runtime.tensor(value)
    return mod, params


class _Initial:
    """Values as networks have them before they are trained."""

    def __init__(self, seed: int):
        self.random = numpy.random.default_rng(seed)

    def __call__(self, name: str, array) -> None:
        if name.endswith(("gamma", "var")):
            array[...] = 1
        elif name.endswith("weight"):
            inputs = array[0].size
            array[...] = self.random.normal(0, (2 / inputs) ** 0.5, array.shape)


def _network(body) -> ir.IRModule:
    return as_module(Function(free_vars(body), body))


def get_mlp(batch_size: int, num_classes: int = 10, image_shape=(1, 28, 28), dtype: str = "float32"):
    """A network of three dense layers with 128, 64 and num_classes outputs, and softmax."""
    value = batch_flatten(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for n, units in ((1, 128), (2, 64), (3, num_classes)):
        value = dense(value, var(f"fc{n}_weight", dtype=dtype), units=units)
        value = bias_add(value, var(f"fc{n}_bias", dtype=dtype), axis=-1)
        if n < 3:
            value = _relu(value)
    return _network(softmax(value))


def _conv(value, name: str, channels: int, kernel: int, stride: int = 1):
    weight = var(f"{name}_weight", dtype=type_of(value).dtype)
    return conv2d(
        value,
        weight,
        channels=channels,
        kernel_size=(kernel, kernel),
        strides=(stride, stride),
        padding=(kernel // 2, kernel // 2),
    )


def _norm(value, name: str):
    dtype = type_of(value).dtype
    parts = (var(f"{name}_{part}", dtype=dtype) for part in ("gamma", "beta", "moving_mean", "moving_var"))
    return _relu(batch_norm(value, *parts, epsilon=2e-5)[0])


def _residual(value, name: str, channels: int, stride: int, is_first: bool, has_three: bool):
    """A block of a residual network; norm and relu come before its convolutions."""
    start = _norm(value, f"{name}_bn1")
    inner = channels // 4 if has_three else channels
    shapes = [(inner, 1, 1), (inner, 3, stride), (channels, 1, 1)] if has_three else []
    shapes = shapes or [(inner, 3, stride), (channels, 3, 1)]
    result = start
    for n, (width, kernel, step) in enumerate(shapes, 1):
        if n > 1:
            result = _norm(result, f"{name}_bn{n}")
        result = _conv(result, f"{name}_conv{n}", width, kernel, step)
    return _add(result, _conv(start, f"{name}_sc", channels, 1, stride) if is_first else value)


def get_resnet(
    batch_size: int = 1,
    num_classes: int = 1000,
    num_layers: int = 18,
    image_shape=(3, 224, 224),
    dtype: str = "float32",
):
    """A residual network of 18, 34, 50, 101 or 152 layers, and softmax.  Raises UserError for another number of layers."""
    if num_layers not in _RESNETS:
        known = ", ".join(map(str, _RESNETS))
        raise UserError(f"relay.testing.resnet: num_layers is {num_layers}, expected one of {known}")
    blocks, has_three = _RESNETS[num_layers]
    value = var("data", shape=(batch_size, *image_shape), dtype=dtype)
    value = _conv(value, "conv0", 64, 7, 2) if image_shape[1] > 32 else _conv(value, "conv0", 64, 3)
    if image_shape[1] > 32:
        value = _max_pool(_norm(value, "bn0"), pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
    for stage, count in enumerate(blocks, 1):
        channels = (256 if has_three else 64) << (stage - 1)
        for unit in range(1, count + 1):
            stride = 2 if unit == 1 and stage > 1 else 1
            name = f"stage{stage}_unit{unit}"
            value = _residual(value, name, channels, stride, unit == 1, has_three)
    value = batch_flatten(global_avg_pool2d(_norm(value, "bn1")))
    value = dense(value, var("fc1_weight", dtype=dtype), units=num_classes)
    return _network(softmax(bias_add(value, var("fc1_bias", dtype=dtype), axis=-1)))


def _module(get) -> dict:
    """The names of one network's module."""

    def get_workload(*args, **options):
        """(module, {name: value}) with random weights."""
        return create_workload(get(*args, **options))

    return {"get_net": get, "get_workload": get_workload}


MODULES = {
    "tvm.relay.testing": lambda: {"create_workload": create_workload},
    "tvm.relay.testing.init": lambda: {"create_workload": create_workload},
    "tvm.relay.testing.mlp": lambda: _module(get_mlp),
    "tvm.relay.testing.resnet": lambda: _module(get_resnet),
}
