"""Gradients of elementwise operators of several tensors, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, check_by_differences, op, positive, rand

torch = pytest.importorskip("torch")

F = torch.nn.functional
BINARY = {
    "add": torch.add,
    "subtract": torch.subtract,
    "multiply": torch.multiply,
    "divide": torch.divide,
    "power": torch.pow,
    "floor_mod": torch.remainder,
    "mod": torch.fmod,
    "log_add_exp": torch.logaddexp,
    "atan2": torch.atan2,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_broadcasts_and_sums_back(name):
    check(getattr(op, name), BINARY[name], positive(5, 1, 7), positive(3, 1, seed=6))


def test_ties_share_and_zeros_have_no_logarithm():
    x = np.array([1, 2, 3, 0], "float32")
    check(op.maximum, torch.maximum, x, np.array([1, 3, 2, 0], "float32"))
    check(op.power, torch.pow, x, np.array([0, 2, 1.5, 2], "float32"))


def test_three_arguments():
    condition = rand(5, 7) > 0
    check(op.where, torch.where, condition, rand(5, 7), rand(7, seed=4))
    check(op.ewise_fma, lambda a, b, c: a * b + c, rand(5, 7), rand(7, seed=4), rand(1, seed=8))


def test_prelu():
    check(op.nn.prelu, F.prelu, rand(2, 3, 5), rand(3, seed=4))
    check(op.nn.prelu, F.prelu, rand(2, 3, 5), rand(1, seed=4))


@pytest.mark.parametrize(
    "graph",
    [
        lambda x, y: op.nn.gelu_tanh(op.multiply(x, y)),
        lambda x, y: op.variance(op.nn.selu(x) / (y * y + y), axis=[0]),
        lambda x, y: op.nn.softmax(op.maximum(x, y) - op.tanh(x)),
    ],
)
def test_differences(graph):
    check_by_differences(graph, rand(5, 7), positive(7))


@pytest.mark.parametrize(("x", "y"), [((2, 5), (5,)), ((2, 5), (1,)), ((2, 1), (5,)), ((2, 1), (1,))])
def test_extents_that_are_one_when_the_graph_runs(x, y):
    check(lambda x, y: op.multiply(x, y), lambda x, y: x * y, rand(*x), rand(*y), symbols=(1, 5))
