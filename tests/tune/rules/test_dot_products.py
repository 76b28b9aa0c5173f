"""dot_products: tiles of instructions that add groups of products; bytes whose extents fill no groups are padded."""

import numpy as np
from designs import designs_of

import tilewright as tw
from tilewright import te, tune

TARGET = "llvm -mcpu=znver4 -num-cores=1"
RULES = ["dot_products"]


def product(n=7, k=61, m=93, dtype="int8"):
    a, b = te.placeholder((n, k), dtype, name="A"), te.placeholder((k, m), dtype, name="B")
    kk = te.reduce_axis((0, k), name="k")

    def value(i, j):
        return te.sum(a[i, kk].astype("int32") * b[kk, j].astype("int32"), axis=kk)

    return te.create_prim_func([a, b, te.compute((n, m), value, name="C")])


def reasons(func, target=TARGET):
    task = tune.Task("main", func, None, tw.target.Target(target))
    return {block: reason for block, _, reason in tune.DefaultSpace(RULES).explained(task)[1]}


def test_odd_bytes_become_groups():
    traces = designs_of(product(127), TARGET, RULES)
    assert len(traces) > 2 and len(set(map(str, traces))) == len(traces)
    assert all("pad_einsum" in str(trace) and "tensorize" in str(trace) for trace in traces)
    for trace in traces[:: len(traces) // 3]:
        check_numbers(trace, 127, 61, 93)


def check_numbers(trace, n, k, m):
    sch = tw.Schedule(product(n, k, m))
    trace.apply_to(sch._core)
    assert sch.verify(samples=1)
    random = np.random.default_rng(0)
    a, b = random.integers(-128, 128, (n, k)), random.integers(-128, 128, (k, m))
    c = tw.runtime.tensor(np.zeros((n, m), "int32"))
    tw.build(sch.mod, "llvm")["main"](*(tw.runtime.tensor(each.astype("int8")) for each in (a, b)), c)
    assert (c.numpy() == a @ b).all()


def test_extents_that_fit_have_tiles_of_several_sizes():
    traces = designs_of(product(8, 64, 96), TARGET, RULES)
    assert len(traces) > 2
    assert all("pad_einsum" not in str(trace) and "tensorize" in str(trace) for trace in traces)
    for trace in traces[:: len(traces) // 3]:
        check_numbers(trace, 8, 64, 96)


def test_tiles_of_amx_and_groups_of_bfloat16():
    traces = designs_of(product(127), "llvm -mcpu=sapphirerapids -num-cores=1", RULES)
    assert all("matrix_tiles" in str(trace) for trace in traces)
    a, b = te.placeholder((127, 61), "bfloat16", name="A"), te.placeholder((61, 93), "bfloat16", name="B")
    k = te.reduce_axis((0, 61), name="k")

    def value(i, j):
        return te.sum(a[i, k].astype("float32") * b[k, j].astype("float32"), axis=k)

    func = te.create_prim_func([a, b, te.compute((127, 93), value, name="C")])
    traces = designs_of(func, TARGET, RULES)
    assert traces and all("dot_16x2_bfloat16_bfloat16_float32" in str(trace) for trace in traces)


def test_what_it_does_not_take():
    assert reasons(product(), "llvm -mcpu=haswell -num-cores=1")["C"] == (
        "the machine has no instruction that adds products of int8 and int8 to int32"
    )
    x = te.placeholder((7, 5), name="X")
    elements = te.create_prim_func([x, te.compute((7, 5), lambda i, j: x[i, j] * 2.0, name="Y")])
    assert reasons(elements)["Y"] == "it is no reduction"
    k = te.reduce_axis((0, 5), name="k")
    sums = te.create_prim_func([x, te.compute((7,), lambda i: te.sum(x[i, k], axis=k), name="S")])
    assert reasons(sums)["S"] == "it does not add products of two operands that are converted first"
