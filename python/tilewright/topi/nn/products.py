"""Matrix products."""

from ... import _core, tir
from ...errors import UserError
from .._arguments import _reduce_axis, _require
from .._graph import _extern, _loop, _sums

_topi = _core.topi


def _transposed(x):
    ndim = len(x.shape)
    return _topi.transpose(x, [*range(ndim - 2), ndim - 1, ndim - 2])


def matmul(a, b, out_dtype: str = "", transpose_a: bool = False, transpose_b: bool = False):
    """The product as numpy.matmul; summed in out_dtype.

    transpose_a, transpose_b  whether the last two dimensions of the operand change places first
    """
    if (transpose_a and len(a.shape) < 2) or (transpose_b and len(b.shape) < 2):
        raise UserError("matmul: a vector cannot be transposed")
    if len(a.shape) == 2 == len(b.shape) and (transpose_a or transpose_b):
        return _plain_product("matmul", a, b, out_dtype, transpose_a, transpose_b)
    a, b = _transposed(a) if transpose_a else a, _transposed(b) if transpose_b else b
    _require("matmul", a, b, of_dtype="float32")
    return _topi.matmul(a, b, out_dtype or "void")


def batch_matmul(x, y, out_dtype: str = "", transpose_a: bool = False, transpose_b: bool = True):
    """The product of each of a batch of matrices: x [b, m, k] by the transpose of y [b, n, k].

    transpose_a  whether x is [b, k, m]
    transpose_b  whether y is [b, n, k], else [b, k, n]
    """
    for each, name in ((x, "x"), (y, "y")):
        if len(each.shape) != 3:
            raise UserError(f"batch_matmul: {name} has {len(each.shape)} dimensions, expected 3")
    return _plain_product("batch_matmul", x, y, out_dtype, transpose_a, transpose_b)


def _plain_product(name: str, a, b, out_dtype: str, transpose_a: bool, transpose_b: bool):
    """The product of matrices, or of batches of them, where they lie."""
    _require("matmul", _turned(a, transpose_a), _turned(b, transpose_b), of_dtype="float32")
    rows, inner = list(a.shape[-2:])[:: -1 if transpose_a else 1]
    columns = b.shape[-2] if transpose_b else b.shape[-1]
    k = _reduce_axis(inner, "k")
    batch = [] if len(a.shape) == 2 else [_larger(a.shape[0], b.shape[0])]

    def term(*indices):
        i, j = indices[-2:]
        left = [k.var, i] if transpose_a else [i, k.var]
        right = [j, k.var] if transpose_b else [k.var, j]
        return a, [*_batch(a, indices), *left], b, [*_batch(b, indices), *right]

    return _sums([*batch, rows, columns], term, [k], out_dtype or a.dtype, name)


def _larger(a, b):
    return b if getattr(a, "value", a) == 1 else a


def _batch(x, indices) -> list:
    if len(x.shape) == 2:
        return []
    return [tir.const_like(0, indices[0]) if getattr(x.shape[0], "value", 0) == 1 else indices[0]]


def _turned(x, is_turned: bool):
    """A tensor like `x` or its transpose, to ask whether a product is possible."""
    return _transposed(x) if is_turned else x


def dense(data, weight, bias=None, out_dtype: str = ""):
    """data [m, k] times the transpose of weight [n, k], and bias [n] if given."""
    if len(data.shape) != 2:
        raise UserError(f"dense: data has shape [{', '.join(map(str, data.shape))}], expected 2 dimensions")
    _require("linear", data, weight, *([] if bias is None else [bias]), of_dtype="float32")
    product = _topi.dense(data, weight, out_dtype or "void")
    return product if bias is None else _topi.add(product, bias)


def sparse_dense(data, values, indices, indptr):
    """data [m, k] times the transpose of a sparse matrix [n, k], whose rows are given one after the other (CSR).

    values   [number of elements], of the dtype of data
    indices  [number of elements], the column of each
    indptr   [n + 1], where the elements of each row begin
    """
    shapes = (2, 1, 1, 1)
    for each, name, ndim in zip(
        (data, values, indices, indptr), ("data", "values", "indices", "indptr"), shapes, strict=True
    ):
        if len(each.shape) != ndim:
            raise UserError(f"sparse_dense: {name} has {len(each.shape)} dimensions, expected {ndim}")
    if values.dtype != data.dtype:
        raise UserError(f"sparse_dense: data is {data.dtype}, values is {values.dtype}")
    rows, outputs = data.shape[0], indptr.shape[0] - 1

    def body(ins, outs):
        x, elements, places, starts = ins
        i, j = (tir.Var(name, "int32") for name in "ij")
        begin, end = starts[j], starts[j + 1]
        k = tir.Var("k", begin.dtype)
        at = begin + k
        step = tir.BufferStore(outs[0], outs[0][i, j] + x[i, places[at]] * elements[at], [i, j])
        inner = tir.SeqStmt(
            [tir.BufferStore(outs[0], tir.const(0, data.dtype), [i, j]), _loop(k, end - begin, step)]
        )
        return _loop(i, rows, _loop(j, outputs, inner))

    return _extern("sparse_dense", [data, values, indices, indptr], [([rows, outputs], data.dtype)], body)[0]
