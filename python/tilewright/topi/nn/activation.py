"""Activations: functions of each element, and softmax."""

from ... import _core
from .._arguments import _axis
from .._graph import _of_graph

_topi = _core.topi


def relu(x):
    """max(x, 0)."""
    return _topi.relu(x)


def leaky_relu(x, alpha: float):
    """x where x > 0, else alpha * x."""
    return _topi.leaky_relu(x, alpha)


def prelu(x, slope, axis: int = 1):
    """x where x > 0, else slope * x.

    slope  one value for each index of dimension `axis`
    """
    return _of_graph("nn.prelu", x, slope, axis=_axis(x, axis))[0]


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


def fast_softmax(x, axis: int = -1):
    """softmax: it takes no approximation to be fast."""
    return softmax(x, axis)
