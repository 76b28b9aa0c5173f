"""Elements chosen by indices, places in sorted rows, samples: against numpy."""

import numpy as np
from op_data import CUBE, X
from op_testing import check_op

RNG = np.random.default_rng(5)
f32, i32, i64 = np.float32, np.int32, np.int64


def test_bucketize():
    bounds = np.array([-1, 0, 0.5, 2], "float32")
    check_op("bucketize", [X, bounds], {}, np.searchsorted(bounds, X))
    check_op(
        "bucketize",
        [np.append(bounds, f32("nan")), bounds],
        {"right": True, "out_int32": True},
        np.searchsorted(bounds, np.append(bounds, f32("nan")), "right").astype(i32),
    )


def test_searchsorted():
    lines = np.sort(RNG.integers(0, 9, (3, 5, 7)), -1).astype("float32")
    values = RNG.integers(0, 9, (3, 5, 2)).astype("float32")
    rows = zip(lines.reshape(15, 7), values.reshape(15, 2), strict=True)
    wanted = np.stack([np.searchsorted(line, row) for line, row in rows]).reshape(3, 5, 2)
    check_op("searchsorted", [lines, values], {}, wanted)
    check_op(
        "searchsorted",
        [lines[0, 0], values],
        {"right": True, "out_int32": True},
        np.searchsorted(lines[0, 0], values, "right").astype(i32),
    )


def test_indexing():
    at = RNG.integers(-7, 7, (5, 3))
    check_op("gather_elements", [X, at], {"axis": 1}, np.take_along_axis(X, at, 1))
    pairs = np.array([[0, 1], [-1, 2], [2, -2]])
    check_op("gather_nd", [CUBE, pairs], {}, CUBE[pairs[:, 0], pairs[:, 1]])
    rows = np.array([[1], [4], [0]])
    check_op("gather_nd", [CUBE, rows], {"batch_dims": 1}, CUBE[np.arange(3), rows[:, 0]])
    first, second = np.array([[0], [2]]), np.array([1, -1, 3])
    check_op("index_tensor", [CUBE, [first, second]], {}, CUBE[first, second])
    check_op("take", [X, np.array([0, -1, 3])], {"axis": 1}, X[:, [0, -1, 3]])
    check_op(
        "one_hot",
        [np.array([0, 3, 9]), 2.0, -1.0],
        {"depth": 5},
        np.where(np.eye(10)[[0, 3, 9], :5] > 0, f32(2), f32(-1)),
    )
    check_op(
        "one_hot", [np.array([[1], [0]]), 1, 0], {"depth": 2, "axis": 0}, np.array([[[0], [1]], [[1], [0]]])
    )
    wanted = CUBE.copy()
    wanted[:, 1:5:2] = CUBE[:, :2]
    check_op("slice_scatter", [CUBE, CUBE[:, :2].copy(), 1, 5, 2], {"axis": 1}, wanted)
    begin, end, step = np.array([1, -1]), np.array([100, -8]), np.array([2, -3])
    check_op("dynamic_strided_slice", [X, begin, end, step], {}, X[1:100:2, -1:-8:-3])
    check_op("strided_slice", [X, [1], [-1], [-100], [-2]], {}, X[:, -1:-100:-2])


def test_sampling():
    prob = np.array([[0.25, 0.5, 0.25], [1, 0, 0]], "float32")
    uniform, rows = np.array([[0.1], [0.3], [0.99], [0.7]], "float32"), np.array([[0], [0], [0], [1]])
    check_op("multinomial_from_uniform", [prob, uniform, rows], {}, np.array([[0], [1], [2], [0]]))


def test_rows_outside_are_brought_inside():
    probabilities = np.array([[1, 0, 0], [0, 0, 1]], "float32")
    rows = np.array([[-9], [1], [99]])
    uniform = np.full((3, 1), 0.5, "float32")
    wanted = np.array([[0], [2], [2]])
    check_op("multinomial_from_uniform", [probabilities, uniform, rows], {}, wanted)
