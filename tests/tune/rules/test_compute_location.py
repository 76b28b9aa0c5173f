"""compute_location: blocks that others read are computed at sampled places."""

from designs import attempts_of, candidates, designs_of

import tilewright as tw
from tilewright import te

RULES = ["compute_location"]


def rows():
    x = te.placeholder((7, 127), name="X")
    y = te.compute((7, 127), lambda i, j: te.exp(x[i, j]), name="Y")
    k = te.reduce_axis((0, 127), name="k")
    return te.create_prim_func([x, te.compute((7,), lambda i: te.sum(y[i, k], axis=k), name="S")])


def test_places_are_sampled():
    (trace,) = designs_of(rows(), rules=RULES)
    assert "sample_compute_location" in str(trace) and "compute_at" in str(trace)
    found = candidates(rows(), 3, rules=RULES)
    assert len(found) == 3
    for sch in found:
        assert sch.verify(samples=1)


def test_what_it_does_not_take():
    attempts = attempts_of(rows(), RULES)
    assert attempts["S", "compute_location"] == "no block reads S"
    sch = tw.Schedule(rows())
    sch.split(sch.get_loops("Y")[1], [None, 5])
    assert attempts_of(sch.mod["main"], RULES)["Y", "compute_location"] == "another rule has given it 3 loops"
    x = te.placeholder((7,), name="X")
    y = te.compute((7,), lambda i: te.exp(x[i]), name="Y")
    func = te.create_prim_func([x, y, te.compute((7,), lambda i: y[i] * 2.0, name="Z")])
    assert attempts_of(func, RULES)["Y", "compute_location"] == ""
