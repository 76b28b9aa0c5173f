"""The schedules of GPU programs that the course teaches: proved step by step, and run by the interpreter as threads of blocks."""

import numpy as np
import pytest
from primitive_testing import schedule_of

import tilewright
from tilewright.script import tir as T


@T.prim_func
def matmul(
    A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")
):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def in_registers(sch):
    """Each thread computes 2 x 2 elements, 16 threads a block; returns the loops of threads and the outer one of the sum."""
    local = sch.cache_write("C", 0, "local")
    i, j, k = sch.get_loops("C")
    i0, i1, i2 = sch.split(i, [None, 4, 2])
    j0, j1, j2 = sch.split(j, [None, 4, 2])
    k0, k1 = sch.split(k, [None, 8])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(local, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    return i1, j1, k0


def copied_by_threads(sch, read, k0):
    """The operand in shared memory, copied by all threads of the block in vectors of four; returns the copy."""
    copy = sch.cache_read("C", read, "shared")
    sch.compute_at(copy, k0)
    fused = sch.fuse(*sch.get_loops(copy)[-2:])
    _, thread, vector = sch.split(fused, [None, 16, 4])
    sch.vectorize(vector)
    sch.bind(thread, "threadIdx.x")
    return copy


def test_matmul_with_blocks_in_registers():
    sch = schedule_of(matmul)
    i1, j1, k0 = in_registers(sch)
    sch.bind(i1, "threadIdx.y")
    sch.bind(j1, "threadIdx.x")
    sch.decompose_reduction("C", k0)
    sch.verify()


def test_matmul_whose_threads_fill_shared_memory_together():
    sch = schedule_of(matmul)
    i1, j1, k0 = in_registers(sch)
    sch.bind(sch.fuse(i1, j1), "threadIdx.x")
    copies = [copied_by_threads(sch, read, k0) for read in (0, 1)]
    sch.decompose_reduction("C", k0)
    # what one step of the outer loop of the sum needs: 8 rows of 8, not all 32 columns
    for copy in copies:
        extents = [int(sch.get(loop).extent) for loop in sch.get_loops(copy)[-3:]]
        assert extents == [1, 16, 4]
    sch.verify()


def test_a_copy_of_the_whole_sum_before_its_loop():
    """Outside of the loop of the sum, one copy has all of it."""
    sch = schedule_of(matmul)
    i1, j1, _ = in_registers(sch)
    thread = sch.fuse(i1, j1)
    sch.bind(thread, "threadIdx.x")
    copy = sch.cache_read("C", 0, "shared")
    sch.compute_at(copy, thread)
    assert [int(sch.get(loop).extent) for loop in sch.get_loops(copy)[-2:]] == [8, 32]
    sch.verify()


@T.prim_func
def reads_neighbours_private_memory(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    L = T.alloc_buffer((8,), scope="local")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        with T.block("L"):
            vi = T.axis.spatial(8, i)
            L[vi] = A[vi]
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            T.where(i < 7)
            B[vi] = L[vi + 1]


def test_memory_of_another_thread_is_not_there():
    a, b = np.ones(8, "float32"), np.zeros(8, "float32")
    with pytest.raises(tilewright.UserError) as error:
        tilewright.tir.interpret(reads_neighbours_private_memory, a, b)
    assert (
        str(error.value).splitlines()[0]
        == "error: L[1] is read before anything is written to it at i = 0, vi = 0"
    )


@T.prim_func
def fills_an_argument(A: T.Buffer((128,), "float32")):
    _ = T.launch_thread("threadIdx.x", 32)
    T.evaluate(T.mma_fill("float32", 4, A.data, 0))


def test_an_argument_that_may_not_be_written():
    a = np.ones(128, "float32")
    a.flags.writeable = False
    with pytest.raises(tilewright.UserError) as error:
        tilewright.tir.interpret(fills_an_argument, a)
    assert (
        str(error.value).splitlines()[0]
        == "error: mma_fill: bytes 0 to 15 of A are written, but the argument is read only at _ = 0"
    )
