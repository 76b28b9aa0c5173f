"""sort, argsort, topk, median, unique and nonzero, against numpy."""

import numpy as np
import pytest
from op_data import CUBE, LONG, MASK, TIES, WHOLE
from op_testing import check_op, run_op

RNG = np.random.default_rng(3)
f32, i32, i64 = np.float32, np.int32, np.int64


def test_order():
    check_op("sort", [CUBE], {"axis": 1}, np.sort(CUBE, 1))
    check_op("sort", [WHOLE], {"descending": True}, -np.sort(-WHOLE))
    check_op("argsort", [TIES], {"axis": 0}, TIES.argsort(0, kind="stable").astype(i32))
    check_op("argsort", [LONG], {"descending": True, "dtype": "int64"}, (-LONG).argsort())
    nan = np.array([2, np.nan, 1], "float32")
    check_op("sort", [nan], {}, np.sort(nan))
    order = (-CUBE).argsort(1, kind="stable")[:, :2]
    check_op("topk", [CUBE], {"k": 2, "axis": 1}, [np.take_along_axis(CUBE, order, 1), order.astype(i32)])
    check_op("topk", [LONG], {"k": 5, "ret_type": "values", "largest": False}, np.sort(LONG)[:5])
    check_op("topk", [LONG], {"k": 3, "ret_type": "indices", "dtype": "int64"}, (-LONG).argsort()[:3])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_unique_integers(dtype):
    info = np.iinfo(dtype)
    values = RNG.integers(info.min, info.max, 127, dtype, endpoint=True)
    values[::5] = values[3]
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    wanted = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    check_op("unique", [values], flags, [each.reshape(-1) for each in wanted])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_unique_floats(dtype):
    values = RNG.standard_normal(127).astype(dtype)
    values[::5], values[1::7], values[2::11] = values[3], -np.inf, 0
    values[13] = -0.0
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    wanted = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    check_op("unique", [values], flags, [each.reshape(-1) for each in wanted])


def test_median():
    check_op("median", [CUBE], {}, np.median(CUBE))
    check_op("median", [CUBE], {"axis": [0, 2], "keepdims": True}, np.median(CUBE, (0, 2), keepdims=True))
    values, places = run_op("median", CUBE, axis=[1])
    np.testing.assert_array_equal(values, np.median(CUBE, 1))
    np.testing.assert_array_equal(np.take_along_axis(CUBE, places[:, None], 1)[:, 0], values)


def test_sets():
    values = np.array([[3, 1, 3], [2, 1, 3]], "int32")
    check_op("unique", [values], {}, np.unique(values))
    check_op("unique", [values], {"sorted": False}, np.array([3, 1, 2], "int32"))
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    wanted = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    check_op("unique", [values], flags, [w.reshape(-1) for w in wanted])
    columns = np.array([[1, 2, 1], [5, 0, 5]], "float32")
    check_op("unique", [columns], {"axis": 1}, np.unique(columns, axis=1))
    check_op("nonzero", [MASK], {}, np.array(np.nonzero(MASK)))
    check_op("nonzero", [np.zeros((2, 3), "float32")], {}, np.zeros((2, 0), "int64"))
