"""Gradients of products of matrices, against torch's."""

import pytest
from gradient_testing import check, op, rand

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
