"""Gradients of operators that read or write elements at indices, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, op, rand

torch = pytest.importorskip("torch")


def numbers(*shape, below, seed=2):
    return np.random.default_rng(seed).integers(0, below, shape)


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
