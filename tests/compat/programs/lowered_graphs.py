"""Graphs on their way to the virtual machine: TVM's passes by name, and a program written in their form."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.op.memory import alloc_storage, kill_storage
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def add(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32"), C: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + B[vi, vj]

    @R.function
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Module
        lv = R.call_tir(cls.add, (x, x), out_sinfo=R.Tensor((2, 3), dtype="float32"))
        gv = R.call_tir(cls.add, (lv, x), out_sinfo=R.Tensor((2, 3), dtype="float32"))
        return gv


@I.ir_module
class Lowered:
    I.module_attrs({"written": "by hand"})

    @T.prim_func
    def add(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32"), C: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + B[vi, vj]

    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
        cls = Lowered
        storage: R.Object = R.memory.alloc_storage(
            R.shape([24]), virtual_device_index=0, storage_scope="global", dtype="float32"
        )
        alloc: R.Tensor((2, 3), dtype="float32") = R.memory.alloc_tensor(
            storage, offset=0, shape=R.shape([2, 3]), dtype="float32"
        )
        _: R.Tuple() = cls.add(x, x, alloc)
        lv: R.Tensor((2, 3), dtype="float32") = alloc
        alloc1: R.Tensor((2, 3), dtype="float32") = R.builtin.alloc_tensor(
            R.shape([2, 3]), dtype="float32", runtime_device_index=0
        )
        _1: R.Tuple() = cls.add(lv, x, alloc1)
        gv: R.Tensor((2, 3), dtype="float32") = alloc1
        _2: R.Tuple() = R.memory.kill_tensor(alloc)
        _3: R.Tuple() = R.memory.kill_storage(storage)
        return gv


x = np.arange(6, dtype="float32").reshape(2, 3)


def run(mod):
    machine = relax.VirtualMachine(tvm.compile(mod, "llvm"), tvm.cpu())
    return machine["main"](tvm.runtime.tensor(x)).numpy()


mod = Module
for step in (
    relax.transform.ToNonDataflow(),
    relax.transform.CallTIRRewrite(),
    relax.transform.StaticPlanBlockMemory(),
    relax.transform.KillAfterLastUse(),
    relax.transform.LowerAllocTensor(),
    relax.transform.VMBuiltinLower(),
):
    mod = step(mod)
    np.testing.assert_array_equal(run(mod), x * 3)
names = [
    name for name in ("R.vm.alloc_storage", "R.vm.alloc_tensor", "R.vm.kill_object") if name in mod.script()
]
assert len(names) == 3, mod.script()
assert "R.memory" not in mod.script()

np.testing.assert_array_equal(run(Lowered), x * 3)
lowered = relax.transform.LowerRuntimeBuiltin()(Lowered)
np.testing.assert_array_equal(run(lowered), x * 3)

bb = relax.BlockBuilder()
v = relax.Var("v", relax.TensorStructInfo([2, 3], "float32"))
with bb.function("main", [v], pure=False):
    made = bb.emit(relax.op.builtin.alloc_tensor(relax.ShapeExpr([2, 3]), "float32", 0))
    bb.emit(relax.Call(relax.ExternFunc("tests.copy"), [v, made], None, [relax.TupleStructInfo([])]))
    storage = bb.emit(alloc_storage([24], 0, "global", "uint8"))
    bb.emit(kill_storage(storage))
    bb.emit_func_output(made)


@tvm.register_global_func("tests.copy", override=True)
def copy(source, target):
    target.copy_from(source.numpy())


np.testing.assert_array_equal(run(bb.get()), x)
print("ok")
