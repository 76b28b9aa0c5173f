"""Schedules of the course on devices: the numbers are those of numpy."""

import numpy as np
import pytest
from devices.schedules import MATMULS, integers, matmul, naive, numbers_of, row_by_threads, scheduled, softmax
from devices.targets import TARGETS

import tilewright as tw


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n, m, k", [(32, 32, 16), (48, 16, 32), (64, 128, 8)])
@pytest.mark.parametrize("name", MATMULS)
def test_products_of_matrices(name, n, m, k, target):
    module = tw.build(scheduled(matmul(n, m, k), MATMULS[name]), target)
    a, b = integers(n, k), integers(k, m)
    np.testing.assert_array_equal(numbers_of(module, target, a, b, shape=(n, m)), a @ b)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n, m, k", [(5, 7, 127), (127, 5, 7), (1, 1, 1)])
def test_products_of_odd_extents(n, m, k, target):
    """No thread waits for another: columns of a row end before the next row, by the condition around the store."""
    module = tw.build(scheduled(matmul(n, m, k), naive), target)
    assert "barrier" not in module.get_source() and "__syncthreads" not in module.get_source()
    a, b = integers(n, k), integers(k, m)
    np.testing.assert_array_equal(numbers_of(module, target, a, b, shape=(n, m)), a @ b)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("threads", [5, 32, 64])
@pytest.mark.parametrize("rows, columns", [(5, 127), (7, 64)])
def test_softmax(rows, columns, threads, target):
    module = tw.build(scheduled(softmax(rows, columns), lambda sch: row_by_threads(sch, threads)), target)
    x = integers(rows, columns)
    e = np.exp(x - x.max(1, keepdims=True))
    found = numbers_of(module, target, x, shape=x.shape)
    np.testing.assert_allclose(found, e / e.sum(1, keepdims=True), rtol=1e-5)
