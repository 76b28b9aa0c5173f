"""Layers over te tensors: topi.nn.relu(x), topi.nn.conv2d(data, kernel, strides=1, padding=1)."""

from .. import _core
from .._numbers import plain
from ..errors import UserError
from ._arguments import _axis, _const, _require

_topi = _core.topi


def relu(x):
    """max(x, 0)."""
    return _topi.relu(x)


def leaky_relu(x, alpha: float):
    """x where x > 0, else alpha * x."""
    return _topi.leaky_relu(x, alpha)


def gelu(x):
    """x / 2 * (1 + erf(x / sqrt(2)))."""
    return _topi.gelu(x)


def silu(x):
    """x * sigmoid(x)."""
    return _topi.silu(x)


def softmax(x, axis: int = -1):
    """exp(x) / sum(exp(x)) over `axis`, without overflow."""
    return _topi.softmax(x, _axis(x, axis))


def log_softmax(x, axis: int = -1):
    """The logarithm of softmax."""
    return _topi.log_softmax(x, _axis(x, axis))


def matmul(a, b, out_dtype: str = ""):
    """The product as numpy.matmul; summed in out_dtype."""
    _require("matmul", a, b, of_dtype="float32")
    return _topi.matmul(a, b, out_dtype or "void")


def dense(data, weight, bias=None, out_dtype: str = ""):
    """data [m, k] times the transpose of weight [n, k], and bias [n] if given."""
    if len(data.shape) != 2:
        raise UserError(f"dense: data has shape [{', '.join(map(str, data.shape))}], expected 2 dimensions")
    _require("linear", data, weight, *([] if bias is None else [bias]), of_dtype="float32")
    product = _topi.dense(data, weight, out_dtype or "void")
    return product if bias is None else _topi.add(product, bias)


def pad(data, pad_before, pad_after=None, pad_value=0.0):
    """data with pad_before[n] and pad_after[n] elements of pad_value around dimension n; after defaults to before."""
    before, after = list(pad_before), list(pad_before if pad_after is None else pad_after)
    if len(before) != len(after) or len(before) != len(data.shape):
        raise UserError(
            f"pad: {len(before)} and {len(after)} widths are given, expected {len(data.shape)} before and after"
        )
    _require("nn.pad", data, pad_width=[width for both in zip(before, after, strict=True) for width in both])
    return _topi.pad(data, before, after, _const(pad_value, data.dtype))


def _per_dimension(value, count: int) -> list[int]:
    return [value] * count if isinstance(plain(value), int) else list(value)


def _around(padding, count: int) -> list[int]:
    """Before each dimension, then after each."""
    values = _per_dimension(padding, count)
    return values * 2 if len(values) == count else values


def conv2d(
    data,
    kernel,
    strides=1,
    padding=0,
    dilation=1,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_dtype: str = "",
    groups: int = 1,
):
    """The convolution (cross-correlation) of data with kernel.

    strides, dilation  a number or one per spatial dimension
    padding            zeros around: a number, one per dimension, or before each and after each
    """
    attrs = {
        "strides": _per_dimension(strides, 2),
        "padding": _around(padding, 2),
        "dilation": _per_dimension(dilation, 2),
        "groups": groups,
        "data_layout": data_layout,
        "kernel_layout": kernel_layout,
    }
    _require("nn.conv2d", data, kernel, of_dtype="float32", **attrs)
    return _topi.conv(data, kernel, *attrs.values(), out_dtype or "void")


def pool2d(
    data,
    kernel,
    stride=1,
    dilation=1,
    padding=0,
    pool_type: str = "max",
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
):
    """The largest element ("max") or the mean ("avg") of each window."""
    is_max = pool_type == "max"
    if not is_max and pool_type != "avg":
        raise UserError(f'pool_type is "{pool_type}", expected "max" or "avg"')
    attrs = {
        "pool_size": _per_dimension(kernel, 2),
        "strides": _per_dimension(stride, 2),
        "padding": _around(padding, 2),
        "dilation": _per_dimension(dilation, 2),
        "ceil_mode": ceil_mode,
        "count_include_pad": count_include_pad,
        "layout": layout,
    }
    _require(f"nn.{pool_type}_pool2d", data, **attrs)
    return _topi.pool(data, is_max, *attrs.values())
