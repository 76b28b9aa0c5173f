"""sums_across_threads: sampled numbers of threads add the terms of a result together."""

import pytest
from gpu_designs import candidates, designs_of, matmul, row_sums

from tilewright import te

RULES = ["sums_across_threads"]


def test_threads_and_rows_are_samples():
    traces, attempts = designs_of(row_sums(5, 127), RULES)
    assert attempts["S", "sums_across_threads"] == ""
    (trace,) = traces
    assert str(trace).count("sample_categorical") == 2
    assert "candidates=[32, 64, 128, 256, 512, 1024]" in str(trace)


@pytest.mark.parametrize("func", [row_sums(5, 127), matmul(3, 5, 64)], ids=["rows", "matmul"])
def test_candidates_compute_the_same(func):
    found = candidates(func, 3, RULES)
    assert len(found) == 3
    for sch in found:
        assert sch.verify(samples=1)


def test_what_it_does_not_take():
    attempts = designs_of(row_sums(5, 7), RULES)[1]
    assert attempts["S", "sums_across_threads"] == "it adds 7 terms, fewer than the 32 threads of a warp"
    x = te.placeholder((5, 7), name="X")
    func = te.create_prim_func([x, te.compute((5, 7), lambda i, j: x[i, j] * 2.0, name="Y")])
    assert designs_of(func, RULES)[1]["Y", "sums_across_threads"] == "it is no reduction"
