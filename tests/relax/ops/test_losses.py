"""Losses, against torch and numpy."""

import numpy as np
import pytest
from op_images import t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
RNG = np.random.default_rng(6)


def test_targets_outside_are_brought_inside():
    predictions = RNG.standard_normal((4, 5)).astype("float32")
    targets, classes = np.array([-7, 99, 2, np.iinfo("int64").max]), [0, 4, 2, 4]
    weights = np.arange(1, 6, dtype="float32")
    wanted = -predictions[np.arange(4), classes] * weights[classes]
    check_op("nn.nll_loss", [predictions, targets, weights], {"reduction": "none"}, wanted)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def test_losses():
    scores, targets, weights = some(5, 7), RNG.integers(0, 7, 5), np.abs(some(7))
    targets[2] = -100
    for reduction in ["none", "sum", "mean"]:
        wanted = F.nll_loss(t(scores), t(targets), t(weights), reduction=reduction).numpy()
        check_op("nn.nll_loss", [scores, targets, weights], {"reduction": reduction}, wanted)
    image, labels = some(2, 3, 5, 7), RNG.integers(0, 3, (2, 5, 7))
    wanted = F.nll_loss(t(image), t(labels), ignore_index=1).numpy()
    check_op("nn.nll_loss", [image, labels], {"ignore_index": 1}, wanted)
    check_op("nn.nll_loss", [scores[0].copy(), np.array(3)], {}, -scores[0, 3])
    labels = some(5, 7)
    check_op(
        "nn.cross_entropy_with_logits",
        [scores, labels],
        {},
        -(scores * labels).sum() / np.float32(5),
        atol=1e-5,
    )
