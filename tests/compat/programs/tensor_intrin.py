"""tvm.tir.tensor_intrin: a dot product by VNNI, where the CPU has it; the other intrinsics are there."""

import numpy as np
import tvm
from tvm.script import tir as T
from tvm.testing import requires_x86_vnni
from tvm.tir import TensorIntrin
from tvm.tir.tensor_intrin.arm_cpu import ARM_DOT_4x4_i8_SDOT_INTRIN
from tvm.tir.tensor_intrin.cuda import DP4A_S8S8S32_INTRIN
from tvm.tir.tensor_intrin.x86 import AVX512_DOT_16x4_INTRIN, VNNI_DOT_16x4_INTRIN


@T.prim_func
def main(A: T.Buffer((8,), "uint8"), B: T.Buffer((2, 16, 4), "int8"), C: T.Buffer((16,), "int32")):
    for i, k0, k1 in T.grid(16, 2, 4):
        with T.block("C"):
            vi, vk0, vk1 = T.axis.remap("SRR", [i, k0, k1])
            with T.init():
                C[vi] = 0
            C[vi] = C[vi] + T.cast(A[vk0 * 4 + vk1], "int32") * T.cast(B[vk0, vi, vk1], "int32")


rng = np.random.default_rng(0)
a = rng.integers(0, 100, 8).astype("uint8")
b = rng.integers(-60, 60, (2, 16, 4)).astype("int8")
expected = np.einsum("pk,pik->i", a.reshape(2, 4).astype("int32"), b.astype("int32"))
for name in (VNNI_DOT_16x4_INTRIN, AVX512_DOT_16x4_INTRIN, ARM_DOT_4x4_i8_SDOT_INTRIN, DP4A_S8S8S32_INTRIN):
    assert TensorIntrin.get(name).desc is not None
assert TensorIntrin.get("no such intrinsic", allow_missing=True) is None

for name in (VNNI_DOT_16x4_INTRIN, AVX512_DOT_16x4_INTRIN):
    sch = tvm.tir.Schedule(main)
    block = sch.get_block("C")
    i, k0, k1 = sch.get_loops(block)
    sch.reorder(k0, i, k1)
    sch.decompose_reduction(block, k0)
    sch.tensorize(i, name)
    if requires_x86_vnni.run_time_check():
        lib = tvm.build(sch.mod, target="llvm -mcpu=native")
        c = tvm.nd.empty((16,), "int32")
        lib["main"](tvm.nd.array(a), tvm.nd.array(b), c)
        np.testing.assert_array_equal(c.numpy(), expected)
print("ok")
