"""tvm.testing.requires_*: tests that run only where something is present, skipped with the reason elsewhere."""

import importlib.util
import os
import platform
import shutil
from pathlib import Path

import tilewright as tw


def _machine(*names: str) -> bool:
    return platform.machine().lower() in names


def _has_device(kind: str) -> bool:
    try:
        return bool(tw.device(kind).exist)
    except (AttributeError, tw.UserError, tw.Unsupported):
        return False


def _cpu_flags() -> set:
    try:
        with Path("/proc/cpuinfo").open() as file:
            return set(next((line for line in file if line.startswith("flags")), "").split())
    except OSError:
        return set()


#: name of tvm.testing.requires_NAME: (is it present, the reason otherwise)
_FEATURES = {
    "llvm": (lambda: True, ""),
    "gpu": (lambda: _has_device("cuda"), "there is no GPU"),
    "cuda": (lambda: _has_device("cuda"), "there is no CUDA device"),
    "tensorcore": (lambda: _has_device("cuda"), "there is no CUDA device"),
    "cudnn": (lambda: False, "cuDNN is not used"),
    "cublas": (lambda: False, "cuBLAS is not used"),
    "cutlass": (lambda: False, "CUTLASS is not used"),
    "nccl": (lambda: False, "NCCL is not used"),
    "nvptx": (lambda: False, "there is no target nvptx"),
    "rocm": (lambda: False, "there is no target rocm"),
    "matrixcore": (lambda: False, "there is no target rocm"),
    "vulkan": (lambda: False, "there is no target vulkan"),
    "metal": (lambda: _has_device("metal"), "there is no Metal device"),
    "opencl": (lambda: _has_device("opencl"), "there is no OpenCL device"),
    "hexagon": (lambda: False, "there is no target hexagon"),
    "adreno_opencl": (lambda: False, "there is no Adreno device"),
    "openclml": (lambda: False, "CLML is not used"),
    "mkl": (lambda: False, "MKL is not used"),
    "cblas": (lambda: False, "CBLAS is not used"),
    "rpc": (lambda: False, "there is no RPC server"),
    "micro": (lambda: False, "there is no micro target"),
    "ethosn": (lambda: False, "there is no Ethos-N"),
    "libtorch": (lambda: importlib.util.find_spec("torch") is not None, "torch is not installed"),
    "x86": (lambda: _machine("x86_64", "amd64", "i686"), "this is no x86 machine"),
    "x86_vnni": (lambda: "avx512_vnni" in _cpu_flags(), "this CPU has no VNNI"),
    "x86_avx512": (lambda: "avx512f" in _cpu_flags(), "this CPU has no AVX-512"),
    "x86_amx": (lambda: "amx_int8" in _cpu_flags(), "this CPU has no AMX"),
    "arm_dot": (lambda: "asimddp" in _cpu_flags(), "this CPU has no dot product instructions"),
    "aarch64": (lambda: _machine("aarch64", "arm64"), "this is no AArch64 machine"),
    "aarch64_sve": (lambda: False, "SVE is not used"),
    "aarch64_sme": (lambda: False, "its matrix instructions are not used"),
    "openmp": (lambda: False, "OpenMP is not used"),
    "multi_gpu": (lambda: False, "there is one GPU at most"),
}


def decorate(marks: list, args: tuple):
    """`@mark` and `@mark()` alike: the decorated test, or a decorator."""

    def apply(test):
        for mark in marks:
            test = mark(test)
        return test

    return apply(args[0]) if args else apply


class Feature:
    """@requires_x, @requires_x() or requires_x.marks(): skips a test where x is not present."""

    def __init__(self, name: str):
        self.name = name
        self._is_present, self._reason = _FEATURES[name]

    def __call__(self, *args):
        return decorate(self.marks(), args)

    def marks(self, support_required: str = "") -> list:
        """The pytest marks that skip a test."""
        import pytest

        return [pytest.mark.skipif(not self._is_present(), reason=self._reason or "present")]

    @property
    def run_time_check(self):
        """A function that says whether the feature is present."""
        return self._is_present


def _skip_unless(condition: bool, reason: str):
    def requirement(*args):
        import pytest

        return decorate([pytest.mark.skipif(not condition, reason=reason)], args)

    return requirement


def requires_package(*packages: str):
    """Skips a test unless all Python packages can be imported."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return _skip_unless(not missing, f"not installed: {', '.join(missing)}")


def requires_llvm_minimum_version(major_version: int):
    """Skips a test unless the LLVM inside is at least of this version."""
    return _skip_unless(major_version <= 19, f"LLVM 19 is older than {major_version}")


def requires_cuda_compute_version(major_version: int, minor_version: int = 0, exact: bool = False):
    """Skips a test unless there is a CUDA device."""
    return _skip_unless(_has_device("cuda"), "there is no CUDA device")


def requires_nvcc_version(major_version: int, minor_version: int = 0, release_version: int = 0):
    """Skips a test unless nvcc is found."""
    return _skip_unless(shutil.which("nvcc") is not None, "nvcc is not found")


def enabled_targets() -> list:
    """[(target, device)] that tests run on: "llvm", or those of the environment variable TVM_TEST_TARGETS."""
    wanted = os.environ.get("TVM_TEST_TARGETS", "llvm").split(";")
    return [(name, tw.device(_device_of(name))) for name in wanted if name.strip() and device_enabled(name)]


def _device_of(target) -> str:
    kind = str(target).split()[0]
    return {"llvm": "cpu", "c": "cpu"}.get(kind, kind)


def device_enabled(target) -> bool:
    """True if programs for `target` can run here."""
    kind = _device_of(target if isinstance(target, str) else target.kind_name)
    return kind == "cpu" or _has_device(kind)


REQUIREMENTS = {
    **{f"requires_{name}": Feature(name) for name in _FEATURES},
    "requires_package": requires_package,
    "requires_llvm_minimum_version": requires_llvm_minimum_version,
    "requires_cuda_compute_version": requires_cuda_compute_version,
    "requires_nvcc_version": requires_nvcc_version,
    "Feature": Feature,
}
