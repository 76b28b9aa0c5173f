"""Gradients of convolutions and pools, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, op, rand

torch = pytest.importorskip("torch")

F = torch.nn.functional


@pytest.mark.parametrize(
    ("data", "weight", "attrs"),
    [
        ((2, 3, 9, 8), (4, 3, 3, 2), {}),
        ((2, 3, 9, 8), (4, 3, 3, 3), {"strides": [2, 3], "padding": [1, 2]}),
        ((1, 4, 10, 11), (6, 2, 3, 3), {"groups": 2, "dilation": [2, 1], "padding": [2]}),
        ((1, 5, 7, 7), (5, 1, 3, 3), {"groups": 5, "strides": [2]}),
    ],
)
def test_conv2d(data, weight, attrs):
    def reference(x, w):
        names = {"strides": "stride", "padding": "padding", "dilation": "dilation", "groups": "groups"}
        values = {names[k]: v[0] if isinstance(v, list) and len(v) == 1 else v for k, v in attrs.items()}
        return F.conv2d(x, w, **values)

    check(lambda x, w: op.nn.conv2d(x, w, **attrs), reference, rand(*data), rand(*weight, seed=4), atol=1e-4)


def test_conv_of_other_dimensions_and_layouts():
    check(
        lambda x, w: op.nn.conv1d(x, w, strides=[2], padding=[1]),
        lambda x, w: F.conv1d(x, w, stride=2, padding=1),
        rand(2, 3, 12),
        rand(4, 3, 3, seed=4),
    )
    check(
        lambda x, w: op.nn.conv3d(x, w, padding=[1]),
        lambda x, w: F.conv3d(x, w, padding=1),
        rand(1, 2, 4, 5, 3),
        rand(3, 2, 3, 3, 3, seed=4),
        atol=1e-4,
    )
    check(
        lambda x, w: op.nn.conv2d(x, w, padding=[0, 1, 2, 1], data_layout="NHWC", kernel_layout="HWIO"),
        lambda x, w: F.conv2d(F.pad(x.permute(0, 3, 1, 2), (1, 1, 0, 2)), w.permute(3, 2, 0, 1)).permute(
            0, 2, 3, 1
        ),
        rand(2, 7, 5, 3),
        rand(3, 3, 3, 4, seed=4),
        atol=1e-4,
    )


def test_conv2d_of_symbolic_batch():
    check(op.nn.conv2d, F.conv2d, rand(5, 3, 7, 7), rand(4, 3, 3, 3, seed=4), symbols=(5,), atol=1e-4)


def test_conv_transpose():
    check(
        lambda x, w: op.nn.conv2d_transpose(
            x, w, strides=[2, 3], padding=[1, 1], output_padding=[1, 2], groups=2
        ),
        lambda x, w: F.conv_transpose2d(x, w, stride=(2, 3), padding=1, output_padding=(1, 2), groups=2),
        rand(2, 4, 5, 3),
        rand(4, 3, 3, 3, seed=4),
        atol=1e-4,
    )


def test_max_pool():
    check(
        lambda x: op.nn.max_pool2d(x, pool_size=[3, 2], strides=[2, 1], padding=[1, 0]),
        lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0)),
        rand(2, 3, 9, 7),
    )
    ties = np.random.default_rng(1).integers(0, 2, (1, 1, 7, 7)).astype("float32")
    check(lambda x: op.nn.max_pool2d(x, pool_size=[3], strides=[2]), lambda x: F.max_pool2d(x, 3, 2), ties)
    check(
        lambda x: op.nn.max_pool2d(x, pool_size=[2], strides=[2], ceil_mode=True),
        lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True),
        rand(1, 2, 7, 5),
    )
    check(
        lambda x: op.nn.max_pool1d(x, pool_size=[3], dilation=[2]),
        lambda x: F.max_pool1d(x, 3, 1, 0, 2),
        rand(2, 3, 9),
    )


@pytest.mark.parametrize("include", [False, True])
def test_avg_pool(include):
    check(
        lambda x: op.nn.avg_pool2d(
            x, pool_size=[3, 2], strides=[2, 1], padding=[1, 1], count_include_pad=include
        ),
        lambda x: F.avg_pool2d(x, (3, 2), (2, 1), (1, 1), count_include_pad=include),
        rand(2, 3, 9, 7),
    )
    check(
        lambda x: op.nn.avg_pool3d(x, pool_size=[2], strides=[2], count_include_pad=include),
        lambda x: F.avg_pool3d(x, 2, 2, count_include_pad=include),
        rand(1, 2, 5, 4, 7),
    )


def test_adaptive_avg_pool():
    check(
        lambda x: op.nn.adaptive_avg_pool2d(x, output_size=[3, 2]),
        lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
        rand(2, 3, 7, 5),
    )
    check(
        lambda x: op.nn.adaptive_avg_pool2d(x, output_size=[1]),
        lambda x: F.adaptive_avg_pool2d(x, 1),
        rand(2, 3, 7, 5),
    )
