"""thread_elements: a thread for each element, or for a vector of neighbours of sampled lanes."""

import pytest
from gpu_designs import candidates, designs_of, matmul

from tilewright import te

RULES = ["thread_elements"]


def twice(n, m):
    x = te.placeholder((n, m), name="X")
    return te.create_prim_func([x, te.compute((n, m), lambda i, j: x[i, j] * 2.0, name="Y")])


def test_lanes_where_rows_are_whole_vectors():
    assert ["vectorize" in str(each) for each in designs_of(twice(5, 128), RULES)[0]] == [True, False]
    assert ["vectorize" in str(each) for each in designs_of(twice(5, 127), RULES)[0]] == [False]


@pytest.mark.parametrize("func", [twice(5, 127), twice(7, 128), matmul(5, 7, 9)], ids=["odd", "even", "sum"])
def test_candidates_compute_the_same(func):
    found = candidates(func, 4, RULES)
    assert len(found) == 4
    for sch in found:
        assert sch.verify(samples=1)


def test_what_it_does_not_take():
    attempts = designs_of(matmul(64, 64, 64), ["product_tiles", "thread_elements"])[1]
    assert attempts["C_update", "thread_elements"] == "another rule has given it threads"
