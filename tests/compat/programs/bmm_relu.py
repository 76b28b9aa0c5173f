"""The exercise of chapter 2.5 of the Machine Learning Compilation book: a schedule that gives its printed TargetModule."""

import numpy as np
import tvm
from tvm.script import tir as T


@tvm.script.ir_module
class MyBmmRelu:
    @T.prim_func
    def bmm_relu(
        A: T.Buffer((16, 128, 128), "float32"),
        B: T.Buffer((16, 128, 128), "float32"),
        C: T.Buffer((16, 128, 128), "float32"),
    ):
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer((16, 128, 128), "float32")
        for n, i, j, k in T.grid(16, 128, 128, 128):
            with T.block("Y"):
                vn, vi, vj, vk = T.axis.remap("SSSR", [n, i, j, k])
                with T.init():
                    Y[vn, vi, vj] = T.float32(0)
                Y[vn, vi, vj] = Y[vn, vi, vj] + A[vn, vi, vk] * B[vn, vk, vj]
        for n, i, j in T.grid(16, 128, 128):
            with T.block("C"):
                vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                C[vn, vi, vj] = T.max(Y[vn, vi, vj], T.float32(0))


@tvm.script.ir_module
class TargetModule:
    @T.prim_func
    def bmm_relu(
        A: T.Buffer((16, 128, 128), "float32"),
        B: T.Buffer((16, 128, 128), "float32"),
        C: T.Buffer((16, 128, 128), "float32"),
    ) -> None:
        T.func_attr({"global_symbol": "bmm_relu", "tir.noalias": True})
        Y = T.alloc_buffer([16, 128, 128], dtype="float32")
        for i0 in T.parallel(16):
            for i1, i2_0 in T.grid(128, 16):
                for ax0_init in T.vectorized(8):
                    with T.block("Y_init"):
                        n, i = T.axis.remap("SS", [i0, i1])
                        j = T.axis.spatial(128, i2_0 * 8 + ax0_init)
                        Y[n, i, j] = T.float32(0)
                for ax1_0 in T.serial(32):
                    for ax1_1 in T.unroll(4):
                        for ax0 in T.serial(8):
                            with T.block("Y_update"):
                                n, i = T.axis.remap("SS", [i0, i1])
                                j = T.axis.spatial(128, i2_0 * 8 + ax0)
                                k = T.axis.reduce(128, ax1_0 * 4 + ax1_1)
                                Y[n, i, j] = Y[n, i, j] + A[n, i, k] * B[n, k, j]
                for i2_1 in T.vectorized(8):
                    with T.block("C"):
                        n, i = T.axis.remap("SS", [i0, i1])
                        j = T.axis.spatial(128, i2_0 * 8 + i2_1)
                        C[n, i, j] = T.max(Y[n, i, j], T.float32(0))


# As the target was found: the result's rows are cut into tiles, and each tile of Y is computed where it is used.
sch = tvm.tir.Schedule(MyBmmRelu)
Y, C = sch.get_block("Y", func_name="bmm_relu"), sch.get_block("C", func_name="bmm_relu")
batch, row, column = sch.get_loops(C)
tile, lane = sch.split(column, factors=[None, 8])
sch.parallel(batch)
sch.vectorize(lane)
sch.compute_at(Y, tile)
*_, column_of_tile, depth = sch.get_loops(Y)
outer, inner = sch.split(depth, factors=[None, 4])
sch.reorder(outer, inner, column_of_tile)
sch.unroll(inner)
Y_init = sch.decompose_reduction(Y, outer)
sch.vectorize(sch.get_loops(Y_init)[-1])
tvm.ir.assert_structural_equal(sch.mod, TargetModule)

rng = np.random.default_rng(0)
a, b = (rng.random((16, 128, 128)).astype("float32") - 0.5 for _ in range(2))
c = tvm.nd.array(np.zeros((16, 128, 128), "float32"))
tvm.build(sch.mod, target="llvm")["bmm_relu"](a, b, c)
np.testing.assert_allclose(c.numpy(), np.maximum(a @ b, 0), rtol=1e-4, atol=1e-4)
print("ok")
