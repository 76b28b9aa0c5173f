"""Blocks that choose one of many terms with its place: vectors choose what a loop over one term after the other does."""

import numpy as np
import pytest
from op_testing import build

import tilewright
from tilewright import te, tir, topi

SHAPES = [(5, 7), (7, 127), (127, 5), (1, 1000), (3, 64), (64, 3)]
TARGET = "llvm -mcpu=haswell -num-cores=2"


def numbers(shape, dtype, ties=True):
    """Few different ones, with both zeros and infinities, and without."""
    rng = np.random.default_rng(sum(shape))
    x = rng.integers(-3, 4, shape) if ties else rng.permutation(int(np.prod(shape))).reshape(shape)
    x = x.astype(dtype)
    if x.dtype.kind == "f" and ties:
        x[rng.random(shape) < 0.2] = -0.0
        x[rng.random(shape) < 0.1] = np.inf
        x[rng.random(shape) < 0.1] = -np.inf
    return x


def place_of(x, axis, largest):
    """The first NaN if there is one, else the first of the largest or smallest."""
    return x.argmax(axis) if largest else x.argmin(axis)


REDUCERS = {
    "the first of equal ones is kept": lambda a, b: a[1] >= b[1],
    "the first unless there is a larger one": lambda a, b: tir.Not(a[1] < b[1]),
    "places are compared": lambda a, b: tir.any(a[1] > b[1], tir.all(a[1] == b[1], a[0] < b[0])),
    "the last of equal ones is taken": lambda a, b: a[1] > b[1],
}


def chosen(keeps, shape, axis):
    def combine(a, b):
        return tir.Select(keeps(a, b), a[0], b[0]), tir.Select(keeps(a, b), a[1], b[1])

    best = te.comm_reducer(combine, lambda at, value: (tir.const(-1, at), te.min_value(value)), name="best")
    x = te.placeholder(shape, name="X")
    k = te.reduce_axis((0, shape[axis]), "k")
    results = te.compute(
        (shape[1 - axis],), lambda i: best((k.var, x[(i, k) if axis else (k, i)]), axis=k), name="B"
    )
    return te.create_prim_func([x, *results])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", REDUCERS)
def test_reducers_of_two_values(name, shape, axis):
    func = chosen(REDUCERS[name], shape, axis)
    x = numbers(shape, "float32")
    x[np.isneginf(x)] = -7
    at, value = np.zeros(shape[1 - axis], "int32"), np.zeros(shape[1 - axis], "float32")
    tilewright.build(func)["main"](x, at, value)
    if "last" in name:
        np.testing.assert_array_equal(at, shape[axis] - 1 - np.flip(x, axis).argmax(axis))
    else:
        np.testing.assert_array_equal(at, x.argmax(axis))
    np.testing.assert_array_equal(value, x.max(axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", [name for name in REDUCERS if "last" not in name])
def test_they_are_in_vectors(name, axis):
    sch = tilewright.schedule.by_rules(chosen(REDUCERS[name], (127, 500), axis), TARGET)
    assert sch.rejections == []
    assert ("sch.rfactor(" in sch.trace.text()) == (axis == 1)
    assert "sch.vectorize(" in sch.trace.text() and "sch.parallel(" in sch.trace.text()
    assert sch.verify()
    assembly = tilewright.build(sch.mod, target="llvm -mcpu=haswell").get_source("asm")
    assert "vcmp" in assembly and "vblendvps" in assembly


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "int64", "int8"])
@pytest.mark.parametrize("largest", [True, False])
def test_argmax_of_any_axis(largest, dtype):
    for shape, axes in [((5, 7), (0, 1)), ((3, 7, 127), (0, 1, 2, None)), ((127,), (0,))]:
        x = numbers(shape, dtype)
        for axis in axes:
            for keepdims in (False, True):
                attrs = {"axis": axis, "keepdims": keepdims}
                main = tilewright.VirtualMachine(
                    tilewright.compile(build("argmax" if largest else "argmin", [x], attrs))
                )["main"]
                wanted = (np.argmax if largest else np.argmin)(x, axis=axis, keepdims=keepdims)
                np.testing.assert_array_equal(main(x).numpy(), wanted)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_of_nan(largest, axis):
    x = numbers((67, 131), "float32")
    x[np.random.default_rng(1).random(x.shape) < 0.01] = np.nan
    x[5], x[:, 7] = -np.inf if largest else np.inf, np.nan
    main = tilewright.VirtualMachine(
        tilewright.compile(build("argmax" if largest else "argmin", [x], {"axis": axis}))
    )["main"]
    np.testing.assert_array_equal(main(x).numpy(), place_of(x, axis, largest))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_open_extents(axis):
    x = numbers((3, 7, 127), "float32")
    module = build("argmax", [x], {"axis": axis}, symbols=(3, 7, 127))
    main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    for shape in [(3, 7, 127), (1, 1, 1), (5, 64, 7), (2, 300, 1000)]:
        x = numbers(shape, "float32")
        np.testing.assert_array_equal(main(x).numpy(), x.argmax(axis))


@pytest.mark.parametrize("axis", [0, 1])
def test_open_extents_are_in_vectors(axis):
    func = te.create_prim_func(
        [
            x := te.placeholder((te.var("n", "int64"), te.var("m", "int64")), name="X"),
            topi.argmax(x, axis=axis),
        ]
    )
    sch = tilewright.schedule.by_rules(func, TARGET)
    assert not any(block == "T_argmax" for block, _, _ in sch.rejections)
    assert "sch.vectorize(" in sch.trace.text()


@pytest.mark.parametrize("shape", [(127, 1000), (300, 700)])
def test_any_number_of_threads_gives_the_same(shape):
    x = numbers(shape, "float32")
    for axis in (0, 1):
        main = tilewright.VirtualMachine(tilewright.compile(build("argmax", [x], {"axis": axis})))["main"]
        try:
            for threads in (1, 2, 3):
                tilewright.runtime.set_num_threads(threads)
                np.testing.assert_array_equal(main(x).numpy(), x.argmax(axis))
        finally:
            tilewright.runtime.set_num_threads(0)


def test_short_rows_stay_loops():
    sch = tilewright.schedule.by_rules(chosen(REDUCERS["places are compared"], (5, 7), 1), TARGET)
    assert sch.rejections == [
        ("B", "choose", "axis v_k of block B has 7 terms, fewer than two vectors of 4"),
        ("B", "vectorize", "its body is not one store, but has 2 stores and 0 loops"),
        (
            "B",
            "parallel",
            "it runs about 105 statements, fewer than the 196608 for which threads pay",
        ),
    ]


def test_strided_terms_stay_loops():
    best = te.comm_reducer(
        lambda a, b: (tir.Select(a[1] >= b[1], a[0], b[0]), tir.Select(a[1] >= b[1], a[1], b[1])),
        lambda at, value: (tir.const(-1, at), te.min_value(value)),
    )
    x, k = te.placeholder((5, 14), name="X"), te.reduce_axis((0, 7), "k")
    results = te.compute((5,), lambda i: best((k.var, x[i, 2 * k]), axis=k), name="B")
    sch = tilewright.schedule.by_rules(te.create_prim_func([x, *results]), TARGET)
    assert sch.rejections[0] == ("B", "choose", "no axis of block B is contiguous in all that it reads")
