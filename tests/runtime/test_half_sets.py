"""float16 and bfloat16 in what the runtime computes: order, sets, and writing to places."""

import ml_dtypes
import numpy as np
import pytest
from onnx_testing import run_node
from op_testing import LEVELS, run_op

DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def numbers(shape, dtype):
    """Different ones, negative ones and zeros of both signs among them, and NaN."""
    values = np.random.default_rng(5).permutation(int(np.prod(shape))).astype("float32") - 30
    values[values == 3] = -0.0
    values[values == 4] = np.nan
    return values.reshape(shape).astype(DTYPES[dtype])


def ranked(x, axis, descending=False):
    """The positions that sort x, NaN as the largest; equal ones keep their order."""
    wide = x.astype("float64")
    wide = np.where(np.isnan(wide), np.inf, wide)
    return np.argsort(-wide if descending else wide, axis=axis, kind="stable")


def same(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.astype("float64"), expected.astype("float64"))


@each_dtype
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_sorting(axis, dtype):
    x = numbers((5, 7, 3), dtype)
    for descending in (False, True):
        order = ranked(x, axis, descending)
        for level in LEVELS:
            same(
                run_op("sort", x, axis=axis, descending=descending, opt_level=level),
                np.take_along_axis(x, order, axis),
            )
            same(
                run_op("argsort", x, axis=axis, descending=descending, dtype="int64", opt_level=level), order
            )


@each_dtype
@pytest.mark.parametrize("axis", [0, 1])
def test_topk(axis, dtype):
    x = numbers((7, 127), dtype)
    for largest in (True, False):
        order = np.take(ranked(x, axis, largest), range(5), axis)
        values, places = run_op("topk", x, k=5, axis=axis, largest=largest, dtype="int64")
        same(values, np.take_along_axis(x, order, axis))
        same(places, order)


@each_dtype
def test_median_unique_nonzero(dtype):
    x = np.array([[3, -1, 0, 3, 2], [5, 5, 0, -7, 1]]).astype(DTYPES[dtype])
    values, places = run_op("median", x, axis=[1])
    same(values, np.array([2, 1]).astype(x.dtype))
    same(places, np.array([4, 4]))
    same(run_op("unique", x), np.unique(x.astype("float32")).astype(x.dtype))
    same(run_op("nonzero", x), np.array(np.nonzero(x.astype("float32"))))


@each_dtype
@pytest.mark.parametrize("reduction", ["update", "add", "mul", "max", "min", "mean"])
def test_scattered_elements(reduction, dtype):
    """Sums of many are rounded once."""
    x = np.array([[1, 2, 3], [4, 5, 6]]).astype(DTYPES[dtype])
    count = 1 if reduction == "update" else 3000
    value = 1 + 2**-7 if reduction != "mul" else 1.0
    indices, updates = np.full((1, count), 1), np.full((1, count), value).astype(x.dtype)
    found = run_op("scatter_elements", np.tile(x, 1000), indices, updates, axis=1, reduction=reduction)
    expected = np.tile(x, 1000).astype("float64")
    start, given = expected[0, 1], float(updates[0, 0])
    expected[0, 1] = {
        "update": given,
        "add": start + count * given,
        "mul": start,
        "max": max(start, given),
        "min": min(start, given),
        "mean": (start + count * given) / (count + 1),
    }[reduction]
    same(found, expected.astype(x.dtype))


@each_dtype
@pytest.mark.parametrize("accumulate", [False, True])
def test_put_by_indices(accumulate, dtype):
    x = np.zeros((5, 7), DTYPES[dtype])
    rows = np.zeros(3000 if accumulate else 1, "int64")
    values = np.ones((len(rows), 7), x.dtype)
    expected = x.copy()
    expected[0] = np.array(len(rows)).astype(x.dtype)
    same(run_op("index_put", x, [rows], values, accumulate=accumulate), expected)


@each_dtype
def test_models(dtype):
    x = numbers((5, 7), dtype)
    order = ranked(x, 1, True)[:, :3]
    values, places = run_node("TopK", [x, np.array([3])], [1], outputs=2)
    same(values, np.take_along_axis(x, order, 1))
    same(places, order)
    indices = np.array([[0, 2, 6]])
    updates = np.array([[1.5, -2, 3]]).astype(x.dtype)
    expected = x.copy()
    np.put_along_axis(expected, indices, updates, 1)
    expected[1:] = x[1:]
    same(run_node("ScatterElements", [x, indices, updates], [1, 2], axis=1), expected)
    expected = x.copy()
    expected[3], expected[0] = updates[0, 0], updates[0, 1]
    places, rows = np.array([[3], [0]]), np.repeat(updates[0, :2], 7).reshape(2, 7)
    same(run_node("ScatterND", [x, places, rows], [1, 2]), expected)
