"""Target cuda: its texts, what nvcc makes of them, and the tests of test_opencl.py on the emulation."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright as tw
from tilewright.script import tir as T

HERE = Path(__file__).parent


def nvcc():
    known = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return known if Path(known).exists() else None


@T.prim_func
def add(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32"), C: T.Buffer((127,), "float32")):
    for i in range(127):
        with T.block("C"):
            vi = T.axis.spatial(127, i)
            C[vi] = A[vi] + B[vi]


def run(script: str, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        cwd=HERE,
        capture_output=True,
        text=True,
    )


def test_programs_run_on_the_emulation():
    if os.environ.get("TILEWRIGHT_CUDA_EMULATION") == "1":
        pytest.skip("this is that process")
    environment = {**os.environ, "TILEWRIGHT_CUDA_EMULATION": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cuda", "test_opencl.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=HERE)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and "failed" not in done.stdout


def test_source_needs_no_compiler():
    module = tw.build(add, "cuda")
    (kernels,) = module.imports
    assert kernels.kind == "cuda"
    assert kernels.get_source() == module.get_source() == module.get_source("cuda")
    assert 'extern "C" __global__ void' in kernels.get_source()


@pytest.mark.skipif(not nvcc(), reason="nvcc is not installed")
def test_libraries_carry_machine_code_and_ptx(tmp_path):
    tw.build(add, "cuda -arch=sm_80").export_library(tmp_path / "add.so")
    data = (tmp_path / "add.so").read_bytes()
    for part in (b"cubin", b"sm_80", b"ptx", b"compute_80", b".version"):
        assert part in data, part
    tw.build(add, "cuda -arch=sm_90a").export_library(tmp_path / "add.cu")
    assert "__global__" in (tmp_path / "add.cu").read_text()


SCRIPT = """
import tilewright as tw
import numpy as np
from test_cuda import add
try:
    tw.build(add, "cuda").export_library("{path}")
except tw.UserError as error:
    print(error)
"""


def test_what_the_compiler_says_is_shown(tmp_path):
    wrong = tmp_path / "nvcc"
    wrong.write_text("#!/bin/sh\necho nothing works >&2\nexit 1\n")
    wrong.chmod(0o755)
    done = run(SCRIPT.format(path=tmp_path / "a.so"), TILEWRIGHT_NVCC=str(wrong), TILEWRIGHT_CACHE_MB="0")
    assert "nvcc" in done.stdout and "nothing works" in done.stdout


def test_a_compiler_that_makes_nothing(tmp_path):
    silent = tmp_path / "nvcc"
    silent.write_text("#!/bin/sh\nexit 0\n")
    silent.chmod(0o755)
    done = run(SCRIPT.format(path=tmp_path / "a.so"), TILEWRIGHT_NVCC=str(silent), TILEWRIGHT_CACHE_MB="0")
    assert done.stdout == "error: nvcc has made no file of CUDA C for -arch=sm_80\n", done.stderr


def test_no_compiler(tmp_path):
    if Path("/usr/local/cuda/bin/nvcc").exists():
        pytest.skip("nvcc is where it is looked for last")
    done = run(SCRIPT.format(path=tmp_path / "a.so"), PATH="/nowhere", CUDA_HOME="")
    assert done.stdout.startswith(
        "error: no compiler of CUDA C was found\nhelp: install nvcc (PyPI: nvidia-cuda-nvcc;"
    )


def test_numbers_of_the_emulation():
    script = """
import tilewright as tw
import numpy as np
from test_cuda import add
a, c = np.arange(127, dtype="float32"), tw.empty((127,), "float32", "cuda")
tw.build(add, "cuda")["add"](tw.tensor(a, "cuda"), tw.tensor(a, "cuda"), c)
print(np.array_equal(c.numpy(), a + a))
"""
    assert run(script, TILEWRIGHT_CUDA_EMULATION="1").stdout == "True\n"
