"""Cumulative sums and products take a step an element."""

import numpy as np
import pytest
from graph_testing import run_graph

import tilewright
from tilewright import relax, te, topi


def shifted(values, axis, identity):
    """Without the element itself."""
    moved = np.roll(values, 1, axis)
    first = [slice(None)] * values.ndim
    first[axis] = slice(0, 1)
    moved[tuple(first)] = identity
    return moved


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(5, 7, 127), (1, 1, 1), (3, 0, 5), (0, 2, 3)])
def test_sums(shape, axis, exclusive, target):
    x = te.placeholder(shape, "float64", "x")
    func = te.create_prim_func([x, topi.cumsum(x, axis, exclusive)])
    data = np.random.default_rng(0).random(shape)
    found = np.full(shape, np.nan)
    tilewright.build(func, target)["main"](data, found)
    expected = data.cumsum(axis)
    np.testing.assert_allclose(found, shifted(expected, axis, 0) if exclusive else expected, rtol=1e-12)


@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_of_graphs(op, dtype):
    data = np.random.default_rng(0).integers(1, 3, (4, 9)).astype(dtype)
    x = relax.Var("x", relax.TensorType(data.shape, dtype))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(getattr(relax.op, op)(x, axis=1)))
    executable = tilewright.compile(builder.get(), target="llvm")
    np.testing.assert_array_equal(run_graph(executable, data), getattr(np, op)(data, 1, dtype))


def test_steps_grow_with_elements():
    """Found: each element was a sum of all before it, 407 ms for 100,000 and minutes for a million."""
    count = 1_000_000
    x = te.placeholder((count,), "float64", "x")
    data, found = np.arange(count, dtype="float64"), np.zeros(count)
    tilewright.build(te.create_prim_func([x, topi.cumsum(x, 0)]))["main"](data, found)
    np.testing.assert_array_equal(found, data.cumsum())
