"""Cases of spellings of TVM for slices, indexing and shapes."""

import numpy as np
from topi.table import ALL, INTS, NUMBERS, Case, Input
from tvm import topi

X = [Input("n", 5, 7)]


def case(name, build, reference, inputs=X, dtypes=ALL, **options):
    return Case(f"tvm.topi.{name}", build, reference, inputs, dtypes, **options)


def constants(*numbers):
    """An int32 tensor that holds these numbers."""
    return Input(len(numbers), dtype="int32", make=lambda rng, shape, dtype: numbers)


def changed(x, v, at):
    result = x.copy()
    result[at] = v
    return result


def masked(x, n, axis, value):
    at = np.arange(x.shape[axis])
    hit = at[:, None] >= n if axis == 0 else at >= n[:, None]
    return np.where(hit[..., None], x.dtype.type(value), x)


def diagonals(x, d):
    """x with the diagonals -1 .. 1 of the last two dimensions from the rows of d, right of those above and left of those below."""
    result = x.copy()
    for k in (-1, 0, 1):
        length = min(5 - max(-k, 0), 7 - max(k, 0))
        values = d[:, 1 - k]
        values = values[:, values.shape[1] - length :] if k >= 0 else values[:, :length]
        for m in range(length):
            result[:, m + max(-k, 0), m + max(k, 0)] = values[:, m]
    return result


def lengths(rng, shape, dtype):
    return rng.integers(0, 6, shape)


def main_diagonal(x, d):
    result = x.copy()
    result[:, np.arange(5), np.arange(5)] = d
    return result


def blocked(x):
    return np.pad(x, ((0, 0), (0, 3), (0, 0), (0, 0))).reshape(-1, 2, 4, 3, 2).transpose(0, 1, 3, 4, 2)


CASES = [
    case(
        "expand_like", lambda x, y: topi.expand_like(x, y, [1]), lambda x, y: np.broadcast_to(x[:, None], y.shape).copy(),
        [Input("n", 7), Input("n", 5, 7)], by_stages=False,
    ),
    case("strided_slice", lambda x: topi.strided_slice(x, [0, 1], [2, 4]), lambda x: x[0:2, 1:4]),
    case(
        "strided_slice", lambda x: topi.strided_slice(x, [0, 1, 6], [2, 4, 0], [1, 2, -3], slice_mode="end"), lambda x: x[0:2, 1:4:2, 6:0:-3],
        label="strides",
    ),
    case(
        "strided_slice", lambda x: topi.strided_slice(x, [0, 1, 2], [-1, 3, 2], slice_mode="size"), lambda x: x[:, 1:4, 2:4], label="size",
    ),
    case("transform.strided_slice", lambda x: topi.transform.strided_slice(x, [1], [-1], axes=[2]), lambda x: x[:, :, 1:-1], label="axes"),
    case(
        "dynamic_strided_slice", lambda x, b, e, s: topi.dynamic_strided_slice(x, b, e, s, [2, 2, 3]), lambda x, b, e, s: x[0:2, 4:1:-2, 1:4],
        [Input(5, 5, 7), constants(0, 4, 1), constants(2, 1, 4), constants(1, -2, 1)], by_stages=False,
    ),
    case(
        "strided_set", lambda x, v, b, e: topi.strided_set(x, v, b, e), lambda x, v, b, e: changed(x, v, np.s_[:, 1:4, 2:-1]),
        [*X, Input("n", 3, 4), constants(0, 1, 2), constants(1 << 20, 4, -1)], by_stages=False,
    ),
    case(
        "strided_set", lambda x, v, b, e, s: topi.strided_set(x, v, b, e, s), lambda x, v, b, e, s: changed(x, v, np.s_[:, 4:0:-2, ::3]),
        [*X, Input("n", 2, 3), constants(0, 4, 0), constants(1 << 20, 0, 7), constants(1, -2, 3)], label="strides", by_stages=False,
    ),
    case("take", lambda x, i: topi.take(x, i), lambda x, i: np.take(x, i), [Input(5, 5, 7), Input("n", dtype="int32", low=0, high=60)]),
    case(
        "take", lambda x, i: topi.take(x, i, 1, "wrap"), lambda x, i: np.take(x, i, 1, mode="wrap"),
        [*X, Input(3, dtype="int32", low=-9, high=9)], label="until 2021",
    ),
    case(
        "take", lambda x, i: topi.take(x, i, axis=1, batch_dims=1, mode="clip"), lambda x, i: x[np.arange(len(x))[:, None], i],
        [*X, Input("n", 3, dtype="int32", low=0)], label="batches",
    ),
    case(
        "gather", lambda x, i: topi.gather(x, 1, i), lambda x, i: np.take_along_axis(x, i, 1), [*X, Input("n", 3, 7, dtype="int64", low=0)],
    ),
    case(
        "gather_nd", lambda x, i: topi.gather_nd(x, i), lambda x, i: x[i[0], i[1]], [Input(5, 5, 7), Input(2, "n", 3, dtype="int32", low=0)],
    ),
    case(
        "matmul", lambda a, b: topi.matmul(a, b, True, True), lambda a, b: a.astype("float64").T @ b.astype("float64").T,
        [Input(7, 5, low=-1, high=2), Input("n", 7, low=-1, high=2)], ("float16", "float32", "float64"),
    ),
    case(
        "layout_transform", lambda x: topi.layout_transform(x, "NCHW", "NHWC"), lambda x: x.transpose(0, 2, 3, 1), [Input("n", 5, 3, 2)],
    ),
    case(
        "layout_transform", lambda x: topi.layout_transform(x, "NCHW", "NCHW4c"), blocked, [Input("n", 5, 3, 2)], label="parts",
    ),
    case(
        "layout_transform", lambda x: topi.layout_transform(x, "NCHW4c", "NCHW"),
        lambda x: x.transpose(0, 1, 4, 2, 3).reshape(len(x), 8, 3, 2), [Input("n", 2, 3, 2, 4)], label="whole",
    ),
    case("shape", lambda x: topi.shape(x), lambda x: np.array(x.shape, "int32"), by_stages=False),
    case("ndarray_size", lambda x: topi.ndarray_size(x, "int64"), lambda x: np.array(x.size), by_stages=False),
    case(
        "sequence_mask", lambda x, n: topi.sequence_mask(x, n, 1, 1), lambda x, n: masked(x, n, 1, 1), [*X, Input("n", dtype="int32", make=lengths)],
    ),
    case(
        "sequence_mask", lambda x, n: topi.sequence_mask(x, n), lambda x, n: masked(x, n, 0, 0), [*X, Input(5, dtype="int64", make=lengths)],
        label="first",
    ),
    case("stack", lambda a, b: topi.stack([a, b], 1), lambda a, b: np.stack([a, b], 1), X * 2),
    case(
        "one_hot", lambda i, a, b: topi.one_hot(i, a, b, 7, -1, "float32"), lambda i, a, b: np.where(i[..., None] == np.arange(7), a, b).astype("float32"),
        [Input("n", 3, low=0, high=7), Input(dtype="float32"), Input(dtype="float32")], INTS,
    ),
    case(
        "unravel_index", lambda i, s: topi.unravel_index(i, s), lambda i, s: np.stack(np.unravel_index(i, (3, 4, 5))).astype("int32"),
        [Input("n", low=0, high=60), constants(3, 4, 5)], ("int32",),
    ),
    case(
        "sparse_to_dense", lambda i, v: topi.sparse_to_dense(i, (5, 7), v, 1), lambda i, v: changed(np.full((5, 7), 1, v.dtype), v, (i[:, 0], i[:, 1])),
        [Input(3, 2, dtype="int32", make=lambda rng, shape, dtype: [[0, 6], [3, 1], [4, 4]]), Input(3)], NUMBERS, by_stages=False,
    ),
    case("matrix_set_diag", lambda x, d: topi.matrix_set_diag(x, d), main_diagonal, [*X, Input("n", 5)]),
    case("matrix_set_diag", lambda x, d: topi.matrix_set_diag(x, d, (-1, 1)), diagonals, [*X, Input("n", 3, 5)], label="band"),
    case("trilu", lambda x: topi.trilu(x, 1, True), lambda x: np.triu(x, 1)),
    case("trilu", lambda x: topi.trilu(x, -1, False), lambda x: np.tril(x, -1), label="lower"),
    case("meshgrid", lambda a, b: topi.meshgrid([a, b], "xy"), lambda a, b: np.meshgrid(a, b), [Input("n"), Input(7)]),
    case("adv_index", lambda x, i, j: topi.adv_index(x, [i, j]), lambda x, i, j: x[i, j], [Input(5, 5, 7), Input("n", dtype="int32", low=0), Input(1, dtype="int32", low=0)]),
    case(
        "sliding_window", lambda x: topi.sliding_window(x, 1, [2], [1]), lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 1), [Input("n", 7)],
    ),
    case(
        "invert_permutation", lambda x: topi.invert_permutation(x), lambda x: np.argsort(x).astype(x.dtype), [Input(7, make=lambda rng, shape, dtype: rng.permutation(7))],
        ("int32", "int64"), by_stages=False,
    ),
    case("embed", lambda i, t: topi.embed(i, t), lambda i, t: t[i], [Input("n", 2, dtype="int32", low=0, high=9), Input(9, 7)]),
    case("broadcast_to", lambda x: topi.broadcast_to(x, (2, x.shape[0], 5, 7)), lambda x: np.broadcast_to(x, (2, *x.shape))),
    case("split", lambda x: topi.split(x, (3,), axis=1), lambda x: [x[:, :3], x[:, 3:]]),
]  # fmt: skip
