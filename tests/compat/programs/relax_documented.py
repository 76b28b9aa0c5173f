"""Names of the public documentation of Relax that few programs use."""

import numpy as np
import tvm
from tvm import relax, tir
from tvm.relax.dpl import wildcard
from tvm.relax.op.base import call_tir  # noqa: F401
from tvm.relax.op.manipulate import reshape
from tvm.relax.utils import copy_with_new_vars
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@tvm.register_func("tests.compat.twice", override=True)
def twice(x):
    return tvm.runtime.tensor(x.numpy() * 2)


@I.ir_module
class Module:
    twice = R.ExternFunc("tests.compat.twice")

    @R.function(pure=False)
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        y = Module.twice(x, sinfo_args=R.Tensor((n, 4), "float32"))
        z = R.exp(y)
        return z


data = np.ones((3, 4), "float32")
vm = relax.VirtualMachine(tvm.compile(Module, target="llvm"), tvm.cpu())
np.testing.assert_allclose(vm["main"](tvm.runtime.tensor(data)).numpy(), np.exp(data * 2), rtol=1e-6)
assert isinstance(Module["twice"], relax.ExternFunc) and Module["twice"].global_symbol == "tests.compat.twice"

bb = relax.BlockBuilder()
n = tir.Var("n", "int64")
x = relax.Var("x", relax.TensorStructInfo([n, 4], "float32"))
with bb.testing_scope(def_vars=[n]):
    assert bb.emit(reshape(x, (4, n))).struct_info.ndim == 2
with bb.function("main", [x]):
    bb.emit_func_output(bb.emit(relax.op.exp(x)))
Plain = bb.get()

with tvm.transform.PassContext(
    required_pass=["FoldConstant"],
    disabled_pass=["FuseOps", "NoSuchPass"],
    config={"relax.backend.use_cuda_graph": False, "relax.FuseOps.max_depth": 4},
) as context:
    assert context.disabled_pass == ["fuse_ops"] and context.config["fuse_ops.max_size"] == 4
    assert "peak" in relax.analysis.estimate_memory_usage(Plain)

pattern = wildcard().has_struct_info(R.Tensor((2, 3), "float32"))
assert pattern.match(relax.Var("y", R.Tensor((2, 3), "float32")))
assert not pattern.match(relax.Var("y", R.Tensor((2, 5), "float32")))

assert relax.DynTensorType(ndim=2, dtype="int8") == relax.TensorStructInfo(ndim=2, dtype="int8")
both = relax.TupleStructInfo([x.struct_info, relax.ShapeStructInfo([n, n + 1])])
assert [str(extent) for extent in relax.analysis.collect_non_negative_expressions(both)] == [
    "n",
    "n + T.int64(1)",
]


@I.ir_module
class Closures:
    @R.function
    def main(y: R.Tensor((4,), "float32")) -> R.Object:
        @R.function
        def added(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            z = R.add(x, y)
            return z

        return added


vm = relax.VirtualMachine(tvm.compile(Closures, target="llvm"), tvm.cpu())
closure = vm["main"](tvm.runtime.tensor(data[0]))
assert (vm.invoke_closure(closure, tvm.runtime.tensor(data[1])).numpy() == 2).all()

copy = copy_with_new_vars(Plain["main"])
tvm.ir.assert_structural_equal(copy, Plain["main"])
assert not copy.params[0].same_as(Plain["main"].params[0])
assert relax.transform.RemoveRedundantReshape()(Plain) == Plain
print("ok")
