"""Attention in float64, and arrays for it."""

import numpy as np


def random(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype("float32")


def attention(query, key, value, bias=0.0, scale=1.0):
    """Of [.., s, d], [.., t, d], [.., t, e] in float64."""
    query, key, value, bias = (np.asarray(x, "float64") for x in (query, key, value, bias))
    with np.errstate(invalid="ignore"):
        scores = query @ key.swapaxes(-1, -2) * scale + bias
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ value


def heads_first(x):
    return x.transpose(0, 2, 1, 3)
