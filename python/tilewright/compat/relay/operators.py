"""Operators of tvm.relay, by those of relax: what differs are names, defaults and the layout of weights."""

from tilewright import relax
from tilewright.errors import UserError

from .expressions import TupleWrapper, const, shape_of, type_of, typed

_op, _nn = relax.op, relax.op.nn


def _with_values(operator, count: int, name: str):
    """The operator, whose first `count` arguments may be numbers and arrays."""

    def call(*args, **options):
        given = [_beside(arg, args) for arg in args[:count]]
        return typed(operator(*given, *args[count:], **options))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The operator {name} of relax."
    return call


def _beside(value, args):
    """A value; a Python number has the dtype of what stands beside it."""
    if isinstance(value, int | float):
        for other in args:
            dtype = None if isinstance(other, int | float) else getattr(type_of(other), "dtype", None)
            if dtype:
                return const(value, dtype)
    return typed(value)


_UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "floor"),
    *(
        "isfinite",
        "isinf",
        "isnan",
        "log",
        "log10",
        "log2",
        "logical_not",
        "bitwise_not",
        "negative",
        "round",
    ),
    *("rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "zeros_like", "ones_like"),
)
_BINARY = (
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "power",
        "floor_divide",
        "floor_mod",
        "mod",
        "maximum",
        "minimum",
    ),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "left_shift", "right_shift"),
    *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
)
_OF_AXES = ("sum", "mean", "max", "min", "prod", "variance", "std", "all", "any", "argmax", "argmin")


def _reduction(name: str):
    def call(data, axis=None, keepdims=False, exclude=False):
        data = typed(data)
        if exclude:
            given = [axis] if isinstance(axis, int) else list(axis or ())
            rank = len(shape_of(data))
            axis = [n for n in range(rank) if n not in {each % rank for each in given}]
        return typed(getattr(_op, name)(data, axis=axis, keepdims=keepdims))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{name} over axes; exclude: over all others."
    return call


def _pair(value) -> list:
    return [value, value] if isinstance(value, int) else list(value)


def reshape(data, newshape, allowzero: bool = False):
    """The same elements in another shape: 0 keeps an extent, -1 follows from the others."""
    old = shape_of(data)
    shape = [
        old[n] if extent == 0 and isinstance(extent, int) else extent for n, extent in enumerate(newshape)
    ]
    if any(isinstance(extent, int) and extent < -1 for extent in shape):
        raise UserError(
            f"relay.reshape: the codes -2, -3 and -4 of {tuple(newshape)} are not known\nhelp: write the extents"
        )
    return typed(_op.reshape(typed(data), tuple(shape)))


def transpose(data, axes=None):
    """The dimensions in another order; default reversed."""
    return typed(_op.permute_dims(typed(data), axes=None if axes is None else list(axes)))


def concatenate(data, axis: int = 0):
    """Tensors one after the other."""
    parts = data.elements if hasattr(data, "elements") else data
    return typed(_op.concat([typed(part) for part in parts], axis=axis))


def split(data, indices_or_sections, axis: int = 0):
    """The parts of a tensor."""
    parts = indices_or_sections if isinstance(indices_or_sections, int) else list(indices_or_sections)
    count = parts if isinstance(parts, int) else len(parts) + 1
    return TupleWrapper(typed(_op.split(typed(data), parts, axis=axis)), count)


def clip(a, a_min, a_max):
    """The numbers between two limits."""
    return typed(_op.clip(typed(a), a_min, a_max))


def cast(data, dtype: str):
    """The numbers in another dtype."""
    return typed(_op.astype(typed(data), dtype))


def squeeze(data, axis=None):
    """Without dimensions of extent 1."""
    return typed(_op.squeeze(typed(data), axis=axis))


def expand_dims(data, axis: int, num_newaxis: int = 1):
    """With dimensions of extent 1 at `axis`."""
    return typed(_op.expand_dims(typed(data), axis=[axis + n for n in range(num_newaxis)]))


def take(data, indices, axis=None, batch_dims: int = 0, mode: str = "clip"):
    """Elements by their indices; without an axis, of the flattened tensor."""
    data = typed(data) if axis is not None else reshape(data, (-1,))
    return typed(_op.take(data, typed(indices), axis=0 if axis is None else axis, mode=mode))


def where(condition, x, y):
    """Elements of x where the condition holds, else of y."""
    return typed(_op.where(typed(condition), typed(x), typed(y)))


def full(fill_value, shape=(), dtype: str = "float32"):
    """A tensor of one number."""
    return typed(_op.full(tuple(shape), const(fill_value, dtype), dtype))


# ---------------------------------------------------------------- relay.nn


def dense(data, weight, units=None, out_dtype: str = ""):
    """data @ weight.T: weights are [units, inputs]."""
    weight = typed(weight)
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
    rank = len(shape_of(data))
    behind = rank - 1 - axis % rank
    return typed(_op.add(typed(data), expand_dims(bias, 1, behind) if behind else typed(bias)))


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
    weight = typed(weight)
    extents = dict(zip(kernel_layout, shape_of(weight), strict=False))
    found = (extents.get("O"), [extents.get("H"), extents.get("W")])
    for name, given, actual in (("channels", channels, found[0]), ("kernel_size", kernel_size, found[1])):
        if given is not None and (_pair(given) if name == "kernel_size" else given) != actual:
            raise UserError(f"relay.nn.conv2d: {name} is {given}, but weights have {actual}")
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
    return typed(_nn.prelu(typed(data), typed(alpha), axis=axis))


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
    values = [typed(each) for each in (data, gamma, beta, moving_mean, moving_var)]
    made = _nn.batch_norm(*values, axis=axis, epsilon=epsilon, center=center, scale=scale, training=False)
    return TupleWrapper(typed(made), 3)


def layer_norm(
    data, gamma, beta, axis: int = -1, epsilon: float = 1e-5, center: bool = True, scale: bool = True
):
    """Data normalised along an axis."""
    made = _nn.layer_norm(
        typed(data), typed(gamma), typed(beta), axes=[axis], epsilon=epsilon, center=center, scale=scale
    )
    return typed(made)


def dropout(data, rate: float = 0.5):
    """The data: networks that run drop nothing."""
    return typed(data)


def pad(data, pad_width, pad_value=0, pad_mode: str = "constant"):
    """Data with a border: pad_width is ((before, after), ...) for each dimension."""
    widths = [int(width) for pair in pad_width for width in pair]
    return typed(_nn.pad(typed(data), widths, pad_mode, float(pad_value)))


NAMES = {
    **{name: _with_values(getattr(_op, name), 1, name) for name in _UNARY},
    **{name: _with_values(getattr(_op, name), 2, name) for name in _BINARY},
    **{name: _reduction(name) for name in _OF_AXES},
    **{
        each.__name__: each
        for each in (
            reshape,
            transpose,
            concatenate,
            split,
            clip,
            cast,
            squeeze,
            expand_dims,
            take,
            where,
            full,
        )
    },
    "copy": typed,
}
NN = {
    "relu": _with_values(_nn.relu, 1, "relu"),
    "gelu": _with_values(_nn.gelu, 1, "gelu"),
    "silu": _with_values(_nn.silu, 1, "silu"),
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
