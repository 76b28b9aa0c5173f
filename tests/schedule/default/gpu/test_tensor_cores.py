"""The rule tensor_cores: products of float16, bfloat16, int8, tf32 and float8 by instructions of warps."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from gpu_checking import check, operator
from lowered_kernels import kernel_of

import tilewright as tw
from tilewright.relax import op as R

A100, T4 = "cuda -arch=sm_80", "cuda -arch=sm_75"
#: reasons of targets, not of programs
OTHER = (
    "tensor cores keep 10 bits of a float32, which -allow_tf32=1 would allow",
    "the target has no tensor cores",
    "the target has no tensor cores for bfloat16",
    "the target has no tensor cores for int8",
)
SUMS = {"int8": "int32", "uint8": "int32"}


def product(m, n, k, dtype, transposed_b=False, sum_dtype=None, swapped=False):
    sum_dtype = sum_dtype or SUMS.get(dtype, "float32")
    a, b = "A[vi, vk]", "B[vj, vk]" if transposed_b else "B[vk, vj]"
    if dtype != sum_dtype:
        a, b = f'T.cast({a}, "{sum_dtype}")', f'T.cast({b}, "{sum_dtype}")'
    if swapped:
        a, b = b, a
    return tw.script.parse(f'''
@T.prim_func
def matmul(A: T.Buffer(({m}, {k}), "{dtype}"), B: T.Buffer({(n, k) if transposed_b else (k, n)}, "{dtype}"), C: T.Buffer(({m}, {n}), "{sum_dtype}")):
    T.func_attr({{"tir.noalias": True}})
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{sum_dtype}(0)
            C[vi, vj] = C[vi, vj] + {a} * {b}
''')


def small_numbers(dtype, *shape):
    """Whole numbers whose sums of products are exact."""
    return np.random.default_rng(sum(shape)).integers(0, 4, shape).astype(getattr(ml_dtypes, dtype, dtype))


def by_tensor_cores(program, target=A100):
    sch = tw.schedule.by_rules(program, target)
    assert "mma_" in sch.trace.text(), sch.rejections
    return sch


CASES = {
    "float16": (product(33, 40, 65, "float16"), A100),
    "float16, few rows": (product(8, 17, 7, "float16"), A100),
    "float16 of sm_75": (product(17, 33, 40, "float16"), T4),
    "float16, columns first": (product(16, 16, 33, "float16", swapped=True), A100),
    "float16 in float16": (product(17, 16, 16, "float16", sum_dtype="float16"), A100),
    "bfloat16, B transposed": (product(33, 24, 40, "bfloat16", transposed_b=True), A100),
    "int8": (product(20, 33, 36, "int8"), A100),
    "uint8, B transposed": (product(16, 16, 127, "uint8", transposed_b=True), A100),
    "tf32": (product(17, 18, 19, "float32"), A100 + " -allow_tf32=1"),
    "float8, B transposed": (product(16, 18, 40, "float8_e4m3fn", transposed_b=True), "cuda -arch=sm_89"),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers(name):
    program, target = CASES[name]
    sch = by_tensor_cores(program, target)
    sch.verify()
    a, b, c = program.buffers
    x, y = (small_numbers(str(each.dtype), *map(int, each.shape)) for each in (a, b))
    is_transposed = int(b.shape[1]) == x.shape[1] and "transposed" in name
    wide = np.float64 if "float" in str(c.dtype) else np.int64
    expected = x.astype(wide) @ (y.T if is_transposed else y).astype(wide)
    for each in (sch.mod["matmul"], kernel_of(sch.mod["matmul"], "cuda")):
        z = np.zeros(expected.shape, str(c.dtype))
        tw.tir.interpret(each, x, y, z)
        np.testing.assert_array_equal(z, expected)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x, w, b: R.nn.relu(R.add(R.matmul(x, w), b)), [((33, 40), "float16"), ((40, 24), "float16"), ((24,), "float16")]),
        (lambda x, w: R.matmul(x, w), [((3, 17, 16), "float16"), ((3, 16, 20), "float16")]),
        (lambda x, w: R.nn.conv2d(x, w, padding=1), [((1, 8, 7, 7), "float16"), ((16, 8, 3, 3), "float16")]),
        (lambda x, w: R.matmul(x, w, out_dtype="int32"), [((17, 40), "int8"), ((40, 19), "int8")]),
        (lambda x, w: R.matmul(x, w), [((17, 5), "bfloat16"), ((5, 127), "bfloat16")]),
    ],
    ids=["epilogue", "batch", "conv2d", "int8", "bfloat16"],
)  # fmt: skip
def test_operators(function, arguments):
    found = check(operator(function, *arguments), A100)
    assert any("mma_" in sch.trace.text() for sch in found), [sch.rejections for sch in found]


def test_open_rows():
    module = tw.script.parse("""
@I.ir_module
class M:
    @T.prim_func
    def matmul(a: T.handle, B: T.Buffer((T.int64(40), T.int64(24)), "float16"), c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(40)), "float16")
        C = T.match_buffer(c, (n, T.int64(24)), "float32")
        for i, j, k in T.grid(n, T.int64(24), T.int64(40)):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "float32") * T.cast(B[vk, vj], "float32")
""")
    sch = by_tensor_cores(module)
    sch.verify()


@pytest.mark.parametrize(
    ("program", "target", "reason"),
    [
        (product(33, 32, 32, "float32"), A100, "tensor cores keep 10 bits of a float32, which -allow_tf32=1 would allow"),
        (product(33, 32, 32, "float16"), "cuda -arch=sm_61", "the target has no tensor cores"),
        (product(33, 32, 32, "float16"), "opencl", "the target has no tensor cores"),
        (product(33, 32, 32, "bfloat16"), T4, "the target has no tensor cores for bfloat16"),
        (product(33, 32, 32, "int8"), T4, "the target has no tensor cores for int8"),
        (product(33, 32, 32, "bfloat16", sum_dtype="bfloat16"), A100, "tensor cores do not add products of bfloat16 and bfloat16 in bfloat16"),
        (product(7, 32, 32, "float16"), A100, "block C has 7 rows, fewer than the 8 of a tile"),
        (product(32, 32, 32, "float16"), A100 + " -max_shared_memory_per_block=1024", "no tile of block C for tensor cores fits into 1024 bytes of shared memory"),
    ],
    ids=["float32", "sm_61", "opencl", "bfloat16 of sm_75", "int8 of sm_75", "sums of bfloat16", "few rows", "little memory"],
)  # fmt: skip
def test_why_not(program, target, reason):
    sch = tw.schedule.by_rules(program, target)
    assert "mma_" not in sch.trace.text()
    if reason not in OTHER:  # which rejections leave out
        assert reason in [why for _, rule, why in sch.rejections if rule == "tensor_cores"]


def test_rows_of_tiles_are_in_different_banks():
    """The 8 rows of 16 bytes that a phase of ldmatrix reads."""
    for program in (product(1024, 1024, 1024, "float16"), product(512, 512, 512, "int8", transposed_b=True)):
        sch = by_tensor_cores(program)
        found = [str(finding) for finding in sch.lint(A100)]
        assert not any(each.startswith(("coalescing", "banks")) for each in found), found
        source = tw.build(sch.mod, A100).get_source()
        rows = {int(n) for n in re.findall(r"tx % (?:16|8) \* (\d+)", source[source.index("extern") :])}
        size = 2 if "half" in source else 1
        assert rows
        for row in rows:
            assert len({row * size * n // 16 % 8 for n in range(8)}) == 8, row


def run_on_the_emulation():
    """In a process of its own, whose driver is the emulation."""
    on = tw.cuda(0)
    for name in ("float16", "bfloat16, B transposed", "int8"):
        program, target = CASES[name]
        a, b, c = program.buffers
        x, y = (small_numbers(str(each.dtype), *map(int, each.shape)) for each in (a, b))
        expected = x.astype("float64") @ (y.T if "transposed" in name else y).astype("float64")
        kernel = tw.build(by_tensor_cores(program, target).mod, target)["matmul"]
        for order in ("forward", "backward", "shuffled"):
            os.environ["TILEWRIGHT_EMULATION_ORDER"] = order
            z = tw.empty(expected.shape, str(c.dtype), on)
            kernel(tw.tensor(x, on), tw.tensor(y, on), z)
            np.testing.assert_array_equal(z.numpy(), expected, f"{name}, {order}")
    print("ok")


def test_the_emulation_multiplies():
    done = subprocess.run(
        [sys.executable, "-c", "from test_tensor_cores import run_on_the_emulation; run_on_the_emulation()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TILEWRIGHT_CUDA_EMULATION": "1"},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "ok\n", done.stderr


NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


@pytest.mark.skipif(not Path(NVCC).exists(), reason="nvcc is not installed")
@pytest.mark.parametrize(
    ("architecture", "dtype"),
    [("sm_75", "float16"), ("sm_80", "bfloat16"), ("sm_80", "int8"), ("sm_90a", "float8_e4m3fn")],
)
def test_kernels_spill_nothing(architecture, dtype, tmp_path):
    target = f"cuda -arch={architecture}"
    sch = by_tensor_cores(product(1024, 1024, 1024, dtype, transposed_b=True), target)
    (tmp_path / "a.cu").write_text(tw.build(sch.mod, target).get_source())
    command = [NVCC, "-cubin", f"-arch={architecture}", "-Xptxas", "-v", "-o", "a.cubin", "a.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in done.stderr


def test_products_of_more_than_32_bits_of_instances():
    by_tensor_cores(product(4096, 4096, 4096, "float16"))
