"""Precision: exact unless you say otherwise.

By default products of float32 are float32. A policy says how much may be given up for speed, and the documentation how much that is
at most ([precision](../precision.md)); this script measures it.
"""

import numpy as np

import tilewright
from tilewright import relax
from tilewright.script import ir as I
from tilewright.script import relax as R

# ## Policies
#
# A product of 127 x 512 x 64, compared with float64. Errors are relative to the sum of the magnitudes of the terms.


@I.ir_module
class Product:
    @R.function
    def main(x: R.Tensor(("m", "k"), "float32"), w: R.Tensor(("k", "n"), "float32")):
        return R.matmul(x, w)


def with_weights(w):
    return relax.transform.bind_params(params={"w": relax.const(w)})(Product)


random = np.random.default_rng(0)
x, w = random.standard_normal((127, 512), "float32"), random.standard_normal((512, 64), "float32")
exact = x.astype("float64") @ w
scale = np.abs(x).astype("float64") @ np.abs(w)


def error(**policy):
    executable = tilewright.compile(with_weights(w), **policy)
    return np.max(np.abs(tilewright.VirtualMachine(executable)["main"](x).numpy() - exact) / scale)


print("exact below 1e-6:", error() < 1e-6)
print("bf16 below 2^-7: ", error(precision="bf16") < 2**-7)
print("bf16x3 below 2^-14:", error(precision="bf16x3") < 2**-14)

# `bf16x3` to `bf16x9` split each number into two or three of bfloat16. They are faster on processors with tile registers (AMX) alone,
# and change nothing elsewhere.

# ## Weights of few bits
#
# A product of few rows takes as long as its weights take to be read. `weights="int8"` stores them in a quarter of the bytes, but only
# where reading them is what takes the time.

row, large = random.standard_normal((1, 1024), "float32"), random.standard_normal((1024, 1024), "float32")
for weights in ("float32", "int8", "int4"):
    executable = tilewright.compile(with_weights(large), weights=weights)
    result = tilewright.VirtualMachine(executable)["main"](row).numpy()
    off = np.max(np.abs(result - row @ large)) / np.max(np.abs(row @ large))
    print(f"{weights:8} off by {off:.1%}")
