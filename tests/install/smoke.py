"""Import, compile, run and the command must work after `pip install tilewright-*.whl` on a machine without LLVM."""

import subprocess
import sys
import time
from pathlib import Path

start = time.perf_counter()
import tilewright

import_s = time.perf_counter() - start

import numpy as np

folder = tilewright.__path__[0]
assert "site-packages" in folder, f"tilewright comes from {folder}, not from the wheel"
program = tilewright.script.parse(
    "@T.prim_func\n"
    'def scaled(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):\n'
    "    for i in T.parallel(5):\n"
    "        for j in T.vectorized(7):\n"
    "            B[i, j] = T.exp(A[i, j]) * T.float32(2)\n"
)
a, b = np.linspace(-1, 1, 35, dtype="float32").reshape(5, 7), tilewright.empty((5, 7), "float32")
tilewright.build(program, target="llvm")["scaled"](tilewright.tensor(a), b)
np.testing.assert_allclose(b.numpy(), np.exp(a) * 2, rtol=1e-5)
assert "__tvm_ffi_scaled(" in tilewright.build(program, target="c").get_source()
command = Path(sys.executable).with_name("tilewright")
version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
assert version == f"tilewright {tilewright.__version__}\n"
print(f"the wheel works: imported in {import_s:.2f} s from {folder}")
