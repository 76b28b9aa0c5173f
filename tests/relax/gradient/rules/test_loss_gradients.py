"""Gradients of softmax, losses and dropout, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, op, positive, rand

from tilewright import relax

torch = pytest.importorskip("torch")

F = torch.nn.functional


@pytest.mark.parametrize("axis", [-1, 1])
def test_softmax(axis):
    check(lambda x: op.nn.softmax(x, axis=axis), lambda x: F.softmax(x, axis), rand(5, 7, 3))
    check(lambda x: op.nn.log_softmax(x, axis=axis), lambda x: F.log_softmax(x, axis), rand(5, 7, 3))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_nll_loss(reduction):
    targets = np.array([0, 6, 3, -100, 3], "int64")
    weights = positive(7)

    def graph(x, t):
        return op.nn.nll_loss(x, t, relax.const(weights), reduction=reduction)

    check(
        graph,
        lambda x, t: F.nll_loss(x, t, torch.tensor(weights), reduction=reduction),
        rand(5, 7),
        targets,
    )
    many = np.random.default_rng(1).integers(0, 7, (2, 5, 3))
    check(
        lambda x, t: op.nn.nll_loss(x, t, reduction=reduction),
        lambda x, t: F.nll_loss(x, t, reduction=reduction),
        rand(2, 7, 5, 3),
        many,
    )


def test_cross_entropy():
    check(
        op.nn.cross_entropy_with_logits,
        lambda p, t: -(p * t).sum() / 5,
        rand(5, 7),
        positive(5, 7),
    )


def test_dropout_is_the_identity():
    check(lambda x: op.nn.dropout(x, rate=0.3)[0], lambda x: x * 1, rand(5, 7))
