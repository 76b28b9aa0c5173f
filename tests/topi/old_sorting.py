"""Cases of spellings of TVM for order, running sums, changes at places that are data, and sparse products."""

import numpy as np
from topi.table import INTS, NUMBERS, Case, Input
from tvm import te, topi

ROWS = [Input("n", 7, low=-2, high=3)]
ORDERED = {"by_stages": False}


def case(name, build, reference, inputs=ROWS, dtypes=NUMBERS, **options):
    return Case(f"tvm.topi.{name}", build, reference, inputs, dtypes, **options)


def positions(x, axis=-1, descending=False):
    return np.argsort(-x.astype("float64") if descending else x, axis=axis, kind="stable")


def counts(rng, shape, dtype):
    return rng.integers(0, 8, shape)


def valid_positions(x, n):
    """Of the first n[i] elements of row i; the others stay."""
    rows = [np.concatenate([positions(row[:k]), np.arange(k, len(row))]) for row, k in zip(x, n, strict=True)]
    return np.array(rows, "int32").reshape(x.shape)


def uniques(x, is_sorted):
    """What topi.unique gives, padded to the length of x."""
    values, first, inverse, count = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    if not is_sorted:
        order = np.argsort(first)
        values, first, count = values[order], first[order], count[order]
        inverse = np.argsort(order)[inverse]

    def padded(part, rest):
        return np.concatenate([part, np.full(len(x) - len(part), rest)])

    as_int32 = [padded(first, len(x)), inverse, [len(values)], padded(count, 0)]
    return [padded(values, 0).astype(x.dtype), *(np.asarray(each).astype("int32") for each in as_int32)]


def last(function):
    def position(x):
        return (6 - function(x[:, ::-1], axis=1)).astype("int32")

    return position


def running(function, x):
    return function(
        x.astype("float64") if x.dtype.kind == "f" else x, dtype=None if x.dtype.kind == "f" else x.dtype
    )


def updated(x, i, y, how):
    result = x.copy()
    (np.add.at if how == "add" else lambda a, at, b: a.__setitem__(at, b))(result, i, y)
    return result


def rows_and(i):
    return np.arange(i.shape[0])[:, None], i


def places(rng, shape, dtype):
    """Different columns in each row."""
    return np.array([rng.permutation(7)[: shape[1]] for _ in range(shape[0])]).reshape(shape)


SORTED = [
    case("sort", lambda x: topi.sort(x, axis=-1, is_ascend=False), lambda x: np.sort(x, -1)[:, ::-1], **ORDERED),
    case("argsort", lambda x: topi.argsort(x), lambda x: positions(x).astype("float32"), **ORDERED),
    case(
        "argsort", lambda x: topi.argsort(x, axis=0, is_ascend=0, dtype="int32"), lambda x: positions(x, 0, True).astype("int32"),
        label="descending", **ORDERED,
    ),
    case(
        "argsort", lambda x, n: topi.argsort(x, n, 1, 1, "int32"), valid_positions, [*ROWS, Input("n", dtype="int32", make=counts)],
        label="valid", **ORDERED,
    ),
    case(
        "topk", lambda x: topi.topk(x, 3), lambda x: [np.take_along_axis(x, positions(x, -1, True), -1)[:, :3], positions(x, -1, True)[:, :3]], **ORDERED,
    ),
    case(
        "topk", lambda x: topi.topk(x, 2, 1, "indices", True, "float32"), lambda x: positions(x)[:, :2].astype("float32"), label="ascending", **ORDERED,
    ),
    case(
        "searchsorted", topi.searchsorted, lambda s, x: np.searchsorted(s, x),
        [Input(7, make=lambda rng, shape, dtype: np.sort(rng.integers(0, 9, shape))), Input("n", 5, low=0, high=10)],
    ),
    *(
        case(
            "unique", lambda x, by=by: topi.unique(x, by, True), lambda x, by=by: uniques(x, by), [Input("n", low=0, high=4)], ("int32", "int64", "float32"),
            is_empty=False, label=str(by), **ORDERED,
        )
        for by in (True, False)
    ),
    case("unique", lambda x: topi.unique(x), lambda x: uniques(x, True)[:4], [Input("n", low=0, high=4)], ("int32",), is_empty=False, label="no counts", **ORDERED),
]  # fmt: skip
REDUCED = [
    case("argmax", lambda x: topi.argmax(x, axis=1), lambda x: x.argmax(1).astype("int32")),
    case("argmax", lambda x: topi.argmax(x, 1, select_last_index=True), last(np.argmax), label="last"),
    case("argmin", lambda x: topi.argmin(x, 1, False, True), last(np.argmin), label="last"),
    case(
        "reduction.argmax", lambda x: topi.reduction.argmax(x, None, False, True), lambda x: np.asarray(x.size - 1 - x.ravel()[::-1].argmax(), "int32"),
        is_empty=False, label="all",
    ),
    case("cumsum", lambda x: topi.cumsum(x), lambda x: running(np.cumsum, x), [Input("n", 3, low=-1, high=2)], by_stages=False, tolerance=1e-2),
    case("cumsum", lambda x: topi.cumsum(x, 1, "int32", True), lambda x: np.cumsum(x, 1, "int32") - x, dtypes=("int8", "int32"), label="exclusive", by_stages=False),
    case("cumprod", lambda x: topi.cumprod(x, axis=0), lambda x: running(lambda a, dtype: np.cumprod(a, 0, dtype), x), [Input("n", 3, low=0, high=2)], by_stages=False, tolerance=1e-2),
]  # fmt: skip
REDUCED += [
    case("scanop", lambda x: topi.scanop(x, te.max, te.min_value(x.dtype), "running_max", 1), lambda x: np.maximum.accumulate(x, 1), by_stages=False),
    case(
        "scanop", lambda x: topi.scan.scanop(x, lambda a, b: a + b, 0, "sums", 0, "int32", True), lambda x: np.cumsum(x, 0, "int32") - x,
        dtypes=("int8", "int32"), label="exclusive", by_stages=False,
    ),
]  # fmt: skip
CHANGED = [
    case("scatter", lambda x, i, y: topi.scatter(x, i, y, 1), lambda x, i, y: updated(x, rows_and(i), y, "update"), [*ROWS, Input("n", 3, dtype="int64", make=places), Input("n", 3)], **ORDERED),
    case("scatter_add", lambda x, i, y: topi.scatter_add(x, i, y, 1), lambda x, i, y: updated(x, rows_and(i), y, "add"), [*ROWS, Input("n", 3, dtype="int64", low=0, high=7), Input("n", 3, low=0, high=3)], **ORDERED),
    case("scatter_elements", lambda x, i, y: topi.scatter_elements(x, i, y, 1, "add"), lambda x, i, y: updated(x, rows_and(i), y, "add"), [*ROWS, Input("n", 3, dtype="int64", low=0, high=7), Input("n", 3, low=0, high=3)], **ORDERED),
    case("scatter_nd", lambda x, i, y: topi.scatter_nd(x, i, y, "add"), lambda x, i, y: updated(x, (i[0], i[1]), y, "add"), [Input(3, 5, low=0, high=3), Input(2, "n", dtype="int32", low=0, high=3), Input("n", low=0, high=3)], INTS, **ORDERED),
]  # fmt: skip


def dense(values, columns, begins, b):
    matrix = np.zeros((3, 7), values.dtype)
    for row in range(3):
        for at in range(begins[row], begins[row + 1]):
            matrix[row, columns[at]] += values[at]
    return matrix.astype("float64") @ b


SPARSE_MATRIX = [
    Input(5, low=1), Input(5, dtype="int32", make=lambda rng, shape, dtype: [0, 6, 2, 3, 5]),
    Input(4, dtype="int32", make=lambda rng, shape, dtype: [0, 2, 2, 5]),
]  # fmt: skip
SPARSE = [
    case(
        "sparse.csrmm",
        topi.sparse.csrmm,
        dense,
        [*SPARSE_MATRIX, Input(7, 3)],
        ("float32", "float64"),
        **ORDERED,
    ),
    case(
        "sparse.csrmv",
        topi.sparse.csrmv,
        dense,
        [*SPARSE_MATRIX, Input(7, 1)],
        ("float32", "float64"),
        **ORDERED,
    ),
]


def few(rng, shape, dtype):
    """Nine places of a matrix of five rows, others are 0."""
    x = np.zeros(shape, dtype)
    x.ravel()[rng.permutation(x.size)[:9]] = 1
    return x


def parts(function):
    return lambda x, y: [each(function(x.astype("float64") + 1j * y)) for each in (np.real, np.imag)]


def windows(x, w):
    """Of 4 elements every 2, in the middle of which the window of 3 stands."""
    frames = np.lib.stride_tricks.sliding_window_view(x.astype("float64"), 4, -1)[:, ::2] * np.pad(w, (0, 1))
    made = np.fft.rfft(frames, axis=-1) / 2
    return np.stack([made.real, made.imag], -1).transpose(0, 2, 1, 3)


FLOATS = ("float32", "float64")
SIGNALS = [
    case("argwhere", lambda x: topi.argwhere([9, 2], x), lambda x: np.argwhere(x).astype("int32"), [Input(5, 7, make=few)], (*NUMBERS, "bool"), **ORDERED),
    case("signal.dft", lambda x, y: topi.signal.dft(x, y, False), parts(np.fft.fft), [Input("n", 7)] * 2, FLOATS),
    case("dft", lambda x, y: topi.dft(x, y, True), parts(np.fft.ifft), [Input("n", 7)] * 2, FLOATS, label="inverse"),
    case("stft", lambda x, w: topi.stft(x, 4, 2, 3, w, True, True, None), windows, [Input("n", 11), Input(3)], FLOATS),
]  # fmt: skip

CASES = [*SIGNALS, *SORTED, *REDUCED, *CHANGED, *SPARSE]
