"""Loops of sums on SVE and RVV, whose steps are taken together: when, and what they compute under qemu."""

import re
import sys

import numpy as np
import pytest
from cross_kernels import outputs
from cross_testing import ROOT, machine_of_rvv, machine_of_sve
from vector_kernels import Kernel, matmul

import tilewright as tw
from tilewright import te
from tilewright.script import tir as T

sys.path.insert(0, str(ROOT / "tools"))
from assembly_loops import hottest_loop  # noqa: E402

SVE_256 = "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"


def tile(
    rows: int, vectors: int, terms: int, dtype: str = "float32", bits: int = 256, steps: int = 1
) -> Kernel:
    """A product in one tile of registers; `steps` terms stand in a row."""
    lanes = bits // np.dtype(dtype).itemsize // 8
    kernel = matmul(rows, vectors * lanes, terms, dtype)
    sch = tw.Schedule(kernel.func)
    block = sch.get_block("Z")
    copy = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, factors=[None, lanes])
    k0, k1 = sch.split(k, factors=[None, steps])
    sch.reorder(k0, k1, i, j0, j1)
    init = sch.decompose_reduction(block, k0)
    for loops in ((k1, i, j0, j1), sch.get_loops(init)):
        sch.vectorize(loops[-1])
        for loop in loops[:-1]:
            sch.unroll(loop)
    sch.vectorize(sch.split(sch.get_loops(copy)[-1], factors=[None, lanes])[1])
    return Kernel(sch.mod["main"], kernel.inputs, kernel.expected, kernel.tolerance)


def assembly(kernel: Kernel, options: str = "") -> str:
    return tw.build(kernel.func, f"{SVE_256} {options}", schedule=False).get_source("asm")


def num_by_lane(asm: str) -> int:
    return len(re.findall(r"fmla\tz\d+\.[hsd], z\d+\.[hsd], z\d+\.[hsd]\[", asm))


@pytest.mark.parametrize(
    "rows, vectors, dtype, by_lane",
    [
        (8, 2, "float32", 64),  # row by row
        (10, 2, "float32", 80),
        (6, 3, "float32", 72),
        (5, 4, "float32", 80),  # step by step
        (9, 3, "float32", 0),  # more than there are registers
        (6, 2, "float16", 96),
        (8, 2, "float64", 64),  # two registers for each row
        (7, 3, "float64", 42),
    ],
)
def test_which_tiles_take_lanes_and_none_needs_the_stack(rows, vectors, dtype, by_lane):
    asm = assembly(tile(rows, vectors, 64, dtype))
    assert num_by_lane(asm) == by_lane
    assert hottest_loop(asm)[2] == 0


def test_share_of_multiply_adds():
    multiply_adds, instructions, _ = hottest_loop(assembly(tile(8, 2, 64)))
    assert multiply_adds / instructions >= 0.75


def test_no_lanes_where_they_cannot_be():
    assert num_by_lane(assembly(tile(8, 2, 64), "-fp-contract=off")) == 0  # rounded twice
    assert num_by_lane(assembly(tile(8, 2, 7))) == 0  # as few terms
    assert num_by_lane(assembly(tile(8, 2, 64), "-opt-level=1")) == 0
    narrow = tw.build(tile(8, 2, 64, bits=128).func, f"{SVE_256} -vector-width=128", schedule=False)
    assert num_by_lane(narrow.get_source("asm")) == 0


RVV_256 = "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c,+v,+zvl256b"


@pytest.mark.parametrize(
    "rows, vectors, steps",
    [
        (8, 3, 8),
        (6, 4, 8),
        (13, 2, 8),
        (14, 2, 1),  # LLVM would keep sums in memory
        (2, 4, 1),  # vectors take addresses of their own in each step
    ],
)
def test_which_tiles_of_rvv_take_steps_together(rows, vectors, steps):
    asm = tw.build(tile(rows, vectors, 64).func, RVV_256, schedule=False).get_source("asm")
    multiply_adds, instructions, on_stack = hottest_loop(asm)
    assert multiply_adds == steps * rows * vectors
    assert on_stack == 0
    if (rows, vectors) in ((8, 3), (6, 4)):
        assert multiply_adds / instructions >= 0.6


@pytest.mark.slow
@pytest.mark.parametrize(
    "machine_of, bits",
    [(machine_of_sve, 256), (machine_of_sve, 512), (machine_of_rvv, 128), (machine_of_rvv, 512)],
)
def test_numbers_of_tiles(machine_of, bits, tmp_path):
    kernels = {
        f"tile_{rows}_{vectors}_{terms}_{steps}_{dtype}": tile(rows, vectors, terms, dtype, bits, steps)
        for rows, vectors, terms, steps, dtype in [
            (8, 2, 64, 1, "float32"),
            (8, 2, 67, 1, "float32"),
            (10, 2, 9, 1, "float32"),
            (5, 4, 127, 1, "float32"),
            (4, 4, 64, 4, "float32"),
            (3, 2, 64, 8, "float32"),
            (2, 2, 64, 2, "float32"),
            (9, 3, 64, 1, "float32"),
            (6, 2, 33, 1, "float16"),
            (16, 1, 64, 1, "float16"),
            (8, 2, 67, 1, "float64"),
            (7, 3, 5, 1, "float64"),
        ]
    }
    for name, found in outputs(machine_of(bits), kernels, tmp_path, schedule=False).items():
        kernel = kernels[name]
        np.testing.assert_allclose(
            found,
            kernel.expected,
            rtol=0,
            atol=kernel.tolerance * np.abs(kernel.expected).max().astype("float64"),
            err_msg=name,
        )


def check(func, a: np.ndarray, b: np.ndarray, expected: np.ndarray, folder) -> None:
    kernel = Kernel(func, [a, b], expected, 1e-5)
    found = outputs(machine_of_sve(256), {"kernel": kernel}, folder, schedule=False)["kernel"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.slow
def test_terms_of_unknown_number(tmp_path):
    n = te.var("n", "int64")
    x, y = te.placeholder((4, n), name="X"), te.placeholder((n, 16), name="Y")
    k = te.reduce_axis((0, n), "k")
    z = te.compute((4, 16), lambda i, j: te.sum(x[i, k] * y[k, j], axis=k), name="Z")
    func = tw.schedule.by_rules(te.create_prim_func([x, y, z]), SVE_256).mod["main"]
    asm = tw.build(func, SVE_256, schedule=False).get_source("asm")
    assert num_by_lane(asm) > 0
    rng = np.random.default_rng(0)
    for terms in (1, 4, 7, 127):
        a = rng.standard_normal((4, terms)).astype("float32")
        b = rng.standard_normal((terms, 16)).astype("float32")
        check(func, a, b, a @ b, tmp_path)


@T.prim_func
def lanes_of_a_value(
    A: T.Buffer((64,), "float32"), B: T.Buffer((64, 16), "float32"), C: T.Buffer((16,), "float32")
):
    S = T.alloc_buffer((16,), "float32", scope="local")
    Q = T.alloc_buffer((4,), "float32", scope="local")
    S[0:8] = T.Broadcast(T.float32(0), 8)
    S[8:16] = T.Broadcast(T.float32(0), 8)
    for k in range(16):
        Q[0:4] = A[k * 4 : k * 4 + 4]
        for n in T.unroll(4):
            S[0:8] = S[0:8] + T.Broadcast(Q[n], 8) * B[k * 4 + n, 0:8]
            S[8:16] = S[8:16] + T.Broadcast(Q[n], 8) * B[k * 4 + n, 8:16]
    C[0:8] = S[0:8]
    C[8:16] = S[8:16]


def test_lanes_of_a_value(tmp_path):
    asm = tw.build(lanes_of_a_value, SVE_256, schedule=False).get_source("asm")
    assert num_by_lane(asm) == 8 and "ld1rqw" in asm
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(64).astype("float32"), rng.standard_normal((64, 16)).astype("float32")
    check(lanes_of_a_value, a, b, a @ b, tmp_path)


@T.prim_func
def lanes_of_a_kept_value(
    A: T.Buffer((4,), "float32"), B: T.Buffer((64, 32), "float32"), C: T.Buffer((8,), "float32")
):
    S = T.alloc_buffer((8,), "float32", scope="local")
    Q = T.alloc_buffer((4,), "float32", scope="local")
    S[0:8] = T.Broadcast(T.float32(0), 8)
    Q[0:4] = A[0:4]
    for k in range(64):
        for n in T.unroll(4):
            S[0:8] = S[0:8] + T.Broadcast(Q[n], 8) * B[k, n * 8 : n * 8 + 8]
    C[0:8] = S[0:8]


def test_lanes_of_a_value_that_the_loop_keeps(tmp_path):
    asm = tw.build(lanes_of_a_kept_value, SVE_256, schedule=False).get_source("asm")
    assert num_by_lane(asm) == 4 and re.search(r"mov\tz\d+\.q, q\d+", asm)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(4).astype("float32"), rng.standard_normal((64, 32)).astype("float32")
    expected = np.einsum("n,knj->j", a, b.reshape(64, 4, 8))
    check(lanes_of_a_kept_value, a, b, expected, tmp_path)


@T.prim_func
def two_rows_for_each_sum(
    A: T.Buffer((3, 64), "float32"), B: T.Buffer((2, 64, 8), "float32"), C: T.Buffer((2, 8), "float32")
):
    S = T.alloc_buffer((16,), "float32", scope="local")
    S[0:8] = T.Broadcast(T.float32(0), 8)
    S[8:16] = T.Broadcast(T.float32(0), 8)
    for k in range(64):
        for h in T.unroll(2):
            S[0:8] = S[0:8] + T.Broadcast(A[h, k], 8) * B[h, k, 0:8]
            S[8:16] = S[8:16] + T.Broadcast(A[h + 1, k], 8) * B[h, k, 0:8]
    C[0, 0:8] = S[0:8]
    C[1, 0:8] = S[8:16]


def test_sums_that_meet_two_rows(tmp_path):
    assert num_by_lane(tw.build(two_rows_for_each_sum, SVE_256, schedule=False).get_source("asm")) == 16
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 64)).astype("float32")
    b = rng.standard_normal((2, 64, 8)).astype("float32")
    expected = np.stack([a[i] @ b[0] + a[i + 1] @ b[1] for i in range(2)])
    check(two_rows_for_each_sum, a, b, expected, tmp_path)


@T.prim_func
def written_between(
    A: T.Buffer((72,), "float32"), B: T.Buffer((64, 8), "float32"), C: T.Buffer((8,), "float32")
):
    S = T.alloc_buffer((8,), "float32", scope="local")
    S[0:8] = T.Broadcast(T.float32(0), 8)
    for k in range(64):
        S[0:8] = S[0:8] + T.Broadcast(A[k], 8) * B[k, 0:8]
        A[k + 2] = A[k + 2] + A[k]
    C[0:8] = S[0:8]


def test_numbers_that_the_loop_writes_are_read_one_by_one(tmp_path):
    assert num_by_lane(tw.build(written_between, SVE_256, schedule=False).get_source("asm")) == 0
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(72).astype("float32"), rng.standard_normal((64, 8)).astype("float32")
    after = a.astype("float64").copy()
    for k in range(64):
        after[k + 2] += after[k]
    check(written_between, a, b, (after[:64] @ b).astype("float32"), tmp_path)
