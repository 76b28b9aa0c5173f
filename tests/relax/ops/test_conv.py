"""Convolutions, against torch."""

import numpy as np
import pytest
from op_images import VOLUME, WAVE, X, t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


CONV = [
    {},
    {"strides": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"groups": 2, "padding": 1},
]


def torch_conv(attrs):
    names = {"strides": "stride", "padding": "padding", "dilation": "dilation", "groups": "groups"}
    return {names[name]: value for name, value in attrs.items()}


@pytest.mark.parametrize("attrs", CONV, ids=str)
def test_convolutions(attrs):
    channels = 4 // attrs.get("groups", 1)
    for data, conv, name in [
        (WAVE, F.conv1d, "nn.conv1d"),
        (X, F.conv2d, "nn.conv2d"),
        (VOLUME, F.conv3d, "nn.conv3d"),
    ]:
        weight = some(6, channels, *[3] * (data.ndim - 2))
        wanted = conv(t(data), t(weight), **torch_conv(attrs)).numpy()
        check_op(name, [data, weight], attrs, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("attrs", [*CONV, {"strides": 2, "padding": 1, "output_padding": 1}], ids=str)
def test_transposed_convolutions(attrs):
    channels = 6 // attrs.get("groups", 1)
    more = {"output_padding": 1} if "output_padding" in attrs else {}
    plain = {key: value for key, value in attrs.items() if key != "output_padding"}
    for data, conv, name in [
        (WAVE, F.conv_transpose1d, "nn.conv1d_transpose"),
        (X, F.conv_transpose2d, "nn.conv2d_transpose"),
        (VOLUME, F.conv_transpose3d, "nn.conv3d_transpose"),
    ]:
        weight = some(4, channels, *[3] * (data.ndim - 2))
        wanted = conv(t(data), t(weight), **torch_conv(plain), **more).numpy()
        check_op(name, [data, weight], attrs, wanted, rtol=1e-4, atol=1e-4)
