"""Gradients of normalizations, against torch's."""

import pytest
from gradient_testing import check, check_by_differences, op, positive, rand

from tilewright import relax

torch = pytest.importorskip("torch")

F = torch.nn.functional


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
