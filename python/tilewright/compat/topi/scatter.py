"""topi.scatter, topi.scatter_add, topi.scatter_elements, topi.scatter_nd and topi.sparse in TVM's arguments."""

from tilewright import te, tir, topi

from .transform import _rows_last


def scatter(data, indices, updates, axis=0):
    """data with one element of a row set for each index."""
    return topi.scatter_elements(data, indices, updates, int(axis))


def scatter_add(data, indices, updates, axis=0):
    """data with updates added to the elements that indices choose."""
    return topi.scatter_elements(data, indices, updates, int(axis), "add")


def scatter_nd(data, indices, updates, mode="update"):
    """data changed at places whose coordinates are along the first dimension of indices."""
    return topi.scatter_nd(data, _rows_last(indices), updates, mode)


def argwhere(output_shape, condition):
    """The places where condition holds, in row-major order: a tensor of output_shape, whose first extent says how many."""
    rows, ndim = list(getattr(output_shape, "shape", output_shape))
    count = topi.flatten(condition).shape[0]
    extents = list(condition.shape)

    def held(i):
        return tir.Cast("int32", condition(*_places(i, extents)) != tir.const(0, condition.dtype))

    hits = te.compute([count], held, name="T_hits")
    before = topi.cumsum(hits, 0, exclusive=True)
    last = tir.Cast("int32", rows)
    rank = te.compute(
        [count, 1], lambda i, j: tir.Select(hits[i] != 0, tir.min(before[i], last), last), name="T_rank"
    )
    place = topi.transpose(topi.unravel_index(topi.arange(0, count, 1, "int32"), extents))
    spare = topi.scatter_nd(topi.zeros([rows + 1, ndim], "int32"), rank, place)
    return topi.strided_slice(spare, [0], [rows], axes=[0])


def _places(position, extents) -> list:
    """The index at a position in row-major order."""
    digits = []
    for extent in reversed(extents):
        digits.insert(0, position % extent)
        position = position // extent
    return digits


def _row_numbers(indptr, count):
    """For each of `count` entries the row that it stands in, of rows that begin at indptr."""
    entries = te.compute([count], lambda i: tir.Cast(indptr.dtype, i), name="T_entries")
    return topi.subtract(topi.searchsorted(indptr, entries, True, "int32"), 1)


def csrmm(a_data, a_indices, a_indptr, b):
    """The product of a sparse matrix, given as values, columns and the places where rows begin, and a dense one."""
    count, rows = a_data.shape[0], a_indptr.shape[0] - 1
    at = _row_numbers(a_indptr, count)
    terms = topi.multiply(topi.expand_dims(a_data, 1), topi.take(b, a_indices, 0))
    base = topi.zeros([rows, b.shape[1]], a_data.dtype)
    return topi.scatter_nd(base, topi.expand_dims(at, 1), terms, "add")


def csrmv(a_data, a_indices, a_indptr, x):
    """The product of a sparse matrix and a matrix of one column, as csrmm."""
    return csrmm(a_data, a_indices, a_indptr, x)


_SCATTER = {"scatter": scatter, "scatter_nd": scatter_nd}
_SPARSE = {"csrmm": csrmm, "csrmv": csrmv}
NAMES = {
    "": {**_SCATTER, "scatter_add": scatter_add, "argwhere": argwhere},
    "argwhere": {"argwhere": argwhere},
    "scatter": _SCATTER,
    "scatter_add": {"scatter_add": scatter_add},
    "sparse": _SPARSE,
    "sparse.csrmm": {"csrmm": csrmm},
    "sparse.csrmv": {"csrmv": csrmv},
}
