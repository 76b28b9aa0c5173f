"""tvm.contrib.nvcc: what is known of an installed CUDA."""

import os
import shutil
from pathlib import Path

import tilewright as tw


def find_cuda_path() -> str:
    """The folder of the CUDA toolkit; raises RuntimeError if there is none."""
    if path := os.environ.get("CUDA_PATH"):
        return path
    if nvcc := shutil.which("nvcc"):
        return str(Path(nvcc).parent.parent)
    if Path("/usr/local/cuda/bin/nvcc").exists():
        return "/usr/local/cuda"
    raise RuntimeError("there is no CUDA toolkit")


def compile_cuda(code, target_format="ptx", arch=None, options=None, path_target=None):
    """Refuses: CUDA source is not compiled yet."""
    raise tw.Unsupported("nvcc.compile_cuda: CUDA source is not compiled")


def parse_compute_version(compute_version: str) -> tuple[int, int]:
    """(8, 0) for "8.0"."""
    major, minor = str(compute_version).split(".")[:2]
    return int(major), int(minor)


def have_fp16(compute_version) -> bool:
    """True if GPUs of this version compute in float16."""
    return parse_compute_version(compute_version) >= (5, 3)


def have_int8(compute_version) -> bool:
    """True if GPUs of this version have int8 dot products."""
    return parse_compute_version(compute_version) >= (6, 1)


def have_tensorcore(compute_version=None, target=None) -> bool:
    """True if GPUs of this version have matrix units."""
    return compute_version is not None and parse_compute_version(compute_version) >= (7, 0)


NAMES = {
    "find_cuda_path": find_cuda_path,
    "compile_cuda": compile_cuda,
    "parse_compute_version": parse_compute_version,
    "have_fp16": have_fp16,
    "have_int8": have_int8,
    "have_tensorcore": have_tensorcore,
}
