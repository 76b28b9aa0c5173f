"""Scheduled programs with threads become kernels: the numbers stay, step by step, and barriers are where they are needed."""

import random
import re

import numpy as np
import pytest
from devices.schedules import integers, local_blocking, matmul, shared_blocking
from lowered_kernels import kernel_of

import tilewright as tw
from tilewright.script import tir as T

TARGETS = ["cuda", "opencl"]


def barriers(func) -> int:
    return len(re.findall(r'tvm_storage_sync\("shared"\)', str(func)))


def check_matmul(sch, n, m, k, target):
    """The lowered kernel, run thread by thread, has no race and the numbers of numpy."""
    kernel = kernel_of(sch.mod["main"], target)
    a, b, c = integers(n, k), integers(k, m), np.full((n, m), 7, "float32")
    tw.tir.interpret(kernel, a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    return kernel


# ---- chapter 6.1 of the course


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n, m, k", [(32, 32, 16), (48, 16, 32)])
def test_blocks_of_registers_need_no_barrier(n, m, k, target):
    sch = tw.Schedule(matmul(n, m, k))
    local_blocking(sch, 4, 4, 4)
    assert barriers(check_matmul(sch, n, m, k, target)) == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n, m, k", [(32, 32, 16), (48, 16, 32)])
def test_tiles_in_shared_memory_need_two_barriers(n, m, k, target):
    sch = tw.Schedule(matmul(n, m, k))
    shared_blocking(sch, 4, 4, 8)
    kernel = check_matmul(sch, n, m, k, target)
    assert barriers(kernel) == 2
    text = str(kernel)
    assert re.findall(r"\w+ = T\.\w+_buffer\(\((\d+),\).*scope=\"shared\"", text) == ["128", "128"]
    assert "T.Ramp" in text or ":" in text  # copies of four elements stay vectors


@pytest.mark.parametrize("number", [0, 1])
def test_each_barrier_is_needed(number):
    sch = tw.Schedule(matmul(32, 32, 16))
    shared_blocking(sch, 4, 4, 8)
    lines = str(kernel_of(sch.mod["main"], "opencl")).splitlines()
    places = [n for n, line in enumerate(lines) if "tvm_storage_sync" in line]
    assert len(places) == 2
    del lines[places[number]]
    kernel = tw.script.parse("\n".join(line for line in lines if not line.startswith("#")))
    a, b, c = integers(32, 16), integers(16, 32), np.zeros((32, 32), "float32")
    with pytest.raises(tw.UserError, match="with no barrier between|before anything is written"):
        tw.tir.interpret(kernel, a, b, c)


# ---- reductions that threads share


def row_sum(rows, columns):
    @T.prim_func
    def main(A: T.Buffer((rows, columns), "float32"), B: T.Buffer((rows,), "float32")):
        for i, k in T.grid(rows, columns):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]

    return main


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("threads", [1, 5, 16, 32, 64, 96])
@pytest.mark.parametrize("rows, columns", [(3, 64), (5, 127), (2, 1)])
def test_threads_sum_a_row(rows, columns, threads, target):
    sch = tw.Schedule(row_sum(rows, columns))
    i, k = sch.get_loops("B")
    _, part = sch.split(k, [None, threads])
    sch.bind(i, "blockIdx.x")
    sch.bind(part, "threadIdx.x")
    kernel = kernel_of(sch.mod["main"], target)
    a, b = integers(rows, columns), np.full(rows, 7, "float32")
    tw.tir.interpret(kernel, a, b)
    np.testing.assert_array_equal(b, a.sum(1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows, columns", [(8, 64), (7, 127)])
def test_several_rows_in_a_block(rows, columns, target):
    sch = tw.Schedule(row_sum(rows, columns))
    i, k = sch.get_loops("B")
    block, row = sch.split(i, [None, 4])
    _, part = sch.split(k, [None, 16])
    sch.bind(block, "blockIdx.x")
    sch.bind(row, "threadIdx.y")
    sch.bind(part, "threadIdx.x")
    kernel = kernel_of(sch.mod["main"], target)
    a, b = integers(rows, columns), np.full(rows, 7, "float32")
    tw.tir.interpret(kernel, a, b)
    np.testing.assert_array_equal(b, a.sum(1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns, threads", [(64, 32), (127, 16), (40, 64)])
def test_threads_find_the_first_maximum(columns, threads, target):
    @T.prim_func
    def main(A: T.Buffer((3, columns), "float32"), I: T.Buffer((3,), "int32"), M: T.Buffer((3,), "float32")):  # noqa: E741
        for i, k in T.grid(3, columns):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    I[vi] = -1
                    M[vi] = T.min_value("float32")
                v_i: T.int32 = T.Select(M[vi] >= A[vi, vk], I[vi], vk)
                v_m: T.float32 = T.Select(M[vi] >= A[vi, vk], M[vi], A[vi, vk])
                I[vi] = v_i
                M[vi] = v_m

    sch = tw.Schedule(main)
    i, k = sch.get_loops("M")
    part, _ = sch.split(k, [threads, None])
    sch.bind(i, "blockIdx.x")
    sch.bind(part, "threadIdx.x")
    kernel = kernel_of(sch.mod["main"], target)
    a = integers(3, columns)
    places, most = np.zeros(3, "int32"), np.zeros(3, "float32")
    tw.tir.interpret(kernel, a, places, most)
    np.testing.assert_array_equal(most, a.max(1))
    np.testing.assert_array_equal(places, a.argmax(1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [0, 1, 5, 8])
@pytest.mark.parametrize("is_around", [False, True])
def test_a_sum_of_an_open_number_of_terms(n, is_around, target):
    """The threads that have them are in the nest of the sum, or around it; of none the sum is 0."""
    inner = "for i in range(3):\n            " if is_around else ""
    text = f"""
@T.prim_func
def main(n: T.int32, A: T.Buffer((8,), "float32"), B: T.Buffer((3,), "float32"), C: T.Buffer((8,), "float32")):
    for k in T.thread_binding(8, "threadIdx.x"):
        {inner}with T.block("B"):
            {"    " if is_around else ""}T.where(k < n)
            {"    " if is_around else ""}vi = T.axis.spatial(3, {"i" if is_around else "1"})
            {"    " if is_around else ""}vk = T.axis.reduce(n, k)
            {"    " if is_around else ""}with T.init():
            {"    " if is_around else ""}    B[vi] = T.float32(0)
            {"    " if is_around else ""}B[vi] = B[vi] + A[vk]
        with T.block("C"):
            vk = T.axis.spatial(8, k)
            C[vk] = T.float32(1)
"""
    kernel = kernel_of(tw.script.parse(text), target)
    a, b, c = integers(8), np.full(3, 7, "float32"), np.zeros(8, "float32")
    tw.tir.interpret(kernel, n, a, b, c)
    np.testing.assert_array_equal(b[:] if is_around else b[1:2], a[:n].sum())
    np.testing.assert_array_equal(c, 1)


# ---- random schedules


def random_schedule(rng, n, m, k):
    sch = tw.Schedule(matmul(n, m, k))
    block = sch.get_block("C")
    i, j, kk = sch.get_loops(block)
    threads = rng.choice([2, 4, 8])
    i0, i1, i2 = sch.split(i, [None, threads, rng.choice([1, 2, 3])])
    j0, j1, j2 = sch.split(j, [None, rng.choice([1, 4]), rng.choice([1, 2])])
    k0, k1 = sch.split(kk, [None, rng.choice([1, 3, 4])])
    inner = [k1, i2, j2]
    rng.shuffle(inner)
    sch.reorder(i0, j0, i1, j1, k0, *inner)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    sch.bind(i1, "threadIdx.y")
    sch.bind(j1, "threadIdx.x")
    if rng.random() < 0.7:
        local = sch.cache_write(block, 0, rng.choice(["local", "shared"]))
        sch.reverse_compute_at(local, j1)
    for number in (0, 1):
        if rng.random() < 0.7:
            copy = sch.cache_read(block, number, "shared")
            sch.compute_at(copy, rng.choice([k0, j1]))
            if rng.random() < 0.7:
                fused = sch.fuse(*sch.get_loops(copy)[-2:])
                _, part = sch.split(fused, [None, threads])
                sch.bind(part, "threadIdx.y")
    return sch


@pytest.mark.parametrize("seed", range(40))
def test_random_schedules_have_no_race(seed):
    rng = random.Random(seed)
    n, m, k = rng.choice([(16, 8, 12), (7, 5, 9), (13, 8, 7)])
    try:
        sch = random_schedule(rng, n, m, k)
    except tw.UserError:
        pytest.skip("not legal")
    check_matmul(sch, n, m, k, rng.choice(TARGETS))
