"""The operators of models: functions of nn.Tensor that add to the function that is being built.

All take tensors, or numbers and arrays where a tensor stands beside them, and a `name` that the result gets.
"""

import math

from .... import tir
from ...._guard import guard_module
from ...._numbers import plain
from ... import op as graph_op
from ...block_builder import BlockBuilder
from ...expr import const
from .custom import debug_func, extern, print_, tensor_expr_op, tensor_ir_inplace_op, tensor_ir_op
from .custom import wrap_nested as wrap_nested
from .tensor import Tensor, as_tensor

_nn = graph_op.nn


def _unary(name: str, function, text: str):
    def apply(x: Tensor, name: str = name) -> Tensor:
        return wrap_nested(function(x._expr), name)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{text}, element by element."
    return apply


def _binary(name: str, text: str):
    function = getattr(graph_op, name)

    def apply(a: Tensor, b: Tensor, name: str = name) -> Tensor:
        a, b = as_tensor(a, b), as_tensor(b, a)
        return wrap_nested(function(a._expr, b._expr), name)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"{text}, element by element with broadcasting."
    return apply


relu = _unary("relu", _nn.relu, "max(x, 0)")
relu6 = _unary("relu6", _nn.relu6, "x, at least 0 and at most 6")
silu = _unary("silu", _nn.silu, "x * sigmoid(x)")
sigmoid = _unary("sigmoid", graph_op.sigmoid, "1 / (1 + exp(-x))")
tanh = _unary("tanh", graph_op.tanh, "The hyperbolic tangent of x")
exp = _unary("exp", graph_op.exp, "e to the power of x")
floor = _unary("floor", graph_op.floor, "The largest integer that is at most x")
log = _unary("log", graph_op.log, "The natural logarithm of x")
negative = _unary("negative", graph_op.negative, "-x")
square = _unary("square", graph_op.square, "x * x")
sqrt = _unary("sqrt", graph_op.sqrt, "The square root of x")

add = _binary("add", "a + b")
subtract = _binary("subtract", "a - b")
multiply = _binary("multiply", "a * b")
divide = _binary("divide", "a / b")
maximum = _binary("maximum", "The larger of a and b")
minimum = _binary("minimum", "The smaller of a and b")
less = _binary("less", "a < b")
less_equal = _binary("less_equal", "a <= b")
greater = _binary("greater", "a > b")
greater_equal = _binary("greater_equal", "a >= b")
equal = _binary("equal", "a == b")
not_equal = _binary("not_equal", "a != b")


def gelu(x: Tensor, approximate: str | None = None, name: str = "gelu") -> Tensor:
    """x * P(X <= x) of a normal distribution; approximate "tanh" computes it with tanh."""
    return wrap_nested((_nn.gelu_tanh if approximate == "tanh" else _nn.gelu)(x._expr), name)


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0, name: str = "softplus") -> Tensor:
    """log(1 + exp(beta * x)) / beta; x where beta * x exceeds the threshold."""
    return wrap_nested(_nn.softplus(x._expr, beta=beta, threshold=threshold), name)


def prelu(x: Tensor, alpha: Tensor, name: str = "prelu") -> Tensor:
    """x, times alpha where it is below 0; alpha is per channel, axis 1."""
    return wrap_nested(_nn.prelu(x._expr, alpha._expr), name)


def softmax(x: Tensor, axis: int = -1, name: str = "softmax") -> Tensor:
    """exp(x) / sum(exp(x)) along an axis."""
    return wrap_nested(_nn.softmax(x._expr, axis=axis), name)


def matmul(a: Tensor, b: Tensor, out_dtype: str | None = None, name: str = "matmul") -> Tensor:
    """The product of matrices [.., m, k] x [.., k, n] -> [.., m, n]."""
    return wrap_nested(graph_op.matmul(a._expr, b._expr, out_dtype=out_dtype), name)


# -- reductions --


def _axes(axis) -> list | None:
    return [axis] if isinstance(plain(axis), int) else axis


def sum(x: Tensor, axis=None, keepdims: bool = False, name: str = "sum") -> Tensor:
    """The sum over axes, default all."""
    return wrap_nested(graph_op.sum(x._expr, axis=_axes(axis), keepdims=keepdims), name)


def max(x: Tensor, axis=None, keepdims: bool = False, name: str = "max") -> Tensor:
    """The largest element over axes, default all."""
    return wrap_nested(graph_op.max(x._expr, axis=_axes(axis), keepdims=keepdims), name)


def min(x: Tensor, axis=None, keepdims: bool = False, name: str = "min") -> Tensor:
    """The smallest element over axes, default all."""
    return wrap_nested(graph_op.min(x._expr, axis=_axes(axis), keepdims=keepdims), name)


def cumsum(
    data: Tensor, axis=None, dtype=None, exclusive: bool | None = None, name: str = "cumsum"
) -> Tensor:
    """Sums of all elements up to each along an axis, default of the flattened tensor."""
    return wrap_nested(graph_op.cumsum(data._expr, axis=axis, dtype=dtype, exclusive=exclusive), name)


# -- shapes --


def reshape(x: Tensor, shape, name: str = "reshape") -> Tensor:
    """The elements in another shape; one extent may be -1."""
    return wrap_nested(graph_op.reshape(x._expr, _extents(shape)), name)


def _extents(shape) -> list:
    return list(shape) if isinstance(shape, list | tuple) else [shape]


def permute_dims(x: Tensor, axes: list[int] | None = None, name: str | None = None) -> Tensor:
    """Dimensions in the order `axes`, default reversed."""
    return wrap_nested(graph_op.permute_dims(x._expr, axes=axes), name or "permute_dims")


def permute(x: Tensor, axes: list[int] | None, name: str = "permute") -> Tensor:
    """permute_dims."""
    return permute_dims(x, axes, name)


def unsqueeze(x: Tensor, dim: int, name: str = "unsqueeze") -> Tensor:
    """A dimension of extent 1 at `dim`."""
    return wrap_nested(graph_op.expand_dims(x._expr, axis=[dim]), name)


def squeeze(x: Tensor, axis: int = -1, name: str = "squeeze") -> Tensor:
    """Without the dimension `axis`, whose extent is 1."""
    return wrap_nested(graph_op.squeeze(x._expr, axis=[axis]), name)


def broadcast_to(x: Tensor, shape, name: str = "broadcast_to") -> Tensor:
    """x with its extents 1 grown to `shape`."""
    return wrap_nested(graph_op.broadcast_to(x._expr, _extents(shape)), name)


def concat(x: list[Tensor], dim: int, name: str = "concat") -> Tensor:
    """Tensors one after the other along a dimension."""
    return wrap_nested(graph_op.concat([each._expr for each in x], axis=dim), name)


def split(ary: Tensor, indices_or_sections, axis: int = 0, name: str = "split") -> tuple[Tensor, ...]:
    """Equal parts along an axis, or the parts between indices."""
    return wrap_nested(graph_op.split(ary._expr, indices_or_sections=indices_or_sections, axis=axis), name)


def chunk(x: Tensor, chunks: int, dim: int = 0, name: str = "chunk") -> tuple[Tensor, ...]:
    """split into `chunks` parts."""
    return split(x, chunks, dim, name)


def repeat(x: Tensor, repeats: int, axis: int | None = None, name: str = "repeat") -> Tensor:
    """Each element `repeats` times along an axis, default of the flattened tensor."""
    return wrap_nested(graph_op.repeat(x._expr, repeats=repeats, axis=axis), name)


def take(x: Tensor, indices: Tensor, axis: int | None = None, name: str = "take") -> Tensor:
    """The slices of x at `indices` along an axis."""
    return wrap_nested(graph_op.take(x._expr, indices._expr, axis=axis), name)


def pad(x: Tensor, pad, mode: str = "constant", value: float = 0.0, name: str = "pad") -> Tensor:
    """x with elements added before and after: pairs per dimension, from the first dimension on."""
    return wrap_nested(_nn.pad(x._expr, pad_width=list(pad), pad_mode=mode, pad_value=float(value)), name)


def arange(
    start: int, end: int | None = None, step: int = 1, dtype: str | None = "float32", name: str = "arange"
) -> Tensor:
    """start, start + step, ... before end; arange(5) is arange(0, 5)."""
    return wrap_nested(graph_op.arange(start, end, step, dtype), name)


def triu(x: Tensor, diagonal: int = 0, name: str = "triu") -> Tensor:
    """The upper triangle, zeros below the diagonal."""
    return wrap_nested(graph_op.triu(x._expr, k=diagonal), name)


def astype(x: Tensor, dtype: str, name: str = "astype") -> Tensor:
    """The elements converted; x itself if it has the dtype."""
    return x if x.dtype == dtype else wrap_nested(graph_op.astype(x._expr, dtype=dtype), name)


def where(condition: Tensor, x1: Tensor, x2: Tensor, name: str = "where") -> Tensor:
    """x1 where the condition holds, else x2; a condition of numbers holds where it is not 0."""
    condition = astype(as_tensor(condition), "bool")
    x1, x2 = as_tensor(x1, x2), as_tensor(x2, x1)
    return wrap_nested(graph_op.where(condition._expr, x1._expr, x2._expr), name)


# -- creation --


def full(shape, fill_value, dtype: str = "float32", name: str = "full") -> Tensor:
    """A tensor of one number."""
    value = fill_value._expr if isinstance(fill_value, Tensor) else const(fill_value, dtype)
    return wrap_nested(graph_op.full(_extents(shape), value, dtype=dtype), name)


def zeros(shape, dtype: str = "float32", name: str = "zeros") -> Tensor:
    """A tensor of zeros."""
    return wrap_nested(graph_op.zeros(_extents(shape), dtype=dtype), name)


def ones(shape, dtype: str = "float32", name: str = "ones") -> Tensor:
    """A tensor of ones."""
    return wrap_nested(graph_op.ones(_extents(shape), dtype=dtype), name)


def empty(shape, dtype: str = "float32", name: str = "empty") -> Tensor:
    """A tensor whose elements have no defined values (at present zeros)."""
    return zeros(shape, dtype, name)


# -- order and chance --


def sort(x: Tensor, axis: int = -1, descending: bool = False, name: str = "sort") -> Tensor:
    """The elements in order along an axis."""
    return wrap_nested(graph_op.sort(x._expr, axis=axis, descending=descending), name)


def argsort(
    data: Tensor, axis: int = -1, descending: bool = False, dtype: str = "int32", name: str = "argsort"
) -> Tensor:
    """The indices that sort along an axis."""
    return wrap_nested(graph_op.argsort(data._expr, axis=axis, descending=descending, dtype=dtype), name)


def topk(
    data: Tensor,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    largest: bool = True,
    dtype: str = "int32",
    name: str = "topk",
):
    """The k largest elements along an axis and their indices, or one of the two ("values", "indices")."""
    call = graph_op.topk(data._expr, k=k, axis=axis, ret_type=ret_type, largest=largest, dtype=dtype)
    return wrap_nested(call, name)


def multinomial_from_uniform(
    prob: Tensor,
    uniform_sample: Tensor,
    sample_indices: Tensor | None = None,
    dtype: str = "int64",
    name: str = "multinomial_from_uniform",
) -> Tensor:
    """For each uniform sample the category that it falls into."""
    if sample_indices is None:
        sample_indices = as_tensor(_rows(prob.shape[0]))
    return wrap_nested(
        graph_op.multinomial_from_uniform(
            prob._expr, uniform_sample._expr, sample_indices._expr, dtype=dtype
        ),
        name,
    )


def _rows(count):
    """[count, 1] of 0 to count - 1."""
    rows = BlockBuilder.current().emit(graph_op.arange(0, count, 1, dtype="int64"))
    return graph_op.reshape(rows, [count, 1])


# -- networks --


def _lists(rank: int, **values) -> dict:
    return {key: [v] * rank if isinstance(plain(v), int) else list(v) for key, v in values.items()}


def _with_bias(result, bias: Tensor | None, rank: int, layout: str, name: str) -> Tensor:
    product = wrap_nested(result, name)
    if bias is None:
        return product
    shape = [1] * (rank + 2)
    shape[layout.index("C")] = bias.shape[0]
    return add(product, reshape(bias, shape))


def conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, name: str = "conv1d") -> Tensor:
    """A convolution of x [n, in, w] with weight [out, in / groups, k], and a bias [out]."""
    options = _lists(1, strides=stride, padding=padding, dilation=dilation)
    return _with_bias(_nn.conv1d(x._expr, weight._expr, groups=groups, **options), bias, 1, "NCW", name)


def conv2d(
    x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_layout="NCHW", name: str = "conv2d"
) -> Tensor:
    """A convolution of x [n, in, h, w] with weight [out, in / groups, kh, kw], and a bias [out]."""
    options = _lists(2, strides=stride, dilation=dilation, padding=padding)
    result = _nn.conv2d(x._expr, weight._expr, groups=groups, data_layout=data_layout, **options)
    return _with_bias(result, bias, 2, data_layout, name)


def conv3d(
    x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, data_layout="NCDHW", name: str = "conv3d"
) -> Tensor:
    """A convolution of x [n, in, d, h, w] with weight [out, in / groups, kd, kh, kw], and a bias [out]."""
    options = _lists(3, strides=stride, dilation=dilation, padding=padding)
    result = _nn.conv3d(x._expr, weight._expr, groups=groups, data_layout=data_layout, **options)
    return _with_bias(result, bias, 3, data_layout, name)


def conv1d_transpose(
    x,
    weight,
    bias=None,
    stride=1,
    padding=0,
    output_padding=0,
    dilation=1,
    groups=1,
    name: str = "conv1d_transpose",
) -> Tensor:
    """The transposed convolution of x [n, in, w] with weight [in, out / groups, k], and a bias [out]."""
    options = _lists(1, strides=stride, padding=padding, output_padding=output_padding, dilation=dilation)
    result = _nn.conv1d_transpose(x._expr, weight._expr, groups=groups, **options)
    return _with_bias(result, bias, 1, "NCW", name)


def layer_norm(
    x, normalized_shape, weight=None, bias=None, eps: float = 1e-5, name: str = "layer_norm"
) -> Tensor:
    """The last dimensions, of extents `normalized_shape`, with mean 0 and variance 1, times weight, plus bias."""
    extents = _extents(normalized_shape)
    weight = const_of(extents, x.dtype, 1.0) if weight is None else weight._expr
    bias = const_of(extents, x.dtype, 0.0) if bias is None else bias._expr
    axes = list(range(-len(extents), 0))
    return wrap_nested(_nn.layer_norm(x._expr, weight, bias, axes=axes, epsilon=eps), name)


def const_of(shape: list, dtype: str, number: float):
    """A constant of one number."""
    import numpy

    return const(numpy.full(shape, number, dtype))


def rms_norm(x, weight, axes, epsilon: float = 1e-5, name: str = "rms_norm") -> Tensor:
    """x / sqrt(mean(x * x) + epsilon) * weight, the mean over axes."""
    return wrap_nested(_nn.rms_norm(x._expr, weight._expr, axes=_axes(axes), epsilon=epsilon), name)


def group_norm(
    x,
    num_groups,
    weight=None,
    bias=None,
    eps: float = 1e-5,
    channel_axis: int = 1,
    axes=None,
    name: str = "group_norm",
) -> Tensor:
    """Groups of channels with mean 0 and variance 1, times weight, plus bias, both per channel."""
    channels = [x.shape[channel_axis]]
    weight = const_of(channels, x.dtype, 1.0) if weight is None else weight._expr
    bias = const_of(channels, x.dtype, 0.0) if bias is None else bias._expr
    axes = [n for n in range(x.ndim) if n not in (0, channel_axis % x.ndim)] if axes is None else list(axes)
    call = _nn.group_norm(
        x._expr, weight, bias, num_groups=num_groups, channel_axis=channel_axis, axes=axes, epsilon=eps
    )
    return wrap_nested(call, name)


def scaled_dot_product_attention(
    query,
    key,
    value,
    attn_mask=None,
    is_causal: bool = False,
    scale: float | None = None,
    name: str = "scaled_dot_product_attention",
) -> Tensor:
    """softmax(query @ key.T * scale + attn_mask) @ value over [batch, sequence, heads, features].

    is_causal  a query attends to keys up to its own place; default False
    scale      default 1 / sqrt(features)
    """
    mask = None if attn_mask is None else attn_mask._expr
    args = [query._expr, key._expr, value._expr, *([] if mask is None else [mask])]
    number = None if scale is None else tir.const(float(scale), "float32")
    call = _nn.attention(*args, scale=number, causal_mask="TopLeft" if is_causal else None)
    return wrap_nested(call, name)


def interpolate(
    x,
    size=None,
    scale_factor=None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor=None,
    antialias=None,
    data_layout: str = "NCHW",
    name: str = "interpolate",
) -> Tensor:
    """Images resized to `size`, or by `scale_factor`: mode nearest, bilinear or bicubic."""
    height, width = (data_layout.index(axis) for axis in "HW")
    if size is None:
        factors = (
            _lists(2, f=scale_factor)["f"]
            if not isinstance(plain(scale_factor), float)
            else [scale_factor] * 2
        )
        size = [int(x.shape[axis] * factor) for axis, factor in zip((height, width), factors, strict=True)]
    size = [size, size] if isinstance(plain(size), int) else list(size)
    method = {"nearest": "nearest_neighbor", "bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    corners = "align_corners" if align_corners else "asymmetric" if mode == "nearest" else "half_pixel"
    call = graph_op.image.resize2d(
        x._expr,
        size,
        layout=data_layout,
        method=method,
        coordinate_transformation_mode=corners,
        rounding_method="floor" if mode == "nearest" else "round",
    )
    return wrap_nested(call, name)


def get_timestep_embedding(
    x,
    embedding_dim: int,
    flip_sin_to_cos: bool = False,
    downscale_freq_shift: float = 1,
    scale: float = 1,
    max_period: int = 10000,
    name: str = "get_timestep_embedding",
) -> Tensor:
    """sin and cos of x [n] times embedding_dim / 2 frequencies, from 1 down to 1 / max_period.

    Source: Denoising Diffusion Probabilistic Models, Ho et al., 2020
    """
    import numpy

    half = embedding_dim // 2
    steps = numpy.arange(half, dtype="float32") / (half - downscale_freq_shift)
    frequencies = as_tensor(numpy.exp(-math.log(max_period) * steps).astype("float32"))
    angles = multiply(unsqueeze(astype(x, "float32"), 1), frequencies)
    angles = angles if scale == 1 else multiply(angles, scale)
    parts = [wrap_nested(graph_op.sin(angles._expr), "sin"), wrap_nested(graph_op.cos(angles._expr), "cos")]
    result = concat(parts[::-1] if flip_sin_to_cos else parts, 1, name)
    return pad(result, [0, 0, 0, 1]) if embedding_dim % 2 else result


# -- several workers --


def ccl_allreduce(x, op_type: str = "sum", in_group: bool = True, name: str = "ccl_allreduce") -> Tensor:
    """The sum, product, smallest, largest or mean over all workers."""
    return wrap_nested(graph_op.ccl.allreduce(x._expr, op_type=op_type, in_group=in_group), name)


def ccl_allgather(x, num_workers: int, name: str = "ccl_allgather") -> Tensor:
    """The tensors of all workers, one after the other."""
    return wrap_nested(graph_op.ccl.allgather(x._expr, num_workers=num_workers), name)


def ccl_broadcast_from_worker0(x, name: str = "broadcast_from_worker") -> Tensor:
    """The tensor of worker 0."""
    return wrap_nested(graph_op.ccl.broadcast_from_worker0(x._expr), name)


__all__ = [
    "add", "arange", "argsort", "astype", "broadcast_to", "ccl_allgather", "ccl_allreduce", "ccl_broadcast_from_worker0",
    "chunk", "concat", "conv1d", "conv1d_transpose", "conv2d", "conv3d", "cumsum", "debug_func", "divide", "empty",
    "equal", "exp", "extern", "floor", "full", "gelu", "get_timestep_embedding", "greater", "greater_equal", "group_norm",
    "interpolate", "layer_norm", "less", "less_equal", "log", "matmul", "max", "maximum", "min", "minimum",
    "multinomial_from_uniform", "multiply", "negative", "not_equal", "ones", "pad", "permute", "permute_dims", "prelu",
    "print_", "relu", "relu6", "repeat", "reshape", "rms_norm", "scaled_dot_product_attention", "sigmoid", "silu",
    "softmax", "softplus", "sort", "split", "sqrt", "square", "squeeze", "subtract", "sum", "take", "tanh",
    "tensor_expr_op", "tensor_ir_inplace_op", "tensor_ir_op", "topk", "triu", "unsqueeze", "where", "wrap_nested",
    "zeros",
]  # fmt: skip

guard_module(__name__, globals(), __all__)
