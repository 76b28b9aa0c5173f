"""Losses."""

from ... import _core, tir
from ...errors import UserError
from .._arguments import _compute

_topi = _core.topi


def nll_loss(predictions, targets, weights, reduction: str = "mean", ignore_index: int = -100):
    """-predictions[n, targets[n, ..], ..] * weights[targets[n, ..]], and its mean over the weights or its sum.

    predictions   [n, classes, ..], logarithms of probabilities, or [classes]
    targets       [n, ..] of integers; ignore_index: no class
    weights       [classes]
    reduction     "mean", "sum" or "none"
    """
    if reduction not in ("mean", "sum", "none"):
        raise UserError(f'nll_loss: reduction is "{reduction}", expected "mean", "sum" or "none"')
    if len(targets.shape) not in (len(predictions.shape) - 1,):
        raise UserError(
            f"nll_loss: predictions has {len(predictions.shape)} dimensions, targets has {len(targets.shape)},"
            " expected one less"
        )
    zero = tir.const(0, predictions.dtype)

    def weight_at(target):
        # no class: any index that exists, its value is not used
        return tir.if_then_else(target == ignore_index, tir.const_like(0, target), target)

    def loss(*indices):
        target = targets(*indices)
        place = weight_at(target)
        at = (*indices[:1], place, *indices[1:])
        value = -predictions(*at) * weights(place)
        return tir.if_then_else(target == ignore_index, zero, value)

    def weight(*indices):
        target = targets(*indices)
        return tir.if_then_else(target == ignore_index, zero, weights(weight_at(target)))

    losses = _compute(targets.shape, loss, "T_nll_loss")
    axes = list(range(len(targets.shape)))
    if reduction == "none":
        return losses
    total = _topi.sum(losses, axes, False)
    if reduction == "sum":
        return total
    return _topi.divide(total, _topi.sum(_compute(targets.shape, weight, "T_nll_weight"), axes, False))
