"""tvm.contrib.cblas: products of matrices by a library that is called while the program runs, which is numpy's."""

import numpy

from tilewright import runtime, te, tir
from tilewright.errors import UserError


def _product(lhs, rhs, out, transa: bool = False, transb: bool = False) -> None:
    a, b = numpy.from_dlpack(lhs), numpy.from_dlpack(rhs)
    a = a.swapaxes(-1, -2) if transa else a
    b = b.swapaxes(-1, -2) if transb else b
    numpy.matmul(a, b, out=numpy.from_dlpack(out))


def _extern(name: str, rank: int, lhs, rhs, transa: bool, transb: bool, options: dict):
    for tensor in (lhs, rhs):
        if len(tensor.shape) != rank:
            raise UserError(
                f"cblas.{name}: {tensor.name} has {len(tensor.shape)} dimensions, expected {rank}"
            )
    rows, columns = lhs.shape[-1 if transa else -2], rhs.shape[-2 if transb else -1]
    return te.extern(
        (*lhs.shape[:-2], rows, columns),
        [lhs, rhs],
        lambda ins, outs: tir.call_packed(
            f"tvm.contrib.cblas.{name}", ins[0], ins[1], outs[0], transa, transb
        ),
        name=options.get("name", "C"),
        dtype=options.get("dtype", lhs.dtype),
    )


def matmul(lhs, rhs, transa: bool = False, transb: bool = False, **kwargs):
    """The product of two matrices, of which each may be transposed first.

    name   of the result; default "C"
    dtype  of the result; default that of lhs
    >>> a, b = tilewright.te.placeholder((5, 7)), tilewright.te.placeholder((7, 3))
    >>> [int(extent) for extent in tilewright.compat.contrib.cblas.matmul(a, b).shape]
    [5, 3]
    """
    return _extern("matmul", 2, lhs, rhs, transa, transb, kwargs)


def batch_matmul(lhs, rhs, transa: bool = False, transb: bool = False, iterative: bool = False, **kwargs):
    """The products of two batches of matrices."""
    return _extern("batch_matmul", 3, lhs, rhs, transa, transb, kwargs)


for _name in ("matmul", "batch_matmul"):
    runtime.register_func(f"tvm.contrib.cblas.{_name}", _product)
