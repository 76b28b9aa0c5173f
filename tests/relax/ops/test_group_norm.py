"""nn.group_norm and nn.instance_norm, against their formula in float64."""

import numpy as np
import pytest
from op_testing import check_op, run_op

import tilewright

RNG = np.random.default_rng(9)
GAMMA, BETA = RNG.standard_normal((2, 6)).astype("float32")


def normed(x, groups, epsilon=1e-5):
    """Of [batch, channels, ..]."""
    parts = x.astype("float64").reshape(x.shape[0], groups, -1)
    parts = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + epsilon)
    channels = (1, -1) + (1,) * (x.ndim - 2)
    return (parts.reshape(x.shape) * GAMMA.reshape(channels) + BETA.reshape(channels)).astype("float32")


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("rest", [(7,), (5, 7), (1, 3, 5)])
def test_groups_of_channels(groups, rest):
    x = RNG.standard_normal((2, 6, *rest)).astype("float32")
    attrs = {"num_groups": groups, "channel_axis": 1, "axes": list(range(2, x.ndim))}
    check_op("nn.group_norm", [x, GAMMA, BETA], attrs, normed(x, groups), atol=1e-5)


def test_channels_last():
    x = RNG.standard_normal((2, 5, 7, 6)).astype("float32")
    wanted = np.moveaxis(normed(np.ascontiguousarray(np.moveaxis(x, 3, 1)), 3), 1, 3)
    attrs = {"num_groups": 3, "channel_axis": 3, "axes": [1, 2]}
    check_op("nn.group_norm", [x, GAMMA, BETA], attrs, wanted, atol=1e-5)


def test_an_instance_is_a_group_of_one_channel():
    x = RNG.standard_normal((2, 6, 5, 7)).astype("float32")
    attrs = {"channel_axis": 1, "axes": [2, 3]}
    check_op("nn.instance_norm", [x, GAMMA, BETA], attrs, normed(x, 6), atol=1e-5)


def test_an_open_batch():
    x = RNG.standard_normal((11, 6, 5)).astype("float32")
    attrs = {"num_groups": 2, "channel_axis": 1, "axes": [2]}
    check_op("nn.group_norm", [x, GAMMA, BETA], attrs, normed(x, 2), atol=1e-5, symbols=(11,))


def test_channels_that_do_not_divide_are_refused():
    with pytest.raises(tilewright.UserError) as error:
        run_op(
            "nn.group_norm",
            np.zeros((2, 6, 5), "float32"),
            GAMMA,
            BETA,
            num_groups=4,
            channel_axis=1,
            axes=[2],
        )
    assert str(error.value) == "error: nn.group_norm: 6 channels do not divide into 4 groups"
