"""Limits of code: candidates that are too much code, or spill, are left out before they are built."""

from designs import task_of

import tilewright as tw
from tilewright import _core, te

LIMITS = _core.CodeLimits(tw.target.Target("llvm -mcpu=znver4 -num-cores=1"))


def product():
    a, b = te.placeholder((64, 64), name="A"), te.placeholder((64, 64), name="B")
    k = te.reduce_axis((0, 64), name="k")
    return te.create_prim_func(
        [a, b, te.compute((64, 64), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")]
    )


def scheduled(rows, columns):
    """A tile of `rows` by `columns` in scope local, in vectors."""
    sch = tw.Schedule(product())
    writer = sch.cache_write("C", 0, "local")
    i, j = sch.get_loops(writer)
    i, ii = sch.split(i, [None, rows])
    j, jj = sch.split(j, [None, columns])
    sch.reorder(i, j, ii, jj)
    sch.compute_at("C", j, preserve_unit_loops=True)
    loops = sch.get_loops("C")
    sch.reorder(loops[4], loops[2], loops[3])
    sch.unroll(loops[2])
    sch.vectorize(loops[3])
    return sch


def test_values_come_from_the_machine():
    assert (LIMITS.most_statements, LIMITS.most_vector_bytes, LIMITS.register_bytes) == (1024, 512, 2048)


def test_what_fits_is_built():
    assert LIMITS.why_beyond(scheduled(8, 32)._core) == ""
    assert task_of(product()).is_measurable


def test_tiles_beyond_the_registers():
    assert (
        LIMITS.why_beyond(scheduled(16, 64)._core) == "a tile has 4096 bytes, but all vector registers 2048"
    )


def test_vectors_that_are_too_long():
    sch = tw.Schedule(product())
    i, j, _ = sch.get_loops("C")
    sch.vectorize(sch.fuse(i, j))
    assert LIMITS.why_beyond(sch._core) == "a vector would have 16384 bytes, more than 512"


def test_loops_that_are_written_out():
    sch = tw.Schedule(product())
    for loop in sch.get_loops("C")[:2]:
        sch.unroll(loop)
    assert (
        LIMITS.why_beyond(sch._core)
        == "it would be 8192 statements, more than the 1024 that the instruction cache holds"
    )
