"""Normalizations in their inference form; statistics and sums in float32 at least."""

from ... import _core, tir
from ...errors import UserError
from .._arguments import _axes, _axis, _compute, _const, _reduce_axis
from .._graph import _dtype_of_sums, _of_graph

_topi = _core.topi


def _scale_and_shift(data, axes: list[int], gamma, beta) -> tuple:
    """(operands, attributes): those that are None are left out of the formula."""
    shape = [data.shape[axis] for axis in axes]
    missing = None
    if gamma is None or beta is None:
        missing = _topi.full(shape, data.dtype, _const(0, data.dtype))
    operands = [missing if each is None else each for each in (gamma, beta)]
    return operands, {"scale": gamma is not None, "center": beta is not None}


def batch_norm(
    data, gamma, beta, moving_mean, moving_var, axis: int = 1, epsilon: float = 1e-5,
    center: bool = True, scale: bool = True, training: bool = False, momentum: float = 0.1,
):  # fmt: skip
    """[(data - mean) / sqrt(variance + epsilon) * gamma + beta, the moving mean, the moving variance].

    gamma, beta, moving_mean, moving_var  one value for each index of dimension `axis`
    training  whether the statistics are those of data, and the moving ones move by `momentum` towards them
    """
    attrs = {"axis": _axis(data, axis), "epsilon": epsilon, "center": center, "scale": scale}
    operands = (data, gamma, beta, moving_mean, moving_var)
    return _of_graph("nn.batch_norm", *operands, **attrs, training=training, momentum=momentum)


def layer_norm(data, gamma, beta, axis, epsilon: float = 1e-5):
    """(data - mean) / sqrt(variance + epsilon) * gamma + beta over `axis`, one or several.

    gamma, beta  in the shape of these dimensions; None: 1 and 0
    """
    axes = _axes(data, axis)
    operands, attrs = _scale_and_shift(data, axes, gamma, beta)
    return _of_graph("nn.layer_norm", data, *operands, axes=axes, epsilon=epsilon, **attrs)[0]


def group_norm(data, gamma, beta, num_groups: int, channel_axis: int, axes, epsilon: float = 1e-5):
    """Normalizes channels in groups of neighbours, each over its channels and the dimensions `axes`.

    gamma, beta  one value per channel; None: 1 and 0
    """
    channel = _axis(data, channel_axis)
    operands, attrs = _scale_and_shift(data, [channel], gamma, beta)
    attrs |= {"num_groups": num_groups, "channel_axis": channel, "axes": _axes(data, axes)}
    return _of_graph("nn.group_norm", data, *operands, epsilon=epsilon, **attrs)[0]


def instance_norm(data, gamma, beta, channel_axis: int, axis, epsilon: float = 1e-5):
    """Normalizes each channel of each sample over the dimensions `axis`.

    gamma, beta  one value per channel; None: 1 and 0
    """
    channel = _axis(data, channel_axis)
    operands, attrs = _scale_and_shift(data, [channel], gamma, beta)
    attrs |= {"channel_axis": channel, "axes": _axes(data, axis)}
    return _of_graph("nn.instance_norm", data, *operands, epsilon=epsilon, **attrs)[0]


def rms_norm(data, weight, axis, epsilon: float = 1e-5):
    """data / sqrt(mean(data * data) + epsilon) * weight over `axis`, one or several."""
    return _of_graph("nn.rms_norm", data, weight, axes=_axes(data, axis), epsilon=epsilon)[0]


def lrn(data, size: int, axis: int = 1, alpha: float = 0.0001, beta: float = 0.75, bias: float = 2):
    """data / (bias + alpha / size * the sum of squares of `size` neighbours along `axis`) ** beta.

    size  odd
    """
    if size % 2 == 0:
        raise UserError(f"lrn: size is {size}, expected an odd number")
    axis, extent = _axis(data, axis), data.shape[_axis(data, axis)]
    around = _reduce_axis(size, "r")
    wide = _dtype_of_sums(data.dtype)

    def square(*indices):
        place = indices[axis] + (around.var - size // 2)
        inside = tir.all(place >= 0, place < extent)
        element = data(*indices[:axis], place, *indices[axis + 1 :]).astype(wide)
        guarded = tir.if_then_else(inside, element * element, tir.const(0, wide))
        return _core.te_sum(guarded, [around], None, None)

    squares = _compute(data.shape, square, "lrn_squares")

    def element(*indices):
        scale = tir.const(bias, wide) + tir.const(alpha / size, wide) * squares(*indices)
        return (data(*indices).astype(wide) / tir.pow(scale, tir.const(beta, wide))).astype(data.dtype)

    return _compute(data.shape, element, "T_lrn")


def l2_normalize(data, eps: float, axis=None):
    """data / sqrt(max(the sum of squares over `axis`, eps)); axis None: over all."""
    axes = _axes(data, axis)
    wide = _dtype_of_sums(data.dtype)
    own = data if wide == data.dtype else _topi.cast(data, wide)
    squares = _topi.sum(_topi.multiply(own, own), axes, True)

    def element(*indices):
        places = [0 if n in axes else index for n, index in enumerate(indices)]
        length = tir.sqrt(tir.max(squares(*places), tir.const(eps, wide)))
        return (own(*indices) / length).astype(data.dtype)

    return _compute(data.shape, element, "T_l2_normalize")


def scale_shift(data, scale, shift, axis: int = 1):
    """data * scale + shift, with one value of both for each index of dimension `axis`."""
    axis = _axis(data, axis)
    return _compute(data.shape, lambda *i: data(*i) * scale(i[axis]) + shift(i[axis]), "T_scale_shift")
