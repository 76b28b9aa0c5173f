"""Normalizations, softmax and dropout, against torch."""

import numpy as np
import pytest
from op_images import X, t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


GAMMA, BETA, MEAN, VAR = some(4), some(4), some(4), np.abs(some(4)) + 0.5


def test_norms():
    g, b = t(GAMMA), t(BETA)
    wanted = F.batch_norm(t(X), t(MEAN), t(VAR), g, b, eps=1e-3).numpy()
    check_op(
        "nn.batch_norm",
        [X, GAMMA, BETA, MEAN, VAR],
        {"axis": 1, "epsilon": 1e-3},
        [wanted, MEAN, VAR],
        atol=1e-5,
    )
    wanted = F.layer_norm(t(X), (7, 5), t(X[0, 0]), t(X[0, 1])).numpy()
    check_op("nn.layer_norm", [X, X[0, 0].copy(), X[0, 1].copy()], {"axes": [-2, -1]}, wanted, atol=1e-5)
    wanted = F.group_norm(t(X), 2, g, b).numpy()
    check_op(
        "nn.group_norm",
        [X, GAMMA, BETA],
        {"num_groups": 2, "channel_axis": 1, "axes": [2, 3]},
        wanted,
        atol=1e-5,
    )
    wanted = F.instance_norm(t(X), weight=g, bias=b).numpy()
    check_op("nn.instance_norm", [X, GAMMA, BETA], {"channel_axis": 1, "axes": [2, 3]}, wanted, atol=1e-5)
    wanted = F.rms_norm(t(X), (5,), t(X[0, 0, 0]), 1e-5).numpy()
    check_op("nn.rms_norm", [X, X[0, 0, 0].copy()], {"axes": [-1]}, wanted, atol=1e-5)


def test_batch_norm_in_training():
    mean, var = X.mean((0, 2, 3)), X.var((0, 2, 3))
    wanted = F.batch_norm(t(X), None, None, t(GAMMA), t(BETA), training=True).numpy()
    moved = [
        MEAN * np.float32(0.75) + mean * np.float32(0.25),
        VAR * np.float32(0.75) + var * np.float32(0.25),
    ]
    attrs = {"axis": 1, "momentum": 0.25, "training": True}
    check_op(
        "nn.batch_norm", [X, GAMMA, BETA, MEAN, VAR.astype("float32")], attrs, [wanted, *moved], atol=1e-4
    )


def test_softmax_and_dropout():
    check_op("nn.softmax", [X], {"axis": 1}, torch.softmax(t(X), 1).numpy())
    check_op("nn.log_softmax", [X], {}, torch.log_softmax(t(X), -1).numpy(), atol=1e-5)
    check_op("nn.dropout", [X], {"rate": 0.3}, [X, np.ones_like(X)])
