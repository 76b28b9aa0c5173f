"""Products by tensor cores, scheduled by hand: the intrinsics, their numbers in the interpreter and on the emulation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from lowered_kernels import kernel_of
from primitive_testing import check_refused

import tilewright as tw
from tilewright import tir
from tilewright.script import tir as T  # noqa: F401 - names of the programs

ROWS, COLUMNS, TERMS = 32, 32, 64
#: name of elements: their dtype, the dtype of sums, elements in 32 bits
ELEMENTS = {
    "f16": ("float16", "float32", 2),
    "bf16": ("bfloat16", "float32", 2),
    "tf32": ("float32", "float32", 1),
    "i8": ("int8", "int32", 4),
    "u8": ("uint8", "int32", 4),
    "e4m3": ("float8_e4m3fn", "float32", 4),
    "e5m2": ("float8_e5m2", "float32", 4),
}
SUMS = {"float32": "f32", "int32": "i32", "float16": "f16"}


def product(element, transposed_a=False, transposed_b=False, sum_dtype=None):
    dtype, own_sum, _ = ELEMENTS[element]
    sum_dtype = sum_dtype or own_sum
    a_place, b_place = "vk, vi" if transposed_a else "vi, vk", "vj, vk" if transposed_b else "vk, vj"
    a_shape = (TERMS, ROWS) if transposed_a else (ROWS, TERMS)
    b_shape = (COLUMNS, TERMS) if transposed_b else (TERMS, COLUMNS)
    cast = "{}" if dtype == sum_dtype else f'T.cast({{}}, "{sum_dtype}")'
    return tw.script.parse(f'''
@T.prim_func
def matmul(A: T.Buffer({a_shape}, "{dtype}"), B: T.Buffer({b_shape}, "{dtype}"), C: T.Buffer(({ROWS}, {COLUMNS}), "{sum_dtype}")):
    T.func_attr({{"tir.noalias": True}})
    for i, j, k in T.grid({ROWS}, {COLUMNS}, {TERMS}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{sum_dtype}(0)
            C[vi, vj] = C[vi, vj] + {cast.format(f"A[{a_place}]")} * {cast.format(f"B[{b_place}]")}
''')


def layouts(pack):
    """Where elements of A [row, term], B [term, column] and C [row, column] are in a warp: tile, tile, lane, element."""
    group = 4 * pack

    def of_a(i, k):
        element = k % (2 * group) // group * (2 * pack) + i % 16 // 8 * pack + k % pack
        return [i // 16, k // (2 * group), i % 8 * 4 + k % group // pack, element]

    def of_b(k, j):
        element = j % 16 // 8 * (2 * pack) + k % (2 * group) // group * pack + k % pack
        return [k // (2 * group), j // 16, j % 8 * 4 + k % group // pack, element]

    def of_c(i, j):
        return [i // 16, j // 16, i % 8 * 4 + j % 8 // 2, j % 16 // 8 * 4 + i % 16 // 8 * 2 + j % 2]

    return of_a, of_b, of_c


def innermost(sch, block, columns):
    """The outer one of two loops of a tile, [.., columns], of what `block` writes."""
    row, column = sch.get_loops(block)[-2:]
    outer, inner = sch.split(column, [None, columns])
    sch.reorder(outer, row, inner)
    return row


def scheduled(element, transposed_a=False, transposed_b=False, sum_dtype=None, halves=False):
    _, own_sum, pack = ELEMENTS[element]
    sum_name, terms = SUMS[sum_dtype or own_sum], 8 * pack
    of_a, of_b, of_c = layouts(pack)
    sch = tw.Schedule(product(element, transposed_a, transposed_b, sum_dtype))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    io, iw, ii = sch.split(i, [1, 2, 16])
    jo, ji, jj = sch.split(j, [1, 2, 16])
    ko, ki, kk = sch.split(k, [None, 2, terms])
    sch.reorder(io, jo, iw, ko, ki, ji, ii, jj, kk)
    store = sch.cache_write(block, 0, "warp")
    sch.reverse_compute_at(store, iw)
    copies = [sch.cache_read(block, n, "shared") for n in range(2)]
    loads = [sch.cache_read(block, n, "warp") for n in range(2)]
    for load in loads:
        sch.compute_at(load, ki)
    sch.bind(io, "blockIdx.x")
    sch.bind(jo, "blockIdx.y")
    sch.bind(iw, "threadIdx.y")
    for copy in copies:
        sch.compute_at(copy, ko)
        part = sch.split(sch.fuse(*sch.get_loops(copy)[-2:]), [None, 2, 32, 4])
        sch.bind(part[1], "threadIdx.y")
        sch.vectorize(part[3])
        sch.storage_align(copy, 0, -2, 8 * pack, 4 * pack)
    sch.transform_layout(block, ("write", 0), of_c)
    sch.transform_layout(block, ("read", 0), (lambda k, i: of_a(i, k)) if transposed_a else of_a)
    sch.transform_layout(block, ("read", 1), (lambda j, k: of_b(k, j)) if transposed_b else of_b)
    init = sch.decompose_reduction(block, ko)
    # first: without lanes, all threads of a warp would add the same
    sch.tensorize(ii, f"mma_{element}{element}{sum_name}{'_half_steps' if halves else ''}")
    sch.tensorize(sch.get_loops(init)[-2], f"mma_fill_16x16_{sum_name}")
    a_name, b_name = f"mma_ldmatrix_{element}_a", f"mma_ldmatrix_{element}_b"
    a, b = loads
    columns_a, columns_b = 16 if transposed_a else terms, terms if transposed_b else 16
    sch.tensorize(innermost(sch, a, columns_a), a_name + ("_trans" if transposed_a else ""))
    rows_of_b = sch.get_loops(b)[-2]
    if transposed_b:
        outer, _ = sch.split(rows_of_b, [None, 16])
        sch.tensorize(sch.get_loops(b)[-2], b_name + "_trans")
    else:
        sch.tensorize(innermost(sch, b, columns_b), b_name)
    sch.tensorize(innermost(sch, store, 16), f"mma_store_16x16_{sum_name}_global")
    for copy in copies:
        sch.bind(sch.get_loops(copy)[-2], "threadIdx.x")
    return sch


#: what is multiplied and how: arguments of `scheduled`
CASES = {
    "f16": ("f16",),
    "f16, B transposed": ("f16", False, True),
    "f16, A transposed": ("f16", True, False),
    "f16 by halves": ("f16", False, False, None, True),
    "f16 in f16": ("f16", False, False, "float16"),
    "bf16": ("bf16",),
    "i8": ("i8", False, True),
    "i8, elements": ("i8",),
    "u8": ("u8", False, True),
    "tf32": ("tf32", False, True),
    "tf32, elements": ("tf32", True, False),
    "e4m3": ("e4m3", False, True),
    "e5m2": ("e5m2", False, True),
}


def operands(element, transposed_a=False, transposed_b=False):
    """Small whole numbers, whose products and sums are exact in all dtypes, and their product."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (ROWS, TERMS)), rng.integers(0, 3, (TERMS, COLUMNS))
    dtype = ELEMENTS[element][0]
    given = [a.T if transposed_a else a, b.T if transposed_b else b]
    return [np.ascontiguousarray(each).astype(getattr(ml_dtypes, dtype, dtype)) for each in given], a @ b


def sum_of(case):
    """The dtype of the sums of a case."""
    return case[3] if len(case) > 3 and case[3] else ELEMENTS[case[0]][1]


@pytest.mark.parametrize("name", CASES)
def test_the_interpreter_multiplies(name):
    sch = scheduled(*CASES[name])
    sch.verify()
    (a, b), expected = operands(*CASES[name][:3])
    for program in (sch.mod["matmul"], kernel_of(sch.mod["matmul"], "cuda")):
        c = np.zeros((ROWS, COLUMNS), sum_of(CASES[name]))
        tir.interpret(program, a, b, c)
        np.testing.assert_array_equal(c, expected)


def test_each_step_keeps_the_numbers():
    steps = scheduled("f16").trace
    again = tw.Schedule(product("f16"), verify_each_step=True)
    steps.apply_to_schedule(again)


def run_on_the_emulation():
    """In a process of its own, whose driver is the emulation."""
    on = tw.cuda(0)
    for name in ("f16", "f16 by halves", "bf16", "i8", "tf32", "e4m3"):
        case = CASES[name]
        (a, b), expected = operands(*case[:3])
        kernel = tw.build(scheduled(*case).mod, "cuda -arch=sm_90a")["matmul"]
        for order in ("forward", "backward", "shuffled"):
            os.environ["TILEWRIGHT_EMULATION_ORDER"] = order
            c = tw.empty((ROWS, COLUMNS), sum_of(case), on)
            kernel(tw.tensor(a, on), tw.tensor(b, on), c)
            np.testing.assert_array_equal(c.numpy(), expected, f"{name}, {order}")
    print("ok")


def test_the_emulation_multiplies():
    done = subprocess.run(
        [sys.executable, "-c", "from test_mma import run_on_the_emulation; run_on_the_emulation()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TILEWRIGHT_CUDA_EMULATION": "1"},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "ok\n", done.stderr


NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


@pytest.mark.skipif(not Path(NVCC).exists(), reason="nvcc is not installed")
@pytest.mark.parametrize(
    ("architecture", "names"),
    [
        ("sm_75", ["f16 by halves"]),
        ("sm_80", ["f16", "f16, A transposed", "bf16", "i8", "i8, elements", "tf32"]),
        ("sm_90a", ["f16", "f16 in f16", "u8", "e4m3", "e5m2"]),
    ],
)
def test_kernels_spill_nothing(architecture, names, tmp_path):
    for name in names:
        (tmp_path / "a.cu").write_text(tw.build(scheduled(*CASES[name]).mod, "cuda").get_source())
        command = [NVCC, "-cubin", f"-arch={architecture}", "-Xptxas", "-v", "-o", "a.cubin", "a.cu"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in done.stderr, name


def test_a_kernel_is_short():
    source = tw.build(scheduled("f16").mod, "cuda").get_source()
    kernel = source[source.index("extern") :]
    assert kernel.count("__syncthreads()") == 2
    assert "tw_ldmatrix_x4(&A_shared_warp[0]," in kernel
    assert (
        "tw_mma_m16n8k16_f16_f16_f32(&C_warp[j_1 * 8], &A_shared_warp[0], &B_shared_warp[j_1 * 8]);" in kernel
    )


@pytest.mark.parametrize(
    "name",
    [
        "mma_f16f16i32",
        "mma_f16bf16f32",
        "mma_i8i8i32_half_steps",
        "mma_ldmatrix_f16_c",
        "mma_ldmatrix_f16_a_shared",
        "mma_ldmatrix_i9_a",
        "mma_fill_16x16_i8",
        "mma_fill_16x16_f32_",
        "mma_store_16x16_f32_local",
        "mma_store_16x16",
    ],
)
def test_other_names_are_unknown(name):
    with pytest.raises(tw.UserError, match=f'there is no tensor intrinsic "{name}"'):
        tir.TensorIntrin.get(name)


@T.prim_func
def loaded(A: T.Buffer((16, 16), "float16"), B: T.Buffer((32, 8), "float16")):
    W = T.alloc_buffer((32, 8), "float16", scope="warp")
    for i, j in T.grid(16, 16):
        with T.block("W"):
            v0, v1 = T.axis.remap("SS", [i, j])
            W[v0 % 8 * 4 + v1 % 8 // 2, v1 // 8 * 4 + v0 // 8 * 2 + v1 % 2] = A[v0, v1]
    for i, j in T.grid(32, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = W[vi, vj]


def test_a_tile_of_another_scope_is_refused():
    check_refused(
        loaded,
        lambda sch: sch.tensorize(sch.get_loops("W")[0], "mma_ldmatrix_f16_a"),
        """error: tensorize: A is in scope global, but parameter S of intrinsic mma_ldmatrix_f16_a in scope shared
help: keep A in scope shared: set_scope, or cache_read and cache_write""",
    )
