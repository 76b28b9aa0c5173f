"""Layers of tvm.relay.nn, by those of relax; a weight without a shape has the one that its layer says."""

from tilewright import relax
from tilewright.errors import UserError

from .expressions import TupleWrapper, shape_of, typed, weight_of_shape
from .operators import expand_dims, transpose, with_values

_op, _nn = relax.op, relax.op.nn


def _pair(value) -> list:
    return [value, value] if isinstance(value, int) else list(value)


def dense(data, weight, units=None, out_dtype: str = ""):
    """data @ weight.T: weights are [units, inputs]."""
    weight = typed(weight) if units is None else weight_of_shape(weight, (units, shape_of(data)[-1]))
    if units is not None and shape_of(weight)[0] != units:
        raise UserError(f"relay.nn.dense: units is {units}, but weights have {shape_of(weight)[0]} rows")
    return typed(_op.matmul(typed(data), transpose(weight), out_dtype=out_dtype or None))


def batch_matmul(
    tensor_a, tensor_b, out_dtype: str = "", transpose_a: bool = False, transpose_b: bool = True
):
    """Products of matrices; the second ones are transposed unless transpose_b=False."""
    a = transpose(tensor_a, [0, 2, 1]) if transpose_a else typed(tensor_a)
    b = transpose(tensor_b, [0, 2, 1]) if transpose_b else typed(tensor_b)
    return typed(_op.matmul(a, b, out_dtype=out_dtype or None))


def matmul(
    tensor_a, tensor_b, units=None, out_dtype="", transpose_a: bool = False, transpose_b: bool = False
):
    """The product of two matrices."""
    a = transpose(tensor_a) if transpose_a else typed(tensor_a)
    b = transpose(tensor_b) if transpose_b else typed(tensor_b)
    return typed(_op.matmul(a, b, out_dtype=out_dtype or None))


def bias_add(data, bias, axis: int = 1):
    """data + bias along one axis."""
    extents = shape_of(data)
    bias = weight_of_shape(bias, (extents[axis],))
    behind = len(extents) - 1 - axis % len(extents)
    return typed(_op.add(typed(data), expand_dims(bias, 1, behind) if behind else bias))


def _check_windows(name: str, layout: str, weight, channels, kernel_size) -> None:
    extents = dict(zip(layout, shape_of(weight), strict=False))
    found = (extents.get("O"), [extents.get("H"), extents.get("W")])
    for option, given, actual in (("channels", channels, found[0]), ("kernel_size", kernel_size, found[1])):
        if given is not None and (_pair(given) if option == "kernel_size" else given) != actual:
            raise UserError(f"relay.nn.{name}: {option} is {given}, but weights have {actual}")


def conv2d(
    data,
    weight,
    strides=(1, 1),
    padding=(0, 0),
    dilation=(1, 1),
    groups: int = 1,
    channels=None,
    kernel_size=None,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
):
    """The convolution of images; channels and kernel_size must be those of the weights."""
    if channels is not None and kernel_size is not None:
        height, width = _pair(kernel_size)
        inputs = shape_of(data)[data_layout.index("C")]
        extents = {"O": channels, "I": inputs // groups, "H": height, "W": width}
        weight = weight_of_shape(weight, [extents[letter] for letter in kernel_layout])
    weight = typed(weight)
    _check_windows("conv2d", kernel_layout, weight, channels, kernel_size)
    return typed(
        _nn.conv2d(
            typed(data),
            weight,
            strides=_pair(strides),
            padding=_pair(padding),
            dilation=_pair(dilation),
            groups=groups,
            data_layout=data_layout,
            kernel_layout=kernel_layout,
            out_layout=out_layout or None,
            out_dtype=out_dtype or None,
        )
    )


def _pooling(name: str):
    def call(
        data,
        pool_size=(1, 1),
        strides=(1, 1),
        dilation=(1, 1),
        padding=(0, 0),
        layout: str = "NCHW",
        out_layout: str = "",
        ceil_mode: bool = False,
        **options,
    ):
        return typed(
            getattr(_nn, name)(
                typed(data),
                pool_size=_pair(pool_size),
                strides=_pair(strides),
                padding=_pair(padding),
                dilation=_pair(dilation),
                ceil_mode=ceil_mode,
                layout=layout,
                out_layout=out_layout or None,
                **options,
            )
        )

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} of images."
    return call


def global_avg_pool2d(data, layout: str = "NCHW", out_layout: str = ""):
    """The mean of each channel of an image."""
    return typed(_nn.adaptive_avg_pool2d(typed(data), output_size=[1, 1], layout=layout))


def global_max_pool2d(data, layout: str = "NCHW", out_layout: str = ""):
    """The largest number of each channel of an image."""
    return typed(_op.max(typed(data), axis=[layout.index("H"), layout.index("W")], keepdims=True))


def batch_flatten(data):
    """All dimensions but the first as one."""
    return typed(_nn.batch_flatten(typed(data)))


def softmax(data, axis: int = -1):
    """Numbers between 0 and 1 whose sum along the axis is 1."""
    return typed(_nn.softmax(typed(data), axis=axis))


def log_softmax(data, axis: int = -1):
    """The logarithm of softmax."""
    return typed(_nn.log_softmax(typed(data), axis=axis))


def leaky_relu(data, alpha: float = 0.01):
    """x where it is positive, else alpha * x."""
    return typed(_nn.leakyrelu(typed(data), alpha))


def prelu(data, alpha, axis: int = 1):
    """x where it is positive, else alpha * x, with alpha for each channel."""
    alpha = weight_of_shape(alpha, (shape_of(data)[axis],))
    return typed(_nn.prelu(typed(data), alpha, axis=axis))


def batch_norm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
):
    """(normalised data, mean, variance), by the statistics that are given."""
    shape = (shape_of(data)[axis],)
    values = [weight_of_shape(each, shape) for each in (gamma, beta, moving_mean, moving_var)]
    made = _nn.batch_norm(
        typed(data), *values, axis=axis, epsilon=epsilon, center=center, scale=scale, training=False
    )
    return TupleWrapper(typed(made), 3)


def layer_norm(
    data, gamma, beta, axis: int = -1, epsilon: float = 1e-5, center: bool = True, scale: bool = True
):
    """Data normalised along an axis."""
    gamma, beta = (weight_of_shape(each, (shape_of(data)[axis],)) for each in (gamma, beta))
    made = _nn.layer_norm(typed(data), gamma, beta, axes=[axis], epsilon=epsilon, center=center, scale=scale)
    return typed(made)


def dropout(data, rate: float = 0.5):
    """The data: networks that run drop nothing."""
    return typed(data)


def pad(data, pad_width, pad_value=0, pad_mode: str = "constant"):
    """Data with a border: pad_width is ((before, after), ...) for each dimension."""
    widths = [int(width) for pair in pad_width for width in pair]
    return typed(_nn.pad(typed(data), widths, pad_mode, float(pad_value)))


NN = {
    "relu": with_values(_nn.relu, 1, "relu"),
    "gelu": with_values(_nn.gelu, 1, "gelu"),
    "silu": with_values(_nn.silu, 1, "silu"),
    "max_pool2d": _pooling("max_pool2d"),
    "avg_pool2d": _pooling("avg_pool2d"),
    **{
        each.__name__: each
        for each in (
            *(
                dense,
                batch_matmul,
                matmul,
                bias_add,
                conv2d,
                global_avg_pool2d,
                global_max_pool2d,
                batch_flatten,
            ),
            *(softmax, log_softmax, leaky_relu, prelu, batch_norm, layer_norm, dropout, pad),
        )
    },
}
