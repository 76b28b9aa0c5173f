"""register_tile: tiles of results in registers, of any size, whose terms are added in the order of the program."""

import numpy as np
import pytest
from designs import attempts_of, candidates, designs_of, task_of

import tilewright as tw
from tilewright import te

RULES = ["auto_inline", "register_tile"]


def product(n=7, m=13, k=5):
    a, b = te.placeholder((n, k), name="A"), te.placeholder((k, m), name="B")
    kk = te.reduce_axis((0, k), name="k")
    return te.create_prim_func(
        [a, b, te.compute((n, m), lambda i, j: te.sum(a[i, kk] * b[kk, j], axis=kk), name="C")]
    )


def with_epilogue():
    a, b = te.placeholder((7, 5), name="A"), te.placeholder((5, 13), name="B")
    k = te.reduce_axis((0, 5), name="k")
    c = te.compute((7, 13), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, te.compute((7, 13), lambda i, j: te.exp(c[i, j]), name="D")])


def distances():
    a, b = te.placeholder((7, 5), name="A"), te.placeholder((127, 5), name="B")
    k = te.reduce_axis((0, 5), name="k")

    def value(i, j):
        return te.sum((a[i, k] - b[j, k]) * (a[i, k] - b[j, k]), axis=k)

    return te.create_prim_func([a, b, te.compute((7, 127), value, name="C")])


def stencil():
    x, w = te.placeholder((9, 129), name="X"), te.placeholder((3, 3), name="W")
    r = [te.reduce_axis((0, 3), name=name) for name in "yx"]

    def value(i, j):
        return te.sum(x[i + r[0], j + r[1]] * w[r[0], r[1]], axis=r)

    return te.create_prim_func([x, w, te.compute((7, 127), value, name="C")])


def test_designs_by_order_and_copies():
    traces = [str(each) for each in designs_of(product(), rules=RULES)]
    assert len(traces) == 3
    assert ["cache_read" in each for each in traces] == [False, False, True]
    assert all("parallel" in each and "vectorize" in each for each in traces)
    assert not any("parallel" in str(each) for each in designs_of(product(), "llvm -num-cores=1", RULES))


def running_sums():
    """A sum that the default schedule adds in lanes."""
    x, k = te.placeholder((7, 159), name="X"), te.reduce_axis((0, 33), name="k")
    return te.create_prim_func([x, te.compute((7, 127), lambda i, j: te.sum(x[i, j + k], axis=k), name="S")])


def channels_before_windows():
    """A sum whose terms the default schedule adds in another order than the program: channels last."""
    x, w = te.placeholder((7, 17, 5), name="X"), te.placeholder((3, 3, 5, 32), name="W")
    c, y, z = (te.reduce_axis((0, extent), name=name) for extent, name in ((5, "c"), (3, "y"), (3, "z")))

    def value(i, j, o):
        return te.sum(x[i + y, j + z, c] * w[y, z, c, o], axis=(c, y, z))

    return te.create_prim_func([x, w, te.compute((5, 15, 32), value, name="Y")])


@pytest.mark.parametrize(
    "make", [product, with_epilogue, distances, stencil, running_sums, channels_before_windows]
)
def test_candidates_compute_the_same_bits(make):
    func = make()
    found = candidates(func, 8, rules=RULES)
    assert len(found) == 8
    shapes = [(tuple(int(extent) for extent in each.shape)) for each in func.buffers]
    random = np.random.default_rng(1)
    inputs = [random.uniform(-1, 1, shape).astype("float32") for shape in shapes[:-1]]

    def result(mod):
        args = [tw.runtime.tensor(each) for each in [*inputs, np.zeros(shapes[-1], "float32")]]
        tw.build(mod, "llvm -num-cores=2")["main"](*args)
        return args[-1].numpy()

    expected = result(func)
    for sch in found:
        assert sch.verify(samples=1)
        assert result(sch.mod).tobytes() == expected.tobytes()


def test_partial_sums_are_those_of_the_default_schedule():
    assert "rfactor" in str(tw.schedule.by_rules(running_sums(), "llvm -num-cores=1").trace)
    assert all("rfactor" in str(each) for each in designs_of(running_sums(), rules=RULES))
    assert not any("rfactor" in str(each) for each in designs_of(stencil(), rules=RULES))


def test_the_epilogue_stores_the_tile():
    traces = [str(each) for each in designs_of(with_epilogue(), rules=RULES)]
    assert all("set_scope" in each and "cache_write" not in each for each in traces)


def test_what_it_does_not_take():
    def reason(func, block="S"):
        return attempts_of(func)[block, "register_tile"]

    x = te.placeholder((5, 7), name="X")
    assert (
        reason(te.create_prim_func([x, te.compute((5, 7), lambda i, j: x[i, j] * 2.0, name="S")]))
        == "it is no reduction"
    )
    k = [te.reduce_axis((0, extent)) for extent in (5, 7)]
    total = te.create_prim_func([x, te.compute((), lambda: te.sum(x[k[0], k[1]], axis=k), name="S")])
    assert reason(total) == "there is a single result"
    n = te.var("n")
    y = te.placeholder((n, 7), name="Y")
    rows = te.create_prim_func([y, te.compute((n,), lambda i: te.sum(y[i, k[1]], axis=k[1]), name="S")])
    assert reason(rows) == "the extent of axis v_i of block S, n, is known only at run time"
    one = te.reduce_axis((0, 1))
    single = te.create_prim_func([x, te.compute((5,), lambda i: te.sum(x[i, one], axis=one), name="S")])
    assert reason(single) == "no loop adds terms"
    sch = tw.Schedule(product())
    sch.split(sch.get_loops("C")[0], [None, 5])
    assert reason(sch.mod["main"], "C") == "axis v_i has several loops"
    assert task_of(total).is_measurable
