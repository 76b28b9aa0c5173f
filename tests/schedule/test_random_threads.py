"""Random schedules with threads: the interpreter runs them as blocks of threads, before and after lowering, with numpy's numbers.

And what is broken in them on purpose is found: a barrier that is missing, a loop bound to something else.
"""

import random
import re

import numpy as np
import pytest
from lowered_kernels import kernel_of
from primitive_testing import schedule_of

import tilewright
from tilewright.script import tir as T

NUM_SCHEDULES = 300
NUM_PARTS = 60  # tests


def matmul(n, m, k):
    @T.prim_func
    def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((k, m), "float32"), C: T.Buffer((n, m), "float32")):
        for i, j, kk in T.grid(n, m, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    return main, lambda a, b: a @ b


def conv(channels, size, kernel):
    out = size - kernel + 1

    @T.prim_func
    def main(
        A: T.Buffer((channels, size, size), "float32"),
        W: T.Buffer((4, channels, kernel, kernel), "float32"),
        C: T.Buffer((4, out, out), "float32"),
    ):
        for o, y, x, c, dy, dx in T.grid(4, out, out, channels, kernel, kernel):
            with T.block("C"):
                vo, vy, vx, vc, vdy, vdx = T.axis.remap("SSSRRR", [o, y, x, c, dy, dx])
                with T.init():
                    C[vo, vy, vx] = T.float32(0)
                C[vo, vy, vx] = C[vo, vy, vx] + A[vc, vy + vdy, vx + vdx] * W[vo, vc, vdy, vdx]

    def numbers(a, w):
        c = np.zeros((4, out, out), "float32")
        for dy in range(kernel):
            for dx in range(kernel):
                c += np.einsum("cyx,oc->oyx", a[:, dy : dy + out, dx : dx + out], w[:, :, dy, dx])
        return c

    return main, numbers


def softmax(rows, columns):
    @T.prim_func
    def main(A: T.Buffer((rows, columns), "float32"), B: T.Buffer((rows, columns), "float32")):
        M = T.alloc_buffer((rows,))
        S = T.alloc_buffer((rows,))
        for i, k in T.grid(rows, columns):
            with T.block("M"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    M[vi] = T.min_value("float32")
                M[vi] = T.max(M[vi], A[vi, vk])
        for i, k in T.grid(rows, columns):
            with T.block("S"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] = S[vi] + T.exp(A[vi, vk] - M[vi])
        for i, j in T.grid(rows, columns):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.exp(A[vi, vj] - M[vi]) / S[vi]

    def numbers(a):
        e = np.exp(a - a.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return main, numbers


def transpose(rows, columns):
    @T.prim_func
    def main(A: T.Buffer((rows, columns), "float32"), B: T.Buffer((columns, rows), "float32")):
        for i, j in T.grid(columns, rows):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]

    return main, lambda a: a.T


# ---- schedules: each step is tried, and left out where it is refused


class Trial:
    """A schedule, and a random number generator that chooses its steps."""

    REFUSED = object()

    def __init__(self, program, seed, is_even):
        self.sch = schedule_of(program)
        self.random = random.Random(seed)
        self.is_even = is_even  # all sizes are powers of two

    def attempt(self, step, *args):
        """What the step returns; REFUSED if it is."""
        try:
            return step(*args)
        except (tilewright.UserError, tilewright.Unsupported):
            return Trial.REFUSED

    def maybe(self, step, *args):
        if self.random.random() < 0.5:
            self.attempt(step, *args)

    def own_kernel(self, block):
        """The block becomes a kernel: what it writes goes through memory."""
        self.sch.set_scope(block, 0, "global")
        self.sch.bind(self.sch.get_loops(block)[0], "blockIdx.x")

    def tiles(self, loop, most):
        """The loop in three: blocks, threads, elements."""
        pick = self.random.choice
        threads = [n for n in (1, 2, 3, 4) if n <= most and (n != 3 or not self.is_even)]
        return self.sch.split(loop, [None, pick(threads), pick([1, 2, 2 if self.is_even else 3])])


def tiled(trial, block, num_spatial):
    """Tiles of a sum in registers, its operands in shared memory that all threads fill, in vectors or not."""
    sch, pick = trial.sch, trial.random.choice
    local = sch.cache_write(block, 0, "local") if pick([True, False]) else None
    loops = sch.get_loops(block)
    parts = [trial.tiles(loop, 4) for loop in loops[:num_spatial]]
    sums = loops[num_spatial:]
    k0, k1 = sch.split(sums[0], [None, pick([1, 2, 4])])
    blocks, threads, elements = (list(each) for each in zip(*parts))
    sch.reorder(*blocks, *threads, k0, *sums[1:], k1, *elements)
    if local is not None and trial.attempt(sch.reverse_compute_at, local, threads[-1]) is Trial.REFUSED:
        sch.set_scope(block, 0, "global")  # a kernel of its own copies the result
        sch.bind(sch.get_loops(local)[0], "threadIdx.x")
    sch.bind(sch.fuse(*blocks), "blockIdx.x")
    thread = sch.fuse(*threads)
    extent = int(sch.get(thread).extent)
    sch.bind(thread, "threadIdx.x")
    for read in (0, 1):
        if pick([True, False]):
            cooperative_copy(trial, block, read, pick([k0, thread]), extent)
        if pick([True, False, False]):
            sch.compute_at(sch.cache_read(block, read, "local"), k1)
    trial.maybe(sch.decompose_reduction, block, k0)
    trial.maybe(sch.unroll, elements[-1])


def cooperative_copy(trial, block, read, place, num_threads):
    """What the threads of a block need of an operand, copied by all of them."""
    sch = trial.sch
    copy = sch.cache_read(block, read, "shared")
    if trial.attempt(sch.compute_at, copy, place) is Trial.REFUSED:
        trial.own_kernel(copy)
        return
    name = sch.get(place).loop_var.name
    names = [sch.get(loop).loop_var.name for loop in sch.get_loops(copy)]
    own = sch.get_loops(copy)[names.index(name) + 1 :]
    if not own:
        return
    lanes = trial.random.choice([1, 1, 2, 4])
    _, thread, vector = sch.split(sch.fuse(*own), [None, num_threads, lanes])
    trial.attempt(sch.bind, thread, "threadIdx.x")  # else all threads copy all
    if lanes > 1:
        trial.maybe(sch.vectorize, vector)


def sum_by_threads(trial, block, num_spatial):
    """Threads share the terms of each sum, on one axis or two."""
    sch, pick = trial.sch, trial.random.choice
    loops = sch.get_loops(block)
    sch.fuse(*loops[:num_spatial])
    inner = sch.fuse(*loops[num_spatial:])
    k0, k1 = sch.split(inner, [None, pick([2, 4 if trial.is_even else 3, 8])])
    if pick([True, False]):
        sch.reorder(k1, k0)
    if pick([True, False, False]):
        part = trial.attempt(sch.rfactor, k1, 0)
        if part is not Trial.REFUSED:
            k1 = sch.get_loops(block)[-1]
            sch.set_scope(part, 0, pick(["local", "shared"]))
            if trial.attempt(sch.compute_at, part, k1) is Trial.REFUSED:
                trial.own_kernel(part)
    outer = sch.get_loops(block)[0]
    if pick([True, False]):
        outer, rows = sch.split(outer, [None, pick([2, 2 if trial.is_even else 3])])
        sch.bind(rows, "threadIdx.y")
    sch.bind(outer, "blockIdx.x")
    trial.attempt(sch.bind, k1, "threadIdx.x")


def rows_by_threads(trial):
    """Softmax: all stages of a row in one block."""
    sch, pick = trial.sch, trial.random.choice
    threads = pick([2, 4, 8] if trial.is_even else [2, 4, 5, 8])
    i, j = sch.get_loops("B")
    if pick([True, False]):
        i, row = sch.split(i, [None, pick([2, 2 if trial.is_even else 3])])
        sch.bind(row, "threadIdx.y")
    else:
        row = i
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(j, [None, threads])[1], "threadIdx.x")
    for stage in ("S", "M"):
        sch.set_scope(stage, 0, pick(["shared", "local"]))
        if trial.attempt(sch.compute_at, stage, row) is Trial.REFUSED:
            trial.own_kernel(stage)
            continue
        outer, inner = sch.split(sch.get_loops(stage)[-1], [None, threads])
        if pick([True, False]):
            sch.reorder(inner, outer)
        sch.bind(inner, "threadIdx.x")


def through_shared_memory(trial):
    sch, pick = trial.sch, trial.random.choice
    tile = pick([2, 4] if trial.is_even else [2, 4, 5])
    i, j = sch.get_loops("B")
    i0, i1 = sch.split(i, [None, tile])
    j0, j1 = sch.split(j, [None, tile])
    sch.reorder(i0, j0, i1, j1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    first, second = pick([("x", "y"), ("y", "x")])
    sch.bind(i1, f"threadIdx.{first}")
    sch.bind(j1, f"threadIdx.{second}")
    if pick([True, True, False]):
        copy = sch.cache_read("B", 0, "shared")
        sch.compute_at(copy, j0)
        row, column = sch.get_loops(copy)[-2:]
        trial.attempt(sch.bind, row, "threadIdx.y")
        trial.attempt(sch.bind, column, "threadIdx.x")
        trial.maybe(sch.storage_align, copy, 0, -2, tile, 1)


def scheduled(seed, kind, is_even):
    """The schedule of a program with threads, and the function that computes its result."""
    pick = random.Random(seed).choice
    if kind in (0, 1):
        sizes = [[8, 16]] * 3 if is_even else ([5, 7, 12], [5, 8, 9], [4, 7, 11])
        program, numbers = matmul(*map(pick, sizes))
    elif kind == 2:
        program, numbers = conv(pick([2, 3]), pick([5, 6]), pick([2, 3]))
    elif kind == 3:
        program, numbers = softmax(*map(pick, ([4, 8], [8, 16]) if is_even else ([3, 5], [7, 13, 16])))
    else:
        program, numbers = transpose(*map(pick, ([8], [8, 16]) if is_even else ([5, 7, 8], [3, 9, 16])))
    trial = Trial(program, seed, is_even)
    if kind == 0 or (kind == 2 and seed % 2):
        tiled(trial, "C", 2 if kind == 0 else 3)
    elif kind in (1, 2):
        sum_by_threads(trial, "C", 2 if kind == 1 else 3)
    elif kind == 3:
        rows_by_threads(trial)
    else:
        through_shared_memory(trial)
    return trial.sch, numbers


def made(seed, is_even=False):
    """A program with threads, its arguments but the last, which is the result, and the numbers of that."""
    for again in range(10):
        try:
            sch, numbers = scheduled(seed + again * NUM_SCHEDULES, seed % 5, is_even)
        except tilewright.UserError:
            continue  # a step that has to be made is refused
        func = sch.mod["main"]
        draw = np.random.default_rng(seed)
        shapes = [[int(n) for n in buffer.shape] for buffer in func.buffers]
        args = [draw.integers(-3, 4, shape).astype("float32") for shape in shapes[:-1]]
        return func, args, numbers(*args)
    raise AssertionError(f"no schedule of seed {seed} is legal")


def run(func, args, expected):
    """Interprets the function; the result, which begins as NaN."""
    result = np.full(expected.shape, np.nan, "float32")
    tilewright.tir.interpret(func, *args, result)
    return result


@pytest.mark.parametrize("part", range(NUM_PARTS))
def test_random_schedules_compute_the_same(part):
    for seed in range(part, NUM_SCHEDULES, NUM_PARTS):
        func, args, expected = made(seed)
        for each in (func, kernel_of(func, "cuda")):
            np.testing.assert_allclose(
                run(each, args, expected), expected, 1e-5, 1e-5, err_msg=f"seed {seed}"
            )


BARRIER = re.compile(r'^ *T.tvm_storage_sync\("shared"\)\n', re.MULTILINE)


def is_caught(text, args, expected):
    """True if the changed program is refused, or its numbers show it."""
    try:
        result = run(tilewright.script.parse(text, check_well_formed=False), args, expected)
    except tilewright.UserError:
        return True
    return not np.allclose(result, expected, 1e-5, 1e-5)


def test_a_missing_barrier_is_found():
    """Each barrier of tiles that threads copy together, of sizes that fit: there lowering has none that is not needed."""
    num_barriers = 0
    for seed in range(0, NUM_SCHEDULES, 2):
        if seed % 5 not in (0, 4):
            continue
        func, args, expected = made(seed, is_even=True)
        text = kernel_of(func, "cuda").script()
        barriers = list(BARRIER.finditer(text))
        # where each thread reads only what it has written itself, none is needed
        if not barriers or not is_caught(BARRIER.sub("", text), args, expected):
            continue
        for barrier in barriers:
            changed = text[: barrier.start()] + text[barrier.end() :]
            assert is_caught(changed, args, expected), f"seed {seed}"
            num_barriers += 1
    assert num_barriers > 25


def test_another_bind_is_found():
    """Threads that add to one sum or fill shared memory together, on blocks instead."""
    tried = 0
    for seed in range(1, NUM_SCHEDULES, 5):
        func, args, expected = made(seed)
        text = func.script()
        changed = text.replace('thread="threadIdx.x"', 'thread="blockIdx.z"')
        if changed != text:
            assert is_caught(changed, args, expected), f"seed {seed}"
            tried += 1
    assert tried > 40
