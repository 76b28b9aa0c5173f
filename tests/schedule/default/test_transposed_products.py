"""Products of which neither operand has its terms one after the other in memory."""

import pytest
from schedule_checking import check

import tilewright
from tilewright import te


def product(m, k, n):
    a, b, r = te.placeholder((k, m), name="A"), te.placeholder((n, k), name="B"), te.reduce_axis((0, k))
    c = te.compute((m, n), lambda i, j: te.sum(a[r, i] * b[j, r], axis=r), name="C")
    return [a, b, c], lambda x, y: x.T @ y.T


@pytest.mark.parametrize("sizes", [(2, 64, 32), (3, 127, 65), (5, 7, 127), (16, 128, 64), (31, 33, 34)])
def test_numbers(sizes):
    check(*product(*sizes), targets=["llvm", "llvm -mcpu=core-avx2"], threads=(1, 2))


@pytest.mark.parametrize("rows", [2, 7, 31, 32])
def test_few_rows_are_tiled(rows):
    """Found: with 2 to 31 rows no rule took them (16 x 512 x 512: 4,051 us, 208 now; numpy 160)."""
    module = tilewright.IRModule({"main": te.create_prim_func(product(rows, 512, 512)[0])})
    trace = str(tilewright.schedule.by_rules(module, "llvm -mcpu=skylake-avx512 -num-cores 1").trace)
    assert "sch.cache_read(" in trace
    assert "sch.vectorize(" in trace
