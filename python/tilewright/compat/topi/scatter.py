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
    "": {**_SCATTER, "scatter_add": scatter_add},
    "scatter": _SCATTER,
    "scatter_add": {"scatter_add": scatter_add},
    "sparse": _SPARSE,
    "sparse.csrmm": {"csrmm": csrmm},
    "sparse.csrmv": {"csrmv": csrmv},
}
