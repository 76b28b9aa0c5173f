"""Gradients of operators that move, repeat and cut out elements, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, op, rand

from tilewright import relax

torch = pytest.importorskip("torch")


def test_shapes():
    check(lambda x: op.reshape(x, (7, 15)), lambda x: x.reshape(7, 15), rand(5, 3, 7))
    check(
        lambda x: op.flatten(op.permute_dims(x, axes=[2, 0, 1])),
        lambda x: x.permute(2, 0, 1).flatten(),
        rand(5, 3, 7),
    )
    check(op.nn.batch_flatten, lambda x: x.flatten(1), rand(5, 3, 7))
    check(op.permute_dims, lambda x: x.permute(2, 1, 0), rand(5, 3, 7), symbols=(5, 7))
    check(lambda x: op.expand_dims(x, axis=[0, 2]), lambda x: x[None, :, None], rand(5, 7))
    check(lambda x: op.squeeze(x, axis=[1]), lambda x: x.squeeze(1), rand(5, 1, 7))
    check(lambda x: op.broadcast_to(x, (3, 5, 7)), lambda x: x.expand(3, 5, 7), rand(5, 1))
    check(lambda x: op.collapse_sum_to(x, (5, 1)), lambda x: x.sum((0, 2)).reshape(5, 1), rand(3, 5, 7))


def test_repetition():
    check(lambda x: op.tile(x, repeats=[2, 1, 3]), lambda x: x.tile(2, 1, 3), rand(5, 7))
    check(lambda x: op.repeat(x, repeats=3, axis=1), lambda x: x.repeat_interleave(3, 1), rand(5, 7))
    check(lambda x: op.repeat(x, repeats=2), lambda x: x.repeat_interleave(2), rand(5, 3))
    check(lambda x: op.flip(x, axis=1), lambda x: x.flip(1), rand(5, 7))
    lengths = np.array([3, 7])
    check(
        lambda x, n: op.reverse_sequence(x, n),
        lambda x, _: torch.stack([torch.cat([x[n, :k].flip(0), x[n, k:]]) for n, k in enumerate(lengths)]),
        rand(2, 7, 3),
        lengths,
    )


def test_several_tensors():
    check(
        lambda x, y, z: op.concat([x, y, z], axis=1),
        lambda x, y, z: torch.cat([x, y, z], 1),
        rand(5, 2), rand(5, 7, seed=4), rand(5, 1, seed=5),
    )  # fmt: skip
    check(
        lambda x, y: op.concat([x, y], axis=0),
        lambda x, y: torch.cat([x, y]),
        rand(5, 2),
        rand(7, 2),
        symbols=(5, 7),
    )
    check(
        lambda x, y: op.stack([x, y], axis=1),
        lambda x, y: torch.stack([x, y], 1),
        rand(5, 7),
        rand(5, 7, seed=4),
    )
    check(lambda x: op.split(x, 3, axis=1), lambda x: x.tensor_split(3, 1), rand(5, 9))
    check(lambda x: op.split(x, [2, 5], axis=0)[1], lambda x: x[2:5], rand(7, 3))
    check(
        lambda x, y: op.meshgrid([x, y], indexing="xy"),
        lambda x, y: torch.meshgrid(x, y, indexing="xy"),
        rand(5), rand(7, seed=4),
    )  # fmt: skip


def test_tuples_whose_elements_are_used_several_times():
    def graph(x, y):
        pair = relax.Tuple([op.exp(x), y])
        return op.multiply(pair[0], op.add(pair[1], pair[0]))

    check(graph, lambda x, y: torch.exp(x) * (y + torch.exp(x)), rand(5, 7), rand(5, 7, seed=4))


def test_triangles_and_pixels():
    check(lambda x: op.tril(x, k=1), lambda x: x.tril(1), rand(2, 5, 7))
    check(op.triu, torch.triu, rand(5, 7))
    check(
        lambda x: op.nn.pixel_shuffle(x, upscale_factor=2),
        lambda x: torch.pixel_shuffle(x, 2),
        rand(2, 8, 3, 5),
    )


def test_parts():
    check(
        lambda x: op.strided_slice(x, [0, 2], [1, 6], [5, 0], [2, -2]),
        lambda x: torch.stack([x[1:5:2, :, i] for i in (6, 4, 2)], 2),
        rand(5, 3, 7),
    )
    check(lambda x: op.strided_slice(x, [0], [-3], [127]), lambda x: x[-3:], rand(127, 2), symbols=(127,))
    check(
        lambda x: op.nn.pad(x, pad_width=[1, 2, 0, 3], pad_value=2.0),
        lambda x: torch.nn.functional.pad(x, (0, 3, 1, 2), value=2.0),
        rand(5, 7),
    )
