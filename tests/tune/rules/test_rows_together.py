"""rows_together: the blocks of softmax and norms work on one row while it is near the core, with the default's bits."""

import numpy as np
import pytest
from designs import candidates, designs_of

import tilewright as tw
from tilewright import te, topi, tune

TARGET = "llvm -num-cores=4"


def softmax(*shape):
    x = te.placeholder(shape, name="x")
    return te.create_prim_func([x, topi.nn.softmax(x, axis=len(shape) - 1)])


def attempts(func):
    task = tune.Task("main", func, None, tw.target.Target(TARGET))
    return {block: why for block, rule, why in tune.DefaultSpace(["rows_together"]).explained(task)[1]}


def result(module, schedule, x):
    y = tw.runtime.tensor(np.zeros_like(x))
    tw.build(module, "llvm", schedule=schedule)["main"](tw.runtime.tensor(x), y)
    return y.numpy()


@pytest.mark.parametrize("shape", [(8, 64), (5, 127), (3, 5, 96), (7, 1024), (2, 16)])
def test_candidates_have_the_bits_of_the_default(shape):
    func = softmax(*shape)
    assert len(designs_of(func, TARGET, ["rows_together"])) == 1
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    expected = result(tw.IRModule({"main": func}), True, x)
    found = candidates(func, 6, rules=["rows_together"])
    assert found
    for sch in found:
        assert sch.verify(samples=1)
        assert result(sch.mod, False, x).tobytes() == expected.tobytes()


def test_rows_are_parallel_and_sampled():
    (trace,) = designs_of(softmax(64, 256), TARGET, ["rows_together"])
    text = str(trace)
    assert "parallel" in text and "compute_at" in text and text.count("rfactor") == 6
    assert text.count("sample_categorical") >= 3


def test_what_it_does_not_take():
    x = te.placeholder((7, 5), name="X")
    elements = te.create_prim_func([x, te.compute((7, 5), lambda i, j: x[i, j] * 2.0, name="Y")])
    assert attempts(elements) == {"Y": "no block is a reduction"}
    k = te.reduce_axis((0, 5), name="k")
    sums = te.create_prim_func([x, te.compute((7,), lambda i: te.sum(x[i, k], axis=k), name="S")])
    assert attempts(sums) == {"S": "the last block is a reduction"}
    assert attempts(softmax(1, 64))["T_softmax_norm"] == "there is one row"
    assert (
        attempts(softmax(8, 64))["T_softmax_exp"]
        == "it is not the last block: that one takes the others along"
    )
    a, kk = te.placeholder((3, 4, 5), name="A"), te.reduce_axis((0, 5), name="k")
    sums = te.compute((3, 4), lambda i, j: te.sum(a[i, j, kk], axis=kk), name="S")
    flat = te.create_prim_func([a, te.compute((12,), lambda i: sums[i // 4, i % 4] + 1.0, name="F")])
    assert attempts(flat)["F"] == "block F has 1 axes of several values, and rows that are reduced 2"
    n = te.var("n")
    y = te.placeholder((n, 64), name="y")
    opened = te.create_prim_func([y, topi.nn.softmax(y, axis=1)])
    assert "known only at run time" in attempts(opened)["T_softmax_norm"]
