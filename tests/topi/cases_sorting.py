"""Cases of order, of changes at places that are data, and of products."""

import numpy as np
from topi.table import INTS, NUMBERS, Case, Input

from tilewright import topi

# what is sorted has few different values, so that positions of equal ones count
ROWS = [Input("n", 7, low=-2, high=3)]


def positions(x, axis=-1, descending=False, dtype="int32"):
    keys = -x.astype("float64") if descending else x
    return np.argsort(keys, axis=axis, kind="stable").astype(dtype)


def largest(x, k, is_largest=True):
    at = positions(x, -1, is_largest)[:, :k]
    return [np.take_along_axis(x, at.astype("int64"), -1), at]


def ascending(rng, shape, dtype):
    return np.sort(rng.integers(0, 9, shape), -1)


SORTED = [
    Case("topi.sort", topi.sort, np.sort, ROWS, NUMBERS),
    Case("topi.sort", lambda x: topi.sort(x, 0, True), lambda x: np.sort(x, 0)[::-1], ROWS, NUMBERS, label="descending"),
    Case("topi.argsort", topi.argsort, positions, ROWS, NUMBERS),
    Case(
        "topi.argsort", lambda x: topi.argsort(x, 0, True, "int64"), lambda x: positions(x, 0, True, "int64"), ROWS, NUMBERS,
        label="descending",
    ),
    Case("topi.topk", lambda x: topi.topk(x, 3), lambda x: largest(x, 3), ROWS, NUMBERS),
    Case(
        "topi.topk", lambda x: topi.topk(x, 2, ret_type="values", largest=False), lambda x: largest(x, 2, False)[0], ROWS, NUMBERS,
        label="values",
    ),
    Case(
        "topi.topk", lambda x: topi.topk(x, 0, ret_type="indices", dtype="int64"), lambda x: largest(x, 7)[1].astype("int64"), ROWS,
        NUMBERS, label="indices",
    ),
    Case(
        "topi.searchsorted", topi.searchsorted, lambda s, x: np.searchsorted(s, x).astype("int32"),
        [Input(7, make=ascending), Input("n", 5, low=0, high=10)], NUMBERS,
    ),
    Case(
        "topi.searchsorted", lambda s, x: topi.searchsorted(s, x, True, "int64"),
        lambda s, x: np.array([np.searchsorted(*row, "right") for row in zip(s, x, strict=True)], "int64").reshape(x.shape),
        [Input("n", 7, make=ascending), Input("n", 5, low=0, high=10)], ("float32", "float64", "int32", "int64"), label="rows",
    ),
]  # fmt: skip


def reduced(x, i, y, reduction):
    """scatter_elements along the last axis."""
    result = x.copy()
    for row, at, new in zip(result, i, y, strict=True):
        for place, value in zip(at, new, strict=True):
            row[place] = {
                "update": lambda old, new: new, "add": lambda old, new: old + new, "mul": lambda old, new: old * new,
                "min": min, "max": max,
            }[reduction](row[place], value)  # fmt: skip
    return result


def added(x, i, y):
    result = x.copy()
    np.add.at(result, (i[:, 0], i[:, 1]), y)
    return result


def put(x, i, y):
    result = x.copy()
    result[i] = y
    return result


def permutation(rng, shape, dtype):
    return rng.permutation(7)[: shape[0]]


CHANGED = [
    *(
        Case(
            "topi.scatter_elements", lambda x, i, y, how=how: topi.scatter_elements(x, i, y, -1, how),
            lambda x, i, y, how=how: reduced(x, i, y, how),
            [Input("n", 7, low=-2, high=3), Input("n", 3, dtype="int64", low=-7, high=7), Input("n", 3, low=-2, high=3)], NUMBERS, label=how,
        )
        for how in ("update", "add", "mul", "min", "max")
    ),
    Case(
        "topi.scatter_nd", lambda x, i, y: topi.scatter_nd(x, i, y, "add"), added,
        [Input(3, 5, 2, low=0, high=3), Input("n", 2, dtype="int32", low=0, high=3), Input("n", 2, low=0, high=3)], INTS,
    ),
    Case(
        "topi.scatter_nd", topi.scatter_nd, lambda x, i, y: put(x, i[:, 0], y),
        [Input("n", 5), Input(1, 1, dtype="int64", low=0, high=1), Input(1, 5)], NUMBERS, is_empty=False, label="update",
    ),
    Case(
        "topi.index_put", lambda x, i, y: topi.index_put(x, [i], y), put, [Input(7, 5), Input(3, dtype="int64", make=permutation), Input(3, 5)],
        NUMBERS,
    ),
]  # fmt: skip


def product(letters):
    def multiply(*operands):
        dtype = operands[0].dtype
        return np.einsum(
            letters, *(each.astype("float64" if dtype.kind == "f" else dtype) for each in operands)
        ).astype(dtype)

    return multiply


def wide_matmul(a, b):
    return a.astype("float64") @ b.astype("float64") if a.dtype.kind == "f" else a @ b


SMALL = {"low": -1, "high": 2}
PRODUCTS = [
    Case("topi.matmul", topi.matmul, wide_matmul, [Input("n", 5, 7, **SMALL), Input(7, 3, **SMALL)], NUMBERS),
    Case("topi.matmul", lambda a, b: topi.matmul(a, b, "int32"), lambda a, b: a.astype("int32") @ b.astype("int32"), [Input("n", 7), Input(7, 3)], ("int8", "uint8"), label="int32"),
    Case("topi.einsum", lambda a, b: topi.einsum("nij,kj->nik", a, b), product("nij,kj->nik"), [Input("n", 5, 7, **SMALL), Input(3, 7, **SMALL)], NUMBERS),
    Case("topi.einsum", lambda a: topi.einsum("nii->n", a), product("nii->n"), [Input("n", 5, 5, **SMALL)], NUMBERS, label="diagonal"),
    Case("topi.outer", topi.outer, product("i,j->ij"), [Input("n"), Input(7)], NUMBERS),
    Case(
        "topi.tensordot", topi.tensordot, product("nij,ijk->nk"), [Input("n", 5, 7, **SMALL), Input(5, 7, 3, **SMALL)], NUMBERS,
    ),
    Case(
        "topi.tensordot", lambda a, b: topi.tensordot(a, b, [[2, 1], [0, 2]]), product("nij,jki->nk"),
        [Input("n", 5, 7, **SMALL), Input(7, 3, 5, **SMALL)], NUMBERS, label="axes",
    ),
]  # fmt: skip

CASES = [*SORTED, *CHANGED, *PRODUCTS]
