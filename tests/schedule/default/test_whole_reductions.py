"""Sums and maxima of everything, to one number: partial results are kept in vectors, whatever follows."""

import numpy as np
import pytest
from graph_testing import run

import tilewright
from tilewright import te
from tilewright.relax import BlockBuilder, TensorType, Var, op

SHAPES = [(1,), (5, 7), (127,), (3, 5, 127), (98, 480), (2, 1, 64)]
REDUCTIONS = {
    "sum": (op.sum, np.sum),
    "max": (op.max, np.max),
    "mean of squares": (lambda x: op.mean(op.multiply(x, x)), lambda x: (x * x).mean()),
    "variance": (op.variance, np.var),
    "what is left of the mean": (lambda x: op.subtract(x, op.mean(x)), lambda x: x - x.mean()),
    "all dimensions kept": (
        lambda x: op.divide(x, op.sum(op.abs(x), keepdims=True)),
        lambda x: x / abs(x).sum(),
    ),
}


def graph(shape, dtype, build):
    builder = BlockBuilder()
    x = Var("x", TensorType(shape, dtype))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(build(x))
        builder.emit_func_output(result)
    return builder.get()


def numbers(shape, dtype):
    return np.random.default_rng(len(shape)).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers(shape, name):
    build, reference = REDUCTIONS[name]
    x = numbers(shape, "float32")
    result = run(graph(shape, "float32", build), x, opt_level=2)
    np.testing.assert_allclose(result, reference(x.astype("float64")), rtol=2e-6, atol=1e-5)


def test_the_sum_of_nothing():
    x = np.zeros((0, 5), "float32")
    assert run(graph(x.shape, "float32", op.sum), x, opt_level=2) == 0


@pytest.mark.parametrize("dtype", ["int32", "int8", "float64", "float16"])
@pytest.mark.parametrize("name", ["sum", "max"])
def test_dtypes(name, dtype):
    build, reference = REDUCTIONS[name]
    x = numbers((5, 127), dtype) // 25
    np.testing.assert_array_equal(
        run(graph(x.shape, dtype, build), x, opt_level=2),
        reference(x, dtype=dtype) if name == "sum" else reference(x),
    )


@pytest.mark.parametrize("extents", [(1000,), (7, 1000)])
def test_partial_sums_are_in_vectors(extents):
    x = te.placeholder(extents, name="X")
    axes = [te.reduce_axis((0, extent)) for extent in extents]
    total = te.compute((), lambda: te.sum(x[tuple(axes)], axis=axes), name="S")
    mean = te.compute((), lambda: total[()] / 1000.0, name="M")
    func = te.create_prim_func([x, mean])
    assembly = tilewright.build(func, target="llvm -mcpu=haswell").get_source("asm")
    assert assembly.count("vaddps") >= 4
