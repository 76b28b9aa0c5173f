"""Gradients of products, convolutions, pooling and normalizations, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, check_by_differences, op, positive, rand

from tilewright import relax

torch = pytest.importorskip("torch")
F = torch.nn.functional


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((5, 7), (7, 3)),
        ((2, 3, 5, 7), (7, 4)),
        ((2, 3, 5, 7), (3, 7, 4)),
        ((3, 1, 5, 7), (1, 2, 7, 4)),
        ((7,), (7, 3)),
        ((5, 7), (7,)),
        ((7,), (7,)),
        ((7,), (2, 7, 3)),
        ((2, 5, 7), (7,)),
    ],
)
def test_matmul(left, right):
    check(op.matmul, torch.matmul, rand(*left), rand(*right, seed=4))


def test_matmul_of_symbolic_rows():
    check(op.matmul, torch.matmul, rand(5, 7), rand(7, 3, seed=4), symbols=(5,))
    check(op.matmul, torch.matmul, rand(2, 127, 7), rand(7, 3, seed=4), symbols=(2, 127))


@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 7), (7,)])
def test_linear(shape):
    check(op.linear, F.linear, rand(*shape), rand(4, 7, seed=4), rand(4, seed=5))
    check(op.linear, F.linear, rand(*shape), rand(4, 7, seed=4))


def test_outer_and_einsum():
    check(op.outer, torch.outer, rand(5), rand(7, seed=4))

    def einsum(subscripts, *shapes):
        check(
            lambda *x: op.einsum(list(x), subscripts=subscripts),
            lambda *x: torch.einsum(subscripts, *x),
            *(rand(*shape, seed=n) for n, shape in enumerate(shapes)),
        )

    einsum("bij,bjk->bik", (2, 3, 5), (2, 5, 4))
    einsum("ij,jk,k->i", (3, 5), (5, 4), (4,))
    einsum("ij,k->k", (3, 5), (4,))


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


def test_layer_norm():
    check(
        lambda x, g, b: op.nn.layer_norm(x, g, b, axes=[-1], epsilon=1e-3),
        lambda x, g, b: F.layer_norm(x, (7,), g, b, 1e-3),
        rand(5, 7),
        positive(7),
        rand(7, seed=8),
    )
    check(
        lambda x, g, b: op.nn.layer_norm(x, g, b, axes=[1, 2]),
        lambda x, g, b: F.layer_norm(x, (5, 7), g, b),
        rand(2, 5, 7),
        positive(5, 7),
        rand(5, 7, seed=8),
        symbols=(2,),
    )


def test_layer_norm_of_symbolic_length():
    check_by = lambda x, g, b: F.layer_norm(x, (127,), g, b)  # noqa: E731
    check(
        op.nn.layer_norm, check_by, rand(3, 127), positive(127), rand(127, seed=8), symbols=(127,), atol=1e-4
    )


def test_rms_norm():
    check(
        lambda x, w: op.nn.rms_norm(x, w, axes=[-1], epsilon=1e-4),
        lambda x, w: F.rms_norm(x, (7,), w, 1e-4),
        rand(5, 7),
        positive(7),
    )


def test_group_and_instance_norm():
    check(
        lambda x, g, b: op.nn.group_norm(x, g, b, num_groups=3, channel_axis=1, axes=[2, 3]),
        lambda x, g, b: F.group_norm(x, 3, g, b),
        rand(2, 6, 5, 4),
        positive(6),
        rand(6, seed=8),
    )
    check(
        lambda x, g, b: op.nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3]),
        lambda x, g, b: F.instance_norm(x, weight=g, bias=b),
        rand(2, 3, 5, 4),
        positive(3),
        rand(3, seed=8),
    )


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    mean, variance = rand(3, seed=9), positive(3, seed=11)

    def graph(x, g, b):
        statistics = (relax.const(mean), relax.const(variance))
        return op.nn.batch_norm(x, g, b, *statistics, training=training)[0]

    def reference(x, g, b):
        return F.batch_norm(x, torch.tensor(mean), torch.tensor(variance), g, b, training)

    check(graph, reference, rand(4, 3, 5, 2), positive(3), rand(3, seed=8), atol=1e-4)


def test_batch_norm_in_its_statistics():
    check_by_differences(
        lambda x, g, b, m, v: op.nn.batch_norm(x, g, b, m, v)[0],
        rand(4, 3, 5),
        positive(3),
        rand(3, seed=8),
        rand(3, seed=9),
        positive(3, seed=11),
    )
