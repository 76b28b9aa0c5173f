"""Names of 2022: T.Buffer[...], T.block, tvm.tir.Schedule, tvm.nd, tvm.build."""

import numpy as np
import tvm
from tvm.script import tir as T


@tvm.script.ir_module
class Module:
    @T.prim_func
    def main(a: T.handle, b: T.handle, C: T.Buffer[(5, 3), "float32"]) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        A = T.match_buffer(a, [5, 7], dtype="float32")
        B = T.match_buffer(b, [7, 3], dtype="float32")
        Y = T.alloc_buffer([5, 3], dtype="float32")
        for i, j, k in T.grid(5, 3, 7):
            with T.block("Y"):
                vi = T.axis.spatial(5, i)
                vj = T.axis.spatial(3, j)
                vk = T.axis.reduce(7, k)
                T.reads([A[vi, vk], B[vk, vj]])
                T.writes([Y[vi, vj]])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 3):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


assert type(Module) is tvm.IRModule
sch = tvm.tir.Schedule(Module)
block = sch.get_block("Y", func_name="main")
i, j, k = sch.get_loops(block)
sch.reorder(i, k, j)
sch.decompose_reduction(block, k)
print(sch.mod.script())

lib = tvm.build(sch.mod, target="llvm")
rng = np.random.default_rng(0)
a, b = rng.standard_normal((5, 7)).astype("float32"), rng.standard_normal((7, 3)).astype("float32")
c = tvm.nd.empty((5, 3), dtype="float32")
lib["main"](tvm.nd.array(a), tvm.nd.array(b, tvm.cpu()), c)
np.testing.assert_allclose(c.numpy(), np.maximum(a @ b, 0), rtol=1e-5)
assert lib.time_evaluator("main", tvm.cpu(), number=1)(tvm.nd.array(a), tvm.nd.array(b), c).mean > 0
named = tvm.build(sch.mod["main"], target="llvm", name="product")  # a function alone
named["product"](tvm.nd.array(a), tvm.nd.array(b), c)
np.testing.assert_allclose(c.numpy(), np.maximum(a @ b, 0), rtol=1e-5)
print("ok")
