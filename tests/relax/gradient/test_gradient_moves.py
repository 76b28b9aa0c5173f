"""Gradients of operators that move, choose and replace elements, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, op, rand

from tilewright import relax

torch = pytest.importorskip("torch")


def numbers(*shape, below, seed=2):
    return np.random.default_rng(seed).integers(0, below, shape)


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


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_take(axis):
    at = numbers(2, 3, below=4)

    def reference(x, i):
        flat = x.index_select(axis, i.flatten())
        return flat.reshape(*x.shape[:axis], 2, 3, *x.shape[axis + 1 :])

    check(lambda x, i: op.take(x, i, axis=axis), reference, rand(5, 4, 7), at)


def test_take_of_indices_outside():
    at = np.array([-9, -1, 0, 4, 12], "int64")
    check(lambda x, i: op.take(x, i, axis=0, mode="clip"), lambda x, i: x[i.clamp(-5, 4)], rand(5, 3), at)
    check(lambda x, i: op.take(x, i, axis=0, mode="wrap"), lambda x, i: x[i % 5], rand(5, 3), at)
    check(lambda x, i: op.take(x, i), lambda x, i: x[i], rand(5), np.array(3))


def test_gather():
    check(
        lambda x, i: op.gather_elements(x, i, axis=1),
        lambda x, i: x.gather(1, i),
        rand(5, 7), numbers(5, 4, below=7),
    )  # fmt: skip
    check(
        op.gather_nd,
        lambda x, i: x[i[:, 0], i[:, 1]],
        rand(5, 7, 3), numbers(4, 2, below=5),
    )  # fmt: skip
    check(
        lambda x, i, j: op.index_tensor(x, [i, j]),
        lambda x, i, j: x[i, j],
        rand(5, 7, 3), numbers(4, 1, below=5), numbers(3, below=7),
    )  # fmt: skip


def test_replacing():
    at, updates = numbers(5, 1, below=7), rand(5, 1, seed=4)
    check(
        lambda x, i, u: op.scatter_elements(x, i, u, axis=1),
        lambda x, i, u: x.scatter(1, i, u),
        rand(5, 7), at, updates,
    )  # fmt: skip
    check(
        lambda x, i, u: op.scatter_elements(x, i, u, axis=0, reduction="add"),
        lambda x, i, u: x.scatter_add(0, i, u),
        rand(5, 7), numbers(4, 7, below=5), rand(4, 7, seed=4),
    )  # fmt: skip
    places = np.array([[1], [3]], "int64")
    check(
        op.scatter_nd,
        lambda x, i, u: x.index_put((i[:, 0],), u),
        rand(5, 7), places, rand(2, 7, seed=4),
    )  # fmt: skip
    check(
        lambda x, i, u: op.index_put(x, [i], u, accumulate=True),
        lambda x, i, u: x.index_put((i,), u, accumulate=True),
        rand(5, 7), numbers(4, below=5), rand(4, 7, seed=4),
    )  # fmt: skip
    check(
        lambda x, u: op.slice_scatter(x, u, 1, 6, 2, axis=1),
        lambda x, u: torch.slice_scatter(x, u, 1, 1, 6, 2),
        rand(5, 7), rand(5, 3, seed=4),
    )  # fmt: skip
