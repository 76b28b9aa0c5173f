"""Loops whose statements overlap: the numbers stay, in kernels and on CPUs, and barriers and waits are as few as they can be."""

import random
import re

import numpy as np
import pytest
from devices.schedules import integers, matmul, numbers_of, tiles_in_registers
from devices.targets import TARGETS
from lowered_kernels import kernel_of

import tilewright as tw
from tilewright.script import tir as T


def tiles(n, m, k, dtype="float32"):
    """A product in tiles of 16 x 16 by 8 in shared memory, and the loop over its terms."""
    sch = tw.Schedule(matmul(n, m, k))
    block, i1, j1, k0, _ = tiles_in_registers(sch, 4, 4, 8)
    sch.bind(sch.fuse(i1, j1), "threadIdx.x")
    for number in (0, 1):
        copy = sch.cache_read(block, number, "shared")
        sch.compute_at(copy, k0)
        inner = sch.fuse(*sch.get_loops(copy)[-2:])
        _, part, vector = sch.split(inner, [None, 16, 4])
        sch.vectorize(vector)
        sch.bind(part, "threadIdx.x")
    sch.decompose_reduction(block, k0)
    return sch, k0


def pipelined(n, m, k, stages, order=None, is_async=False):
    sch, k0 = tiles(n, m, k)
    sch.annotate(k0, "software_pipeline_stage", stages)
    sch.annotate(k0, "software_pipeline_order", order or list(range(len(stages))))
    if is_async:
        sch.annotate(k0, "software_pipeline_async_stages", [0])
    return sch


def check(sch, n, m, k, target):
    kernel = kernel_of(sch.mod["main"], target)
    a, b, c = integers(n, k), integers(k, m), np.full((n, m), 7, "float32")
    tw.tir.interpret(kernel, a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    return str(kernel)


def body_of(text):
    """The lines of the loop over terms."""
    lines = text.splitlines()
    begin = next(n for n, line in enumerate(lines) if re.match(r"\s*for k\w* in range\(", line))
    depth = len(lines[begin]) - len(lines[begin].lstrip())
    end = next(n for n in range(begin + 1, len(lines)) if len(lines[n]) - len(lines[n].lstrip()) <= depth)
    return "\n".join(lines[begin:end])


SHAPES = [(16, 16, 64), (32, 16, 40)]


@pytest.mark.parametrize("n, m, k", SHAPES)
@pytest.mark.parametrize("behind", [1, 2, 3])
@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0]])
@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_one_barrier_in_each_iteration(n, m, k, behind, order, target):
    text = check(pipelined(n, m, k, [0, 0, behind], order), n, m, k, target)
    assert body_of(text).count("tvm_storage_sync") == 1
    assert "ptx_cp_async" not in text
    size = str(128 * (behind + 1))
    assert re.findall(r"\w+ = T\.\w+_buffer\(\((\d+),\).*scope=\"shared\"", text) == [size, size]


@pytest.mark.parametrize("n, m, k", SHAPES)
@pytest.mark.parametrize("behind", [1, 2, 3])
@pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0]])
def test_asynchronous_copies_wait_for_as_few_as_they_can(n, m, k, behind, order):
    text = check(pipelined(n, m, k, [0, 0, behind], order, is_async=True), n, m, k, "cuda")
    body = body_of(text)
    assert body.count("tvm_storage_sync") == 1
    assert body.count("ptx_cp_async") == 2
    assert body.count("ptx_commit_group") == 1
    assert re.findall(r"ptx_wait_group\((\d)\)", body) == [str(behind - 1)]
    waits = re.findall(r"ptx_wait_group\((\d)\)", text)
    assert waits == [str(behind - 1)] + [str(n) for n in range(behind - 1, -1, -1)]


def test_targets_without_asynchronous_copies_copy_as_others_do():
    text = check(pipelined(16, 16, 64, [0, 0, 2], is_async=True), 16, 16, 64, "opencl")
    assert "ptx_" not in text


@pytest.mark.parametrize("k", [8, 16, 24])
@pytest.mark.parametrize("behind", [1, 2, 3, 4])
@pytest.mark.parametrize("is_async", [False, True])
def test_fewer_iterations_than_stages(k, behind, is_async):
    check(pipelined(16, 16, k, [0, 0, behind], is_async=is_async), 16, 16, k, "cuda")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("behind", [1, 2, 3])
def test_devices_compute_the_same(behind, target):
    module = tw.build(pipelined(32, 48, 40, [0, 0, behind], is_async=True).mod, target)
    a, b = integers(32, 40), integers(40, 48)
    np.testing.assert_array_equal(numbers_of(module, target, a, b, shape=(32, 48)), a @ b)


@pytest.mark.parametrize("number", [0, 1])
def test_each_barrier_and_wait_is_needed(number):
    text = str(kernel_of(pipelined(16, 16, 64, [0, 0, 2], is_async=True).mod["main"], "cuda"))
    lines = text.splitlines()
    what = ("tvm_storage_sync", "ptx_wait_group")[number]
    for place in [n for n, line in enumerate(lines) if what in line]:
        kernel = tw.script.parse(
            "\n".join(each for each in lines[:place] + lines[place + 1 :] if not each.startswith("#"))
        )
        a, b, c = integers(16, 64), integers(64, 16), np.zeros((16, 16), "float32")
        with pytest.raises(
            tw.UserError, match="no barrier between|while an asynchronous copy|before anything is|not waited"
        ):
            tw.tir.interpret(kernel, a, b, c)


# ---- programs of one thread, open extents, refusals


def chain(n):
    """What each iteration makes of X in two steps, a row of A and one of B."""

    @T.prim_func
    def main(X: T.Buffer((n, 5), "float32"), Y: T.Buffer((n, 5), "float32")):
        A = T.alloc_buffer((n, 5), "float32")
        B = T.alloc_buffer((n, 5), "float32")
        for i in range(n):
            for j in range(5):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    A[vi, vj] = X[vi, vj] + T.float32(1)
            for j in range(5):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, 4 - vj] * T.float32(2)
            for j in range(5):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = B[vi, vj] + A[vi, vj]

    return main


def annotated(program, stages, order=None, asynchronous=None):
    sch = tw.Schedule(program)
    loop = sch.get_loops("Y")[0]
    sch.annotate(loop, "software_pipeline_stage", stages)
    if order is not None:
        sch.annotate(loop, "software_pipeline_order", order)
    if asynchronous is not None:
        sch.annotate(loop, "software_pipeline_async_stages", asynchronous)
    return sch.mod


@pytest.mark.parametrize("target", ["llvm", "c"])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 127])
@pytest.mark.parametrize(
    "stages, order",
    [
        ([0, 1, 2], None),
        ([0, 1, 2], [2, 1, 0]),
        ([0, 0, 1], [1, 2, 0]),
        ([0, 2, 3], [1, 0, 2]),
        ([1, 1, 1], None),
    ],
)
def test_cpus_too(n, stages, order, target):
    x, y = integers(n, 5), np.full((n, 5), 7, "float32")
    module = tw.build(annotated(chain(n), stages, order), target)
    out = tw.tensor(y)
    module["main"](tw.tensor(x), out)
    np.testing.assert_array_equal(out.numpy(), (x[:, ::-1] + 1) * 2 + x + 1)


def open_chain():
    @T.prim_func
    def main(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 5), "float32")
        Y = T.match_buffer(y, (n, 5), "float32")
        A = T.alloc_buffer((n, 5), "float32")
        for i in range(n):
            for j in range(5):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    A[vi, vj] = X[vi, vj] + T.float32(1)
            for j in range(5):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[vi, 4 - vj] * T.float32(2)

    return main


@pytest.mark.parametrize("behind", [1, 2, 3])
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_open_extents(behind, order):
    module = tw.build(annotated(open_chain(), [0, behind], order), "llvm")
    for n in (0, 1, 2, 5, 127):
        x, out = integers(n, 5), tw.tensor(np.full((n, 5), 7, "float32"))
        module["main"](tw.tensor(x), out)
        np.testing.assert_array_equal(out.numpy(), (x[:, ::-1] + 1) * 2)


def refusal(stages, order=None, asynchronous=None):
    with pytest.raises(tw.UserError) as caught:
        tw.build(annotated(chain(7), stages, order, asynchronous), "llvm")
    return str(caught.value)


STATEMENTS = "statement 0, which writes A; statement 1, which writes B; statement 2, which writes Y"


@pytest.mark.parametrize(
    "arguments, text",
    [
        (
            ([0, 1],),
            f"software_pipeline_stage of loop i has 2 numbers, but the loop's body has 3 statements: {STATEMENTS}",
        ),
        (
            ([0, 1, 1], [0, 1]),
            f"software_pipeline_order of loop i has 2 numbers, but the loop's body has 3 statements: {STATEMENTS}",
        ),
        (([0, -1, 1],), "software_pipeline_stage of loop i is no list of whole numbers from 0 on"),
        (
            ([0, 1, 1], [0, 0, 1]),
            "software_pipeline_order of loop i is [0, 0, 1], which does not have each number from 0 to 2 once",
        ),
        (
            ([0, 1, 1], [0, 1, 2], [2]),
            "software_pipeline_async_stages of loop i has 2, but none of its statements has that stage: [0, 1, 1]",
        ),
        (
            ([1, 0, 1],),
            "loop i cannot be pipelined so: statement 0 writes A, and statement 1 reads it in the same iteration, but with "
            "stages 1 and 0 and places 0 and 1 the second runs before the first",
        ),
    ],
)
def test_refusals(arguments, text):
    assert f"error: main: {text}\n" in refusal(*arguments) + "\n"


def test_what_a_later_iteration_reads():
    @T.prim_func
    def main(X: T.Buffer((9, 5), "float32"), Y: T.Buffer((9, 5), "float32")):
        for i in range(7):
            for j in range(5):
                with T.block("A"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = X[vi, vj]
            for j in range(5):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    X[vi + 2, vj] = Y[vi, vj] + T.float32(1)

    x = integers(9, 5)
    expected = x.copy()
    for i in range(7):
        expected[i + 2] = expected[i] + 1
    for stages in ([0, 1],):
        first, out = tw.tensor(x.copy()), tw.tensor(np.zeros((9, 5), "float32"))
        tw.build(annotated(main, stages), "llvm")["main"](first, out)
        np.testing.assert_array_equal(first.numpy(), expected)
    with pytest.raises(tw.UserError) as caught:
        tw.build(annotated(main, [0, 2]), "llvm")
    assert (
        "loop i cannot be pipelined so: statement 1 writes X, and statement 0 reads it 2 iterations later, but with stages "
        "2 and 0 and places 1 and 0 the second runs before the first" in str(caught.value)
    )


# ---- random annotations


def test_random_annotations_keep_the_numbers():
    rng = random.Random(0)
    taken = 0
    for _ in range(60):
        n, k = rng.choice([16, 32]), rng.choice([8, 16, 40])
        stages = [rng.randint(0, 2) for _ in range(3)]
        order = rng.sample(range(3), 3)
        sch, k0 = tiles(16, n, k)
        sch.annotate(k0, "software_pipeline_stage", stages)
        sch.annotate(k0, "software_pipeline_order", order)
        if rng.random() < 0.5:
            sch.annotate(k0, "software_pipeline_async_stages", [rng.choice(stages)])
        target = rng.choice(["cuda", "opencl"])
        is_right = all((stages[n], order[n]) < (stages[2], order[2]) for n in (0, 1)) or k == 8
        try:
            check(sch, 16, n, k, target)
        except tw.UserError as error:
            assert "cannot be pipelined so" in str(error) and not (is_right and k > 8)
        else:
            assert is_right
            taken += 1
    assert taken > 10


# ---- double buffers


@pytest.mark.parametrize("target", ["cuda", "opencl"])
def test_a_double_buffer_of_a_kernel_needs_one_barrier(target):
    sch, _ = tiles(16, 32, 40)
    for name in ("A_shared", "B_shared"):
        sch.annotate(name, "double_buffer_scope", 0)
    text = check(sch, 16, 32, 40, target)
    assert body_of(text).count("tvm_storage_sync") == 1
    assert re.findall(r"\w+ = T\.\w+_buffer\(\((\d+),\).*scope=\"shared\"", text) == ["256", "256"]
