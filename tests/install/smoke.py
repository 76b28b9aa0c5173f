"""What must work after `pip install tilewright-*.whl` on a machine without LLVM: import, and run a loop program."""

import time

start = time.perf_counter()
import tilewright

import_s = time.perf_counter() - start

import numpy as np

folder = tilewright.__path__[0]
assert "site-packages" in folder, f"tilewright comes from {folder}, not from the wheel"
tensor = tilewright.runtime.tensor(np.arange(6, dtype="float32").reshape(2, 3))
assert np.array_equal(tensor.numpy(), [[0, 1, 2], [3, 4, 5]])
print(f"the wheel works: imported in {import_s:.2f} s from {folder}")
