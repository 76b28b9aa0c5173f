"""Names of 2026: s_tir, sblock, runtime.tensor, tvm.compile."""

import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((5, 7), "float32"), B: T.Buffer((7, 3), "float32"), C: T.Buffer((5, 3), "float32")):
        T.func_attr({"tirx.noalias": True})
        Y = T.sblock_alloc_buffer((5, 3), "float32")
        for i, j, k in T.grid(5, 3, 7):
            with T.sblock("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(5, 3):
            with T.sblock("C"):
                T.sblock_attr({"note": 1})
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


sch = tvm.s_tir.Schedule(Module)
i, j, k = sch.get_loops(sch.get_sblock("Y"))
j0, j1 = sch.split(j, factors=[None, 2])
sch.reorder(i, j0, k, j1)
sch.reverse_compute_at(sch.get_sblock("C"), j0)
print(sch.mod.script())

ex = tvm.compile(sch.mod, target="llvm")
rng = np.random.default_rng(0)
a, b = rng.standard_normal((5, 7)).astype("float32"), rng.standard_normal((7, 3)).astype("float32")
c = tvm.runtime.tensor(np.zeros((5, 3), "float32"))
ex["main"](tvm.runtime.tensor(a), tvm.runtime.tensor(b), c)
np.testing.assert_allclose(c.numpy(), np.maximum(a @ b, 0), rtol=1e-5)
print("ok")
