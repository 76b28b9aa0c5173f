"""An exported library runs under another host of tvm-ffi's convention: apache-tvm-ffi with torch and numpy tensors.

Each test is a process of its own: the other host must not find our runtime in it.
"""

import importlib.util
import subprocess
import sys

import pytest

import tilewright
from tilewright.script import tir as T  # noqa: N812

pytestmark = [
    pytest.mark.peers,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("tvm_ffi") is None,
        reason="apache-tvm-ffi is not installed: pip install apache-tvm-ffi",
    ),
]


@T.prim_func
def scaled(A: T.Buffer((5, 7), "float32"), x: T.float32, B: T.Buffer((5, 7), "float32")):
    T.func_attr({"global_symbol": "scaled"})
    for i in T.parallel(5):
        for j in T.vectorized(7):
            B[i, j] = A[i, j] * x


@T.prim_func
def reversed_twice(A: T.Buffer((20011,), "float32")):
    T.func_attr({"global_symbol": "reversed_twice"})
    S = T.alloc_buffer((20011,), "float32")
    for i in range(20011):
        with T.block("S"):
            vi = T.axis.spatial(20011, i)
            S[vi] = A[20010 - vi]
    for i in range(20011):
        with T.block("A"):
            vi = T.axis.spatial(20011, i)
            A[vi] = S[vi]


@pytest.fixture(scope="module", params=["llvm", "c"])
def library(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("ffi") / "kernels.so"
    module = tilewright.IRModule({"scaled": scaled, "reversed_twice": reversed_twice})
    tilewright.build(module, target=request.param).export_library(path)
    return path


def run_in_other_host(library, program):
    start = f"import sys\nimport numpy as np\nimport tvm_ffi\nlib = tvm_ffi.load_module({str(library)!r})\n"
    end = "assert not [name for name in sys.modules if name.startswith('tilewright')]\n"
    done = subprocess.run(
        [sys.executable, "-c", start + program + end],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_numpy_arrays(library):
    run_in_other_host(
        library,
        """
a, b = np.arange(35, dtype="float32").reshape(5, 7), np.zeros((5, 7), "float32")
lib.scaled(tvm_ffi.from_dlpack(a), 0.5, tvm_ffi.from_dlpack(b))
assert np.array_equal(b, a / 2)
x = np.arange(20011, dtype="float32")
lib.reversed_twice(tvm_ffi.from_dlpack(x))
assert np.array_equal(x, np.arange(20011, dtype="float32")[::-1])
""",
    )


def test_wrong_shape_is_an_error_of_the_host(library):
    run_in_other_host(
        library,
        """
a = tvm_ffi.from_dlpack(np.zeros((5, 8), "float32"))
try:
    lib.scaled(a, 0.5, a)
    raise SystemExit("no error")
except ValueError as error:
    assert "scaled: argument A has shape [5, 8], expected [5, 7]" in str(error), error
""",
    )


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_tensors(library):
    run_in_other_host(
        library,
        """
import torch
a, b = torch.arange(35, dtype=torch.float32).reshape(5, 7), torch.zeros(5, 7)
lib.scaled(a, 2.0, b)
assert torch.equal(b, a * 2)
""",
    )
