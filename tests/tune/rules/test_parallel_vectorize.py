"""parallel_vectorize: element by element blocks get threads and vectors."""

import pytest
from designs import attempts_of, candidates, designs_of

import tilewright as tw
from tilewright import te


@pytest.mark.parametrize("shape", [(127,), (5, 7, 127), (1, 1)])
def test_elements(shape):
    x = te.placeholder(shape, name="X")
    func = te.create_prim_func([x, te.compute(shape, lambda *at: x[at] * 2.0, name="Y")])
    (trace,) = designs_of(func)
    assert "vectorize" in str(trace) and "parallel" in str(trace)
    for sch in candidates(func, 2):
        assert sch.verify(samples=1)


def test_blocks_of_other_rules_stay():
    x = te.placeholder((7, 127), name="X")
    k = te.reduce_axis((0, 127))
    func = te.create_prim_func([x, te.compute((7,), lambda i: te.sum(x[i, k], axis=k), name="S")])
    assert attempts_of(func)["S", "parallel_vectorize"] == "it is a reduction"
    sch = tw.Schedule(te.create_prim_func([x, te.compute((7, 127), lambda i, j: x[i, j] * 2.0, name="Y")]))
    sch.split(sch.get_loops("Y")[1], [None, 5])
    attempts = attempts_of(sch.mod["main"])
    assert attempts["Y", "parallel_vectorize"] == "another rule has given it 3 loops"
