"""Functions that numpy lacks: convolutions, pools, norms, slices of several axes."""

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

erf = np.vectorize(math.erf, otypes=["float64"])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def selu(x):
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return scale * np.where(x > 0, x, alpha * (np.exp(np.minimum(x, 0)) - 1))


def softmax(x, axis):
    shifted = np.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def normalized(x, axes, epsilon):
    variance = x.var(axis=axes, keepdims=True)
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(variance + epsilon)


def layer_norm(x, gamma, beta, epsilon):
    return normalized(x, -1, epsilon) * gamma + beta


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * weight


def group_norm(x, gamma, beta, groups, epsilon):
    n, c, *spatial = x.shape
    grouped = x.reshape(n, groups, c // groups, *spatial)
    result = normalized(grouped, tuple(range(2, grouped.ndim)), epsilon).reshape(x.shape)
    shape = (c,) + (1,) * len(spatial)
    return result * gamma.reshape(shape) + beta.reshape(shape)


def batch_norm(x, gamma, beta, mean, var, epsilon):
    shape = (-1,) + (1,) * (x.ndim - 2)
    scale = gamma / np.sqrt(var + epsilon)
    result = (x - mean.reshape(shape)) * scale.reshape(shape) + beta.reshape(shape)
    return result, mean, var


def _windows(x, kernel, strides, padding, dilation, fill):
    """[n, c, out..., kernel...] of x [n, c, spatial...]."""
    rank = len(kernel)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    view = sliding_window_view(x, reach, axis=tuple(range(2, 2 + rank)))
    steps = [slice(None)] * 2 + [slice(None, None, s) for s in strides]
    return view[(*steps, *(slice(None, None, d) for d in dilation))]


def conv(x, weight, strides, padding, dilation, groups):
    """A convolution of any rank, NC... and OI..."""
    rank = x.ndim - 2
    view = _windows(x, weight.shape[2:], strides, padding, dilation, 0.0)
    outputs = []
    in_group, out_group = x.shape[1] // groups, weight.shape[0] // groups
    spatial = "xyz"[:rank]
    taps = "uvw"[:rank]
    for g in range(groups):
        part = view[:, g * in_group : (g + 1) * in_group]
        kernel = weight[g * out_group : (g + 1) * out_group]
        outputs.append(np.einsum(f"nc{spatial}{taps},oc{taps}->no{spatial}", part, kernel))
    return np.concatenate(outputs, axis=1)


def max_pool(x, kernel, strides, padding, dilation):
    view = _windows(x, kernel, strides, padding, dilation, -np.inf)
    return view.max(axis=tuple(range(x.ndim, view.ndim)))


def avg_pool(x, kernel, strides, padding, dilation, count_include_pad):
    axes = tuple(range(x.ndim, x.ndim + len(kernel)))
    total = _windows(x, kernel, strides, padding, dilation, 0.0).sum(axis=axes)
    if count_include_pad:
        return total / np.prod(kernel)
    return total / _windows(np.ones_like(x), kernel, strides, padding, dilation, 0.0).sum(axis=axes)


def one_hot(indices, depth):
    return (indices[..., None] == np.arange(depth)).astype("float64")


def floor_mod(a, b):
    return a - b * np.floor_divide(a, b)
