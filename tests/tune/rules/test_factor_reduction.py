"""factor_reduction: terms are added as lanes of vectors, where another order of sums is allowed."""

import numpy as np
import pytest
from designs import candidates, designs_of, task_of

import tilewright as tw
from tilewright import te, tune

RULES = ["factor_reduction"]


def rows(n=7, k=127):
    x, kk = te.placeholder((n, k), name="X"), te.reduce_axis((0, k), name="k")
    return te.create_prim_func([x, te.compute((n,), lambda i: te.sum(x[i, kk], axis=kk), name="S")])


def reasons(func):
    return {block: reason for block, _, reason in tune.DefaultSpace(RULES).explained(task_of(func))[1]}


def test_it_is_left_out_unless_other_bits_are_allowed():
    def rules(**options):
        return {rule for _, rule, _ in tune.DefaultSpace(**options).explained(task_of(rows()))[1]}

    assert "factor_reduction" not in rules()
    assert "factor_reduction" in rules(allow_reassociation=True)


@pytest.mark.parametrize("k", [5, 127, 256])
def test_candidates_compute_the_same(k):
    (trace,) = designs_of(rows(k=k), rules=RULES)
    assert "rfactor" in str(trace) and "parallel" in str(trace)
    x = np.random.default_rng(0).uniform(-1, 1, (7, k)).astype("float32")
    for sch in candidates(rows(k=k), 2, rules=RULES):
        assert sch.verify(samples=1)
        total = tw.runtime.tensor(np.zeros(7, "float32"))
        tw.build(sch.mod, "llvm -num-cores=1")["main"](tw.runtime.tensor(x), total)
        np.testing.assert_allclose(total.numpy(), x.sum(axis=1), rtol=1e-5, atol=1e-5)


def test_what_it_does_not_take():
    x, k = te.placeholder((127, 7), name="X"), te.reduce_axis((0, 127), name="k")
    columns = te.create_prim_func([x, te.compute((7,), lambda j: te.sum(x[k, j], axis=k), name="S")])
    assert reasons(columns)["S"] == "no axis along which block S adds is contiguous in all that it reads"
    assert reasons(rows(k=1))["S"] == "axis v_k has one value"
    elements = te.create_prim_func([x, te.compute((127, 7), lambda i, j: x[i, j] * 2.0, name="Y")])
    assert reasons(elements)["Y"] == "it is no reduction"
    n = te.var("n")
    y, r = te.placeholder((5, n), name="Y"), te.reduce_axis((0, n), name="r")
    open_sum = te.create_prim_func([y, te.compute((5,), lambda i: te.sum(y[i, r], axis=r), name="S")])
    assert reasons(open_sum)["S"] == "the extent of axis v_r of block S, n, is known only at run time"
    sch = tw.Schedule(rows())
    sch.split(sch.get_loops("S")[0], [None, 2])
    assert reasons(sch.mod["main"])["S"] == "another rule has given it 3 loops"
