"""What must work after `pip install tilewright-*.whl` on a machine without LLVM: import, and the console command."""

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
tensor = tilewright.runtime.tensor(np.arange(6, dtype="float32").reshape(2, 3))
assert np.array_equal(tensor.numpy(), [[0, 1, 2], [3, 4, 5]])
command = Path(sys.executable).with_name("tilewright")
version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
assert version == f"tilewright {tilewright.__version__}\n"
print(f"the wheel works: imported in {import_s:.2f} s from {folder}")
