"""multi_level_tiling: sums become tiles of sampled sizes, each adds its terms in the order of the program."""

import pytest
from designs import attempts_of, candidates, designs_of

import tilewright as tw
from tilewright import te

RULES = ["auto_inline", "multi_level_tiling", "parallel_vectorize"]


def matmul(n=30, m=28, k=21):
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    kk = te.reduce_axis((0, k), name="k")
    return te.create_prim_func(
        [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, kk] * b[kk, j], axis=kk), name="C")]
    )


def convolution():
    x, w = te.placeholder((2, 9, 11, 5), name="X"), te.placeholder((3, 3, 5, 7), name="W")
    r = [te.reduce_axis((0, extent), name=name) for name, extent in (("y", 3), ("x", 3), ("c", 5))]

    def value(n, i, j, o):
        return te.sum(x[n, i + r[0], j + r[1], r[2]] * w[r[0], r[1], r[2], o], axis=r)

    return te.create_prim_func([x, w, te.compute((2, 7, 9, 7), value, name="C")])


def test_three_designs_with_copies_of_tiles():
    traces = designs_of(matmul(), rules=RULES)
    assert len(traces) == 3
    assert ["cache_write" in str(each) for each in traces] == [False, True, True]
    assert all(str(each).count("sample_perfect_tile") == 3 for each in traces)
    assert all("parallel" in str(each) and "vectorize" in str(each) for each in traces)
    assert not any("parallel" in str(each) for each in designs_of(matmul(), "llvm -num-cores=1", RULES))


@pytest.mark.parametrize("make", [matmul, convolution])
def test_candidates_compute_the_same(make):
    found = candidates(make(), 6, rules=RULES)
    assert len(found) == 6
    for sch in found:
        assert sch.verify(samples=1)


def test_what_it_does_not_take():
    x = te.placeholder((5, 7), name="X")
    elements = te.create_prim_func([x, te.compute((5, 7), lambda i, j: x[i, j] * 2.0, name="Y")])
    assert attempts_of(elements)["Y", "multi_level_tiling"] == "it is no reduction"
    k = [te.reduce_axis((0, extent)) for extent in (5, 7)]
    total = te.create_prim_func([x, te.compute((), lambda: te.sum(x[k[0], k[1]], axis=k), name="S")])
    assert attempts_of(total)["S", "multi_level_tiling"] == "there is a single result"
    n = te.var("n")
    y = te.placeholder((n, 7), name="Y")
    rows = te.create_prim_func([y, te.compute((n,), lambda i: te.sum(y[i, k[1]], axis=k[1]), name="R")])
    assert attempts_of(rows)["R", "multi_level_tiling"] == (
        "the extent of axis v_i of block R, n, is known only at run time"
    )


def test_a_program_that_is_scheduled_keeps_its_loops():
    sch = tw.Schedule(matmul())
    i, _, _ = sch.get_loops("C")
    sch.split(i, [None, 5])
    assert attempts_of(sch.mod["main"])["C", "multi_level_tiling"] == "axis v_i has several loops"
