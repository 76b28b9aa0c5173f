"""Transposed convolutions by numpy: each element of data adds the kernel, scaled, to the result."""

import itertools

import numpy as np


def transposed(x, w, strides, padding, dilation, groups=1, more=None):
    """x [n, c, spatial...], w [c, o / groups, window...] -> [n, o, ...], in float64 or the integers of x.

    padding  left out before all dimensions, then after all; more: the additional elements of each dimension
    """
    dims = x.ndim - 2
    more = more or [0] * dims
    window, in_group = w.shape[2:], x.shape[1] // groups
    full = [
        (x.shape[n + 2] - 1) * strides[n] + (window[n] - 1) * dilation[n] + 1 + more[n] for n in range(dims)
    ]
    dtype = "int64" if np.issubdtype(x.dtype, np.integer) else "float64"
    result = np.zeros((x.shape[0], w.shape[1] * groups, *full), dtype)
    for group in range(groups):
        part = slice(group * in_group, (group + 1) * in_group)
        outputs = slice(group * w.shape[1], (group + 1) * w.shape[1])
        for k in itertools.product(*map(range, window)):
            places = tuple(
                slice(
                    k[n] * dilation[n], k[n] * dilation[n] + (x.shape[n + 2] - 1) * strides[n] + 1, strides[n]
                )
                for n in range(dims)
            )
            if 0 in x.shape:
                continue
            term = np.einsum(
                "nc...,co->no...", x[:, part].astype(dtype), w[(part, slice(None), *k)].astype(dtype)
            )
            result[(slice(None), outputs, *places)] += term
    kept = tuple(slice(padding[n], full[n] - padding[dims + n]) for n in range(dims))
    return result[(slice(None), slice(None), *kept)]
