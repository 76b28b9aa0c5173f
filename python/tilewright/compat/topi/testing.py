"""topi.testing: numbers of operators by numpy, and schedules by the kind of operator, as TVM's own tests call them."""

import numpy as np

from .nn_utils import widths
from .schedules import NAMES as _SCHEDULES


def _schedule(name: str):
    def get(target):
        """The schedule of operators of this kind, for tensors: get_injective_schedule("llvm")(C)."""
        return _of_target(str(getattr(target, "kind", target)))[f"schedule_{name}"]

    get.__name__ = f"get_{name}_schedule"
    return get


def _of_target(target: str) -> dict:
    """The schedules of the module that a target's are in."""
    return _SCHEDULES["cuda" if target.split()[0] in ("cuda", "opencl", "metal", "rocm", "vulkan") else "x86"]


def softmax_python(a_np, axis=1):
    """exp(a) / sum(exp(a)) over axis."""
    exp = np.exp(a_np - a_np.max(axis, keepdims=True))
    return exp / exp.sum(axis, keepdims=True)


def log_softmax_python(a_np, axis=1):
    """The logarithm of softmax_python."""
    shifted = a_np - a_np.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def dense(x, y, bias, use_bias=False, use_relu=False, out_dtype=None):
    """x times the transpose of y."""
    result = np.dot(x.astype(out_dtype or x.dtype), y.T.astype(out_dtype or x.dtype))
    result = result + bias if use_bias else result
    return np.maximum(result, 0) if use_relu else result


def batch_matmul(x, y, out_dtype=None, trans_x=False, trans_y=True):
    """The products of two batches of matrices, of which the second one is transposed."""
    x = x.transpose(0, 2, 1) if trans_x else x
    y = y.transpose(0, 2, 1) if trans_y else y
    return np.matmul(x.astype(out_dtype or x.dtype), y.astype(out_dtype or x.dtype))


def _pair(value) -> list:
    return [int(value)] * 2 if np.isscalar(value) else [int(each) for each in value]


def _around(padding, kernel) -> list:
    """(before, after) of each spatial dimension."""
    found = widths(padding, list(kernel))
    return list(zip(found[: len(kernel)], found[len(kernel) :], strict=True))


def _windows(x, kernel, steps, around, value=0.0):
    """The windows of the last dimensions: [.., positions, kernel]."""
    count = len(kernel)
    x = np.pad(x, [(0, 0)] * (x.ndim - count) + around, constant_values=value)
    views = np.lib.stride_tricks.sliding_window_view(x, kernel, tuple(range(x.ndim - count, x.ndim)))
    return views[(Ellipsis, *(slice(None, None, step) for step in steps), *[slice(None)] * count)]


def conv2d_nchw_python(a_np, w_np, stride, padding, groups=1):
    """The convolution of a [n, c, h, w] with w [o, c / groups, kh, kw]."""
    steps, kernel = _pair(stride), w_np.shape[2:]
    around = _around(padding, kernel)
    views = _windows(a_np, kernel, steps, around)
    parts = zip(np.split(views, groups, 1), np.split(w_np, groups, 0), strict=True)
    return np.concatenate([np.einsum("ncyxhw,ochw->noyx", x, w) for x, w in parts], 1).astype(a_np.dtype)


def conv2d_nhwc_python(a_np, w_np, stride, padding, groups=1):
    """The same of a [n, h, w, c] with w [kh, kw, c / groups, o]."""
    made = conv2d_nchw_python(a_np.transpose(0, 3, 1, 2), w_np.transpose(3, 2, 0, 1), stride, padding, groups)
    return made.transpose(0, 2, 3, 1)


def depthwise_conv2d_python_nchw(input_np, filter_np, stride, padding):
    """Each channel with filters [c, multiplier, kh, kw] of its own."""
    channels, multiplier, *kernel = filter_np.shape
    weight = filter_np.reshape(channels * multiplier, 1, *kernel)
    return conv2d_nchw_python(input_np, weight, stride, padding, channels)


def poolnd_python(
    np_data, kernel, strides, dilation, padding_before, padding_after, pool_type, count_include_pad=True,
    ceil_mode=False, dtype="float32", layout=None,
):  # fmt: skip
    """The largest element or the mean of each window of the dimensions after the second."""
    if ceil_mode or any(step != 1 for step in dilation):
        raise NotImplementedError(
            "poolnd_python counts no windows that reach out of the tensor, and no dilations"
        )
    around = list(zip(padding_before, padding_after, strict=True))
    axes = tuple(range(-len(kernel), 0))
    if pool_type == "max":
        return _windows(np_data, kernel, strides, around, -np.inf).max(axes).astype(dtype)
    sums = _windows(np_data, kernel, strides, around).sum(axes)
    counts = _windows(np.ones_like(np_data), kernel, strides, around, 1.0 if count_include_pad else 0.0).sum(
        axes
    )
    return (sums / counts).astype(dtype)


def dilate_python(input_np, strides, dilation_value=0.0, out_dtype=None):
    """Elements with strides - 1 of dilation_value between neighbours."""
    shape = [(n - 1) * step + 1 for n, step in zip(input_np.shape, strides, strict=True)]
    result = np.full(shape, dilation_value, out_dtype or input_np.dtype)
    result[tuple(slice(None, None, step) for step in strides)] = input_np
    return result


def gather_python(data, axis, indices):
    """result[i, j] = data[indices[i, j], j] for axis 0."""
    return np.take_along_axis(data, indices, axis)


def gather_nd_python(a_np, indices_np):
    """The elements at places whose coordinates are along the first dimension of indices."""
    return a_np[tuple(indices_np.astype("int64"))]


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    """on_value where the position along a new dimension is the index."""
    hit = np.expand_dims(indices, axis)
    places = np.arange(depth).reshape([-1 if n == axis % hit.ndim else 1 for n in range(hit.ndim)])
    return np.where(hit == places, on_value, off_value).astype(dtype)


def sequence_mask(data, valid_length, mask_value, axis):
    """data with mask_value after the valid length of each sequence."""
    at = np.arange(data.shape[axis])
    hit = at[:, None] >= valid_length if axis == 0 else at >= valid_length[:, None]
    return np.where(hit.reshape(hit.shape + (1,) * (data.ndim - 2)), mask_value, data).astype(data.dtype)


def strided_slice_python(data, begin, end, strides, slice_mode="end", axes=None):
    """data[begin:end:strides]; in slice_mode "size" `end` has numbers of elements, -1 for all that are left."""
    steps = list(strides or []) + [1] * (len(begin) - len(strides or []))
    if slice_mode == "size":
        stops = [None if size < 0 else first + size for first, size in zip(begin, end, strict=True)]
        steps = [1] * len(begin)
    else:
        stops = list(end) + [None] * (len(begin) - len(end))
    place = [slice(None)] * data.ndim
    for axis, part in zip(axes or range(len(begin)), zip(begin, stops, steps, strict=True), strict=True):
        place[axis] = slice(*part)
    return data[tuple(place)]


def strided_set_python(data, v, begin, end, strides):
    """data with data[begin:end:strides] set to v."""
    result = data.copy()
    result[tuple(slice(*part) for part in zip(begin, end, strides, strict=True))] = v
    return result


def searchsorted_ref(sorted_sequence, values, right, out_dtype):
    """For each value how many elements of its sorted row are before it."""
    side = "right" if right else "left"
    if sorted_sequence.ndim == 1:
        return np.searchsorted(sorted_sequence, values, side).astype(out_dtype)
    rows = zip(
        sorted_sequence.reshape(-1, sorted_sequence.shape[-1]),
        values.reshape(-1, values.shape[-1]),
        strict=True,
    )
    return np.array([np.searchsorted(row, of_row, side) for row, of_row in rows], out_dtype).reshape(
        values.shape
    )


def layer_norm_python(data, gamma, beta, axis, epsilon=1e-5):
    """data less its mean over axis, divided by its deviation."""
    axes = tuple(np.atleast_1d(axis))
    result = (data - data.mean(axes, keepdims=True)) / np.sqrt(data.var(axes, keepdims=True) + epsilon)
    return result * gamma + (0 if beta is None else beta)


def rms_norm_python(data, weight, axis, epsilon=1e-5):
    """data divided by the root of the mean of its squares over axis."""
    return data / np.sqrt(np.square(data).mean(tuple(np.atleast_1d(axis)), keepdims=True) + epsilon) * weight


def l2_normalize_python(a_np, eps, axis=None):
    """a divided by the root of the sum of its squares."""
    return a_np / np.sqrt(np.maximum(np.square(a_np).sum(axis, keepdims=True), eps))


_FUNCTIONS = {
    name: value for name, value in list(globals().items()) if name.endswith(("_python", "_nchw", "_ref"))
}
_FUNCTIONS |= {
    "dense": dense,
    "batch_matmul": batch_matmul,
    "one_hot": one_hot,
    "sequence_mask": sequence_mask,
}
_FUNCTIONS |= {
    f"get_{name}_schedule": _schedule(name)
    for name in ("injective", "elemwise", "broadcast", "reduce", "softmax")
    if f"schedule_{name}" in _SCHEDULES["x86"]
}
NAMES = {"testing": _FUNCTIONS}
