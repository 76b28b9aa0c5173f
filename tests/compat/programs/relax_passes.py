"""Passes over graphs under TVM's names, with TVM's arguments."""

import numpy as np
import pytest
import tvm
from tvm import relax
from tvm.relax.dpl import is_op, wildcard
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        a: R.Tensor((7, 5), "float32"),
        b: R.Tensor((7, 3), "float32"),
        gamma: R.Tensor((5,), "float32"),
        beta: R.Tensor((5,), "float32"),
        mean: R.Tensor((5,), "float32"),
        var: R.Tensor((5,), "float32"),
    ):
        n = T.int64()
        with R.dataflow():
            q = R.matmul(x, a)
            k = R.matmul(x, b)
            norm = R.nn.batch_norm(q, gamma, beta, mean, var, axis=1)
            y = norm[0]
            y1 = R.exp(y)
            y2 = R.exp(y)
            z = R.add(y1, y2)
            m = R.match_cast(k, R.Tensor((n, 3), "float32"))
            gv = R.concat((z, m), axis=1)
            R.output(gv)
        return gv


rng = np.random.default_rng(0)
inputs = [
    rng.random(shape).astype("float32") + 0.5 for shape in ((127, 7), (7, 5), (7, 3), (5,), (5,), (5,), (5,))
]


def run(mod):
    machine = relax.VirtualMachine(tvm.compile(mod, "llvm"), tvm.cpu())
    return machine["main"](*[tvm.runtime.tensor(value) for value in inputs]).numpy()


expected = run(Module)
passes = relax.transform
n = Module["main"].params[0].struct_info.shape[0]

for step in [
    passes.EliminateCommonSubexpr(),
    passes.EliminateCommonSubexpr(call_only=True),
    passes.CanonicalizeBindings(),
    passes.BindSymbolicVars({"n": 127}),
    passes.BindSymbolicVars({n: 127}, func_name="main"),
    passes.ToNonDataflow(),
    passes.CombineParallelMatmul(),
    passes.DecomposeOpsForInference(),
    passes.DecomposeOpsForInference("main"),
    passes.LegalizeOps(skip_ops=["relax.concat"]),
]:
    changed = step(Module)
    assert changed.script() != Module.script(), step
    np.testing.assert_allclose(run(changed), expected, rtol=1e-4, atol=1e-5)
for step in [
    passes.Normalize(),
    passes.FuseTransposeMatmul(),
    passes.AttachGlobalSymbol(),
    passes.RunCodegen(),
]:
    assert step(Module) is Module, step

training = passes.DecomposeOpsForTraining()(Module)
assert "R.variance" in training.script()
assert passes.ConvertToDataflow(min_size=2)(passes.ToNonDataflow()(Module)).script().count("R.dataflow") == 2

legal = passes.AnnotateTIROpPattern()(passes.LegalizeOps()(Module))
assert legal["matmul"].attrs["op_pattern"] == 4
fused = tvm.ir.transform.Sequential(
    [passes.FuseOps(), passes.FuseTIR(), passes.DeadCodeElimination(["main"])]
)(legal)
assert len(fused.functions) < len(legal.functions)
np.testing.assert_allclose(run(fused), expected, rtol=1e-4, atol=1e-5)


def exp_as_power(bb, call):
    return bb.call_te(lambda x: tvm.topi.exp(x), call.args[0], primfunc_name_hint="my_exp")


mine = passes.LegalizeOps({"relax.exp": exp_as_power})(Module)
assert "my_exp" in mine["main"].script()
np.testing.assert_allclose(run(mine), expected, rtol=1e-4, atol=1e-5)

rows = [
    ("mine.exp", is_op("relax.exp")(wildcard())),
    ("mine.add", is_op("relax.add")(wildcard(), wildcard())),
]
composite = passes.MergeCompositeFunctions()(passes.FuseOpsByPattern(rows)(Module))
assert any("Codegen" in func.attrs for func in composite.functions.values())
np.testing.assert_allclose(run(composite), expected, rtol=1e-4, atol=1e-5)

for step in [
    passes.TopologicalSort("breadth-first", "from-inputs"),
    passes.InlinePrivateFunctions(),
    passes.RemoveUnusedParameters(),
    passes.RemoveUnusedOutputs(),
    passes.ExpandTupleArguments(),
    passes.AlterOpImpl({}, {}, {}, {}),
]:
    np.testing.assert_allclose(run(step(Module)), expected, rtol=1e-4, atol=1e-5)


# ---- passes of functions, of classes, over dataflow blocks


@passes.function_pass(opt_level=0)
def marked(func, mod, ctx):
    return func.with_attr("marked", 1)


@passes.function_pass(opt_level=0)
class Marked:
    def __init__(self, value):
        self.value = value

    def transform_function(self, func, mod, ctx):
        return func.with_attr("marked", self.value)


@passes.dataflowblock_pass(opt_level=0)
def without_last_exp(block, mod, ctx):
    (removed,) = [binding for binding in block.bindings if binding.var.name_hint == "y2"]
    kept = [binding for binding in block.bindings if binding.var.name_hint != "y2"]
    first = next(binding for binding in kept if binding.var.name_hint == "y1")
    adds = [
        binding.replace(value=relax.op.add(first.var, first.var)) if binding.var.name_hint == "z" else binding
        for binding in kept
    ]
    return block.replace(bindings=adds)


@passes.dataflowblock_pass(opt_level=0)
class Nothing:
    def transform_dataflowblock(self, block, mod, ctx):
        return block


assert marked(Module)["main"].attrs["marked"] == 1 and marked.info.name == "marked"
assert Marked(7)(Module)["main"].attrs["marked"] == 7
assert without_last_exp(Module).script().count("R.exp") == 1
np.testing.assert_allclose(run(without_last_exp(Module)), expected, rtol=1e-4, atol=1e-5)
assert Nothing()(Module) is Module


@T.prim_func(private=True)
def transposed_copy(a: T.Buffer((3, 5), "float32"), b: T.Buffer((5, 3), "float32")):
    for i, j in T.grid(5, 3):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            b[vi, vj] = a[vj, vi]


@I.ir_module
class Copy:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((5, 3), "float32"), b: T.Buffer((5, 3), "float32")):
        T.func_attr({"operator_name": "relax.copy"})
        for i, j in T.grid(5, 3):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[vi, vj]

    @R.function
    def main(x: R.Tensor((5, 3), "float32")):
        cls = Copy
        with R.dataflow():
            gv = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((5, 3), "float32"))
            R.output(gv)
        return gv


altered = passes.AlterOpImpl({"relax.copy": transposed_copy}, {"relax.copy": [lambda i, j: (j, i), None]})(
    Copy
)
assert "R.permute_dims" in altered.script()
x = rng.random((5, 3)).astype("float32")
got = relax.VirtualMachine(tvm.compile(altered, "llvm"), tvm.cpu())["main"](tvm.runtime.tensor(x)).numpy()
np.testing.assert_array_equal(got, x)
with pytest.raises(tvm.TVMError) as error:
    passes.AlterOpImpl({}, {}, {"relax.copy": [[1]]})
assert (
    str(error.value) == "AlterOpImpl: axis separators cannot be given\nhelp: sch.set_axis_separator sets them"
)

with pytest.raises(tvm.TVMError) as error:
    passes.CombineParallelMatmul(check=lambda *args: True)
assert str(error.value) == (
    "CombineParallelMatmul: check cannot be asked\nhelp: combine_parallel_matmul(min_branches=3) says how many are enough"
)
print("ok")
