"""ONNX models of float16 and bfloat16: sums are float32 until the result is there."""

import ml_dtypes
import numpy as np
import pytest
from onnx_testing import run_node

KINDS = {"float16": (np.float16, 2**-11), "bfloat16": (ml_dtypes.bfloat16, 2**-8)}
each_dtype = pytest.mark.parametrize("dtype", KINDS)


def run(dtype, node, x, weights=(), outputs=1):
    """Runs the node on x and constants: arrays, those of floats in `dtype`."""
    known = KINDS[dtype][0]
    arrays = [np.asarray(each) for each in (x, *weights)]
    arrays = [each.astype(known) if each.dtype.kind == "f" else each for each in arrays]
    op, attrs = node
    return run_node(op, arrays, range(1, len(arrays)), outputs, **attrs)


def check(dtype, node, x, expected, weights=(), slack=1.5, atol=0.0):
    known, unit = KINDS[dtype]
    got = run(dtype, node, x, weights)
    assert got.dtype == known
    wanted = expected(x.astype(known).astype("float64"))
    np.testing.assert_allclose(got.astype("float64"), wanted, rtol=slack * unit, atol=atol * unit)


LARGE = np.abs(np.random.default_rng(1).standard_normal((5, 1024))) * 300 + 30
AXES = np.array([1])
REDUCTIONS = {
    "ReduceL1": lambda x: np.abs(x).sum(1, keepdims=True),
    "ReduceL2": lambda x: np.sqrt((x * x).sum(1, keepdims=True)),
    "ReduceLogSum": lambda x: np.log(x.sum(1, keepdims=True)),
    "ReduceLogSumExp": lambda x: np.log(np.exp(x - x.max()).sum(1, keepdims=True)) + x.max(),
    "ReduceMean": lambda x: x.mean(1, keepdims=True),
    "ReduceSum": lambda x: x.sum(1, keepdims=True),
    "ReduceSumSquare": lambda x: (x * x).sum(1, keepdims=True),
}


@each_dtype
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op, dtype):
    small = op in ("ReduceL1", "ReduceSum", "ReduceSumSquare")
    x = LARGE / (300 if small else 1)
    check(dtype, (op, {}), x / 7 if op == "ReduceSumSquare" else x, REDUCTIONS[op], [AXES])


@each_dtype
def test_logarithm_of_many_equal_exponentials(dtype):
    check(dtype, ("ReduceLogSumExp", {}), np.zeros((5, 5000)), REDUCTIONS["ReduceLogSumExp"], [AXES])


@each_dtype
def test_norms(dtype):
    picture = np.random.default_rng(2).standard_normal((1, 7, 20, 20)) * 100 + 5

    def normed(x, axes, more=1e-9):
        return (x - x.mean(axes, keepdims=True)) / (x.std(axes, keepdims=True) + more)

    check(dtype, ("MeanVarianceNormalization", {}), picture, lambda x: normed(x, (0, 2, 3)), atol=1)
    length = lambda x: np.sqrt((x * x).sum(1, keepdims=True))  # noqa: E731
    check(dtype, ("LpNormalization", {"axis": 1}), LARGE, lambda x: x / length(x))
    check(dtype, ("LpNormalization", {"axis": 1, "p": 1}), LARGE, lambda x: x / x.sum(1, keepdims=True))

    def local(x):
        padded = np.pad(x * x, ((0, 0), (2, 2), (0, 0), (0, 0)))
        total = sum(padded[:, n : n + 7] for n in range(5))
        return x / (1 + 0.0001 / 5 * total) ** 0.75

    check(dtype, ("LRN", {"size": 5}), np.abs(picture) * 5, local)


@each_dtype
@pytest.mark.parametrize("p", [1, 2, 3])
def test_lp_pool(p, dtype):
    picture = np.abs(np.random.default_rng(4).standard_normal((1, 5, 16, 16))) * (900 if p > 1 else 300)
    windows = lambda x: x.reshape(1, 5, 2, 8, 2, 8)  # noqa: E731
    check(
        dtype,
        ("LpPool", {"kernel_shape": [8, 8], "strides": [8, 8], "p": p}),
        picture,
        lambda x: (windows(x) ** p).sum((3, 5)) ** (1 / p),
    )


@each_dtype
def test_layer_norm_gives_its_moments_as_float32(dtype):
    known, unit = KINDS[dtype]
    x = np.random.default_rng(3).standard_normal((3, 4096)) * 300 + 7
    scale, shift = np.ones(4096), np.zeros(4096)
    wide = x.astype(known).astype("float64")
    result, mean, inverse = run(dtype, ("LayerNormalization", {}), x, [scale, shift], outputs=3)
    assert (mean.dtype, inverse.dtype) == (np.float32, np.float32)
    np.testing.assert_allclose(mean, wide.mean(1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(inverse, 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(
        result.astype("float64"),
        (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True),
        rtol=2 * unit,
        atol=unit,
    )


@each_dtype
def test_gemm_whose_factor_is_small(dtype):
    """The sums are beyond the largest float16, what becomes of them is not."""
    weight = np.full((1024, 3), 100.0)
    check(
        dtype,
        ("Gemm", {"alpha": 0.001}),
        LARGE,
        lambda x: 0.001 * (x @ weight) + 1,
        [weight, np.ones(3)],
        slack=2.5,
    )


@each_dtype
def test_sums_of_inputs(dtype):
    known = KINDS[dtype][0]
    x = np.full((5, 7), 60000.0)
    both = x.astype(known).astype("float64")
    check(dtype, ("Mean", {}), x, lambda v: (v + both) / 2, [x])
    check(dtype, ("Sum", {}), x, lambda v: v, [x, -x])
