"""Programs with schedules of the course (chapter 6.1) for tests of devices."""

import numpy as np

import tilewright as tw
from tilewright.script import tir as T


def matmul(n, m, k):
    @T.prim_func
    def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((k, m), "float32"), C: T.Buffer((n, m), "float32")):
        for i, j, kk in T.grid(n, m, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    return main


def naive(sch):
    i, j, _ = sch.get_loops("C")
    i0, i1 = sch.split(i, [None, 8])
    j0, j1 = sch.split(j, [None, 8])
    sch.reorder(i0, j0, i1, j1)
    for loop, axis in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i1, "threadIdx.y"), (j1, "threadIdx.x")):
        sch.bind(loop, axis)


def tiles_in_registers(sch, tile_local, tile_block, tile_k):
    """Splits the product into tiles of blocks, threads and registers; the block, and its loops i1, j1, k0 and k1."""
    block = sch.get_block("C")
    local = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    i0, i1, i2 = sch.split(i, [None, tile_block, tile_local])
    j0, j1, j2 = sch.split(j, [None, tile_block, tile_local])
    k0, k1 = sch.split(k, [None, tile_k])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(local, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    return block, i1, j1, k0, k1


def local_blocking(sch, tile_local=4, tile_block=4, tile_k=4):
    block, i1, j1, k0, k1 = tiles_in_registers(sch, tile_local, tile_block, tile_k)
    sch.unroll(k1)
    sch.bind(i1, "threadIdx.y")
    sch.bind(j1, "threadIdx.x")
    sch.decompose_reduction(block, k0)


def shared_blocking(sch, tile_local=4, tile_block=4, tile_k=8):
    """With the threads of a block fetching its tiles together."""
    block, i1, j1, k0, _ = tiles_in_registers(sch, tile_local, tile_block, tile_k)
    sch.bind(sch.fuse(i1, j1), "threadIdx.x")
    for number in (0, 1):
        copy = sch.cache_read(block, number, "shared")
        sch.compute_at(copy, k0)
        inner = sch.fuse(*sch.get_loops(copy)[-2:])
        _, part, vector = sch.split(inner, [None, tile_block * tile_block, 4])
        sch.vectorize(vector)
        sch.bind(part, "threadIdx.x")
    sch.decompose_reduction(block, k0)


def softmax(n, m):
    @T.prim_func
    def main(X: T.Buffer((n, m), "float32"), Y: T.Buffer((n, m), "float32")):
        M = T.alloc_buffer((n,), scope="shared")
        S = T.alloc_buffer((n,), scope="shared")
        for i, k in T.grid(n, m):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.min_value("float32")
                M[vi] = T.max(M[vi], X[vi, vk])
        for i, k in T.grid(n, m):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + T.exp(X[vi, vk] - M[vi])
        for i, k in T.grid(n, m):
            with T.block("Y"):
                vi, vk = T.axis.remap("SS", [i, k])
                Y[vi, vk] = T.exp(X[vi, vk] - M[vi]) / S[vi]

    return main


def row_by_threads(sch, threads=16):
    """One block for each row: its threads reduce it together."""
    i, k = sch.get_loops("Y")
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(k, [None, threads])[1], "threadIdx.x")
    for name in ("S", "M"):
        sch.compute_at(sch.get_block(name), i)
        sch.bind(sch.split(sch.get_loops(name)[-1], [None, threads])[1], "threadIdx.x")


MATMULS = {"naive": naive, "local_blocking": local_blocking, "shared_blocking": shared_blocking}


def scheduled(program, schedule):
    sch = tw.Schedule(program)
    schedule(sch)
    return sch.mod


def integers(*shape):
    return np.random.default_rng(0).integers(-4, 5, shape).astype("float32")


def numbers_of(module, target, *arrays, shape):
    """What `main` writes to its last parameter."""
    out = tw.tensor(np.full(shape, 7, "float32"), target)
    module["main"](*[tw.tensor(each, target) for each in arrays], out)
    return out.numpy()
