"""product_tiles: products in sampled tiles for blocks of threads, threads and steps of the sum."""

import pytest
from gpu_designs import candidates, designs_of, matmul, row_sums

from tilewright import te

RULES = ["product_tiles"]


def test_tiles_threads_and_lanes_are_samples():
    traces, attempts = designs_of(matmul(64, 64, 64), RULES)
    assert attempts["C", "product_tiles"] == ""
    assert [str(each).count("sample_perfect_tile") for each in traces] == [3, 3]
    assert ["sample_categorical" in str(each) for each in traces] == [True, False]  # lanes of the copies
    for each in traces:
        assert '"shared"' in str(each) and '"threadIdx.y"' in str(each)


@pytest.mark.parametrize("shape", [(64, 48, 16), (5, 7, 127), (17, 9, 5)])
def test_candidates_compute_the_same(shape):
    found = candidates(matmul(*shape), 3, RULES)
    assert len(found) == 3
    for sch in found:
        assert sch.verify(samples=1)


def test_what_reads_the_product_is_computed_in_its_tiles():
    a, b = te.placeholder((32, 16), name="A"), te.placeholder((16, 32), name="B")
    k = te.reduce_axis((0, 16), name="k")
    c = te.compute((32, 32), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    func = te.create_prim_func([a, b, te.compute((32, 32), lambda i, j: c[i, j] + 1.0, name="D")])
    (sch, *_) = candidates(func, 1, RULES)
    assert str(sch.mod).count('thread="blockIdx.x"') == 1
    assert sch.verify(samples=1)


def test_what_it_does_not_take():
    attempts = designs_of(row_sums(5, 7), RULES)[1]
    assert attempts["S", "product_tiles"] == "block S reads 1 buffers, and products of matrices two"
