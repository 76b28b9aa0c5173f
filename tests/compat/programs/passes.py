"""Targets in `with` statements, specialised functions, passes and questions under TVM's names."""

import numpy as np
import pytest
import tvm
from tvm import tir
from tvm.ir.instrument import PassTimingInstrument, pass_instrument
from tvm.ir.transform import PassContext, Sequential, module_pass
from tvm.script import tir as T
from tvm.target import Target

# ---- the current target

assert Target.current() is None
with pytest.raises(
    tvm.TVMError, match="there is no current target\nhelp: write it inside `with Target\\(...\\):`"
):
    Target.current(allow_none=False)
with Target("c") as outer:
    assert isinstance(outer, Target) and Target.current().kind == "c"
    with Target("llvm -num-cores 2"):
        assert Target.current().kind == "llvm"
    assert Target.current().same_as(outer)
assert Target.current() is None


@T.prim_func
def scale(a: T.handle, b: T.handle, factor: T.float32, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * factor


with Target("c"):
    assert "float" in tvm.build(scale).get_source()

# ---- functions with fixed parameters

a, b, factor, n = scale.params
m = scale.buffer_map[a].shape[1]
fixed = scale.specialize({n: 5, factor: T.float32(2), m: 7})


@T.prim_func
def fixed_by_hand(A: T.Buffer((5, 7), "float32"), B: T.Buffer((5, 7), "float32")):
    for i, j in T.grid(5, 7):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)


tvm.ir.assert_structural_equal(
    fixed.with_attr("global_symbol", "f"), fixed_by_hand.with_attr("global_symbol", "f")
)
by_buffer = scale.specialize({a: tir.decl_buffer((5, 7), "float32"), factor: T.float32(2)})
tvm.ir.assert_structural_equal(
    by_buffer.with_attr("global_symbol", "f"), fixed_by_hand.with_attr("global_symbol", "f")
)
x, y = np.ones((5, 7), "float32"), tvm.nd.array(np.zeros((5, 7), "float32"))
tvm.build(fixed)["scale"](x, y)
np.testing.assert_array_equal(y.numpy(), x * 2)
assert scale.specialize({}).same_as(scale)
for values, text in [
    ({tir.Var("q", "int32"): 3}, "specialize: q is neither a parameter nor a variable in the shape of one"),
    ({n: T.int64(3)}, "specialize: n is int32, its value int64"),
    (
        {a: T.int32(3)},
        "specialize: A is a buffer, but its value is not\nhelp: give a buffer of the wanted shape, or values for the variables of its shape",
    ),
    ({n: tir.decl_buffer((5,))}, "specialize: n is not a buffer, but its value is"),
    ({a: tir.decl_buffer((5, 7), "int8")}, "specialize: buffer A is float32, the given one int8"),
    (
        {a: tir.decl_buffer((5,))},
        "specialize: buffer A has 2 dimensions and 0 strides, the given one 1 and 0",
    ),
    ({a: tir.decl_buffer((5, 7)), b: tir.decl_buffer((5, 8))}, "specialize: m gets two values, 7 and 8"),
]:
    with pytest.raises(tvm.TVMError) as error:
        scale.specialize(values)
    assert str(error.value) == "error: " + text, str(error.value)
with pytest.raises(tvm.TVMError) as error:
    fixed.specialize({fixed.params[0]: tir.decl_buffer((5, 8))})
assert str(error.value) == "error: specialize: buffer A has 7 where the given one has 8"

# ---- lowering, pass by pass, computes the same


@T.prim_func
def matmul(
    A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")
):
    Y = T.alloc_buffer((16, 16), "float32")
    for i, j, k in T.grid(16, 16, 16):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))


sch = tir.Schedule(matmul)
sch.vectorize(sch.split(sch.get_loops("C")[1], [None, 4])[1])
sch.compute_at("Y", sch.get_loops("C")[0])
names = """LowerInitBlock PlanAndUpdateBufferAllocationLocation ConvertBlocksToOpaque CompactBufferAllocation LowerMatchBuffer
    InjectVirtualThread InjectDoubleBuffer LowerOpaqueBlock LoopPartition FlattenBuffer BF16ComputeLegalize FP8ComputeLegalize
    VectorizeLoop NarrowDataType StorageRewrite UnrollLoop Simplify""".split()
lowered = Sequential([getattr(tir.transform, name)() for name in names])(sch.mod)
text = lowered.script()
assert "block" not in text and "Y[j_0 * 4:j_0 * 4 + 4]" in text, text
data = [np.random.default_rng(0).random((16, 16)).astype("float32") for _ in range(2)]
out = [tvm.nd.array(np.zeros((16, 16), "float32")) for _ in range(2)]
tvm.build(lowered)["matmul"](*data, out[0])
tvm.build(matmul)["matmul"](*data, out[1])
np.testing.assert_allclose(out[0].numpy(), out[1].numpy(), rtol=1e-5)
assert tir.transform.VectorizeLoop(False)(sch.mod).same_as(sch.mod) if hasattr(sch.mod, "same_as") else True
with pytest.raises(tvm.TVMError, match="NarrowDataType: indices become 32 bits wide, not 16"):
    tir.transform.NarrowDataType(16)
bound = tir.transform.BindTarget(Target("c"))(sch.mod)
assert bound["main"].attrs["target"].kind == "c" and bound["main"].attrs["target"].kind.name == "c"
assert tir.transform.AnnotateEntryFunc()(bound)["main"].attrs["tir.is_entry_func"]
assert [var.name_hint for var in tir.transform.MakePackedAPI()(sch.mod)][-1].startswith("matmul")


@T.prim_func
def guarded(A: T.Buffer((40,), "int32"), n: T.int32):
    for i, j in T.grid(5, 8):
        if i < n:
            A[i * 8 + j] = A[i * 8 + j] + 1


@T.prim_func
def hoisted(A: T.Buffer((40,), "int32"), n: T.int32):
    for i in range(5):
        if i < n:
            for j in range(8):
                A[i * 8 + j] = A[i * 8 + j] + 1


@T.prim_func
def named(A: T.Buffer((40,), "int32"), n: T.int32):
    for i, j in T.grid(5, 8):
        if i < n:
            cse_var_1: T.int32 = i * 8 + j
            A[cse_var_1] = A[cse_var_1] + 1


plain, once = (
    Sequential([getattr(tir.transform, name)() for name in steps])(tvm.IRModule({"main": guarded}))["main"]
    for steps in (["HoistExpression"], ["CommonSubexprElimTIR"])
)
tvm.ir.assert_structural_equal(plain.without_attr("global_symbol"), hoisted.without_attr("global_symbol"))
tvm.ir.assert_structural_equal(once.without_attr("global_symbol"), named.without_attr("global_symbol"))
with pytest.raises(tvm.TVMError, match="identify_equiv_terms=True is not possible"):
    tir.transform.CommonSubexprElimTIR(True, True)

# ---- passes of one's own, and who watches them


@module_pass(opt_level=0, name="note")
def note(mod, ctx):
    """Writes the level down."""
    return mod.with_attr("level", ctx.opt_level)


@tir.transform.prim_func_pass(opt_level=0)
class Rename:
    def __init__(self, name):
        self.name = name

    def transform_function(self, func, mod, ctx):
        return func.with_attr("note", self.name)


@module_pass(opt_level=0, name="nothing")
class Nothing:
    def transform_module(self, mod, ctx):
        return mod


@pass_instrument
class Watch:
    def __init__(self):
        self.seen = []

    def enter_pass_ctx(self):
        self.seen.append("enter")

    def exit_pass_ctx(self):
        self.seen.append("exit")

    def should_run(self, mod, info):
        return info.name != "nothing"

    def run_before_pass(self, mod, info):
        self.seen.append(f"before {info.name}")

    def run_after_pass(self, mod, info):
        self.seen.append(f"after {info.name}")


watch, clock = Watch(), PassTimingInstrument()
with PassContext(opt_level=3, disabled_pass=["tir.UnrollLoop"], instruments=[watch, clock]):
    result = Sequential([note, Rename("x"), Nothing(), tir.transform.UnrollLoop()])(sch.mod)
assert (result.attrs["level"], result["main"].attrs["note"]) == (3, "x")
assert watch.seen == ["enter", "before note", "after note", "before Rename", "after Rename", "exit"]
assert [name for name, _ in clock.taken] == ["note", "Rename"] and clock.render().count("us\n") == 2
assert note.info.name == "note" and repr(note.info) == "PassInfo(opt_level=0, name='note')"
with pytest.raises(
    tvm.TVMError, match="pass Bad: the class has neither transform_module nor transform_function"
):
    module_pass(type("Bad", (), {}), opt_level=0)()

# ---- questions

block = matmul.body.block.body.seq[1].body.body.block
reads, writes, opaque = tir.analysis.get_block_access_region(block)
assert [region.buffer.name for region in reads + writes] == ["Y", "C"] and not opaque
assert [len(regions) for regions in tir.analysis.get_block_read_write_region(block)] == [1, 1]
assert tir.analysis.estimate_tir_flops(tvm.IRModule({"main": matmul})) == 2 * 16**3 + 16 * 16
assert tir.analysis.calculate_allocated_bytes(matmul) == {"global": 16 * 16 * 4}
with pytest.raises(tvm.TVMError) as error:
    tir.analysis.calculate_allocated_bytes(
        scale.with_attr("x", 1)
        .specialize({})
        .replace(body=tir.AllocBuffer(tir.decl_buffer([n]), {}, tir.Evaluate(n)))
    )
assert str(error.value) == "buffer buffer has a size that is known only when the program runs: n"
assert tir.analysis.calculate_workspace_bytes(sch.mod["main"], 1) == 16 * 4
assert tir.analysis.verify_memory(matmul) and tir.analysis.verify_well_formed(matmul)
i = tir.Var("i", "int32")
assert [var.name for var in tir.analysis.undefined_vars(tir.Evaluate(i + 1))] == ["i"]
assert tir.analysis.undefined_vars(tir.Evaluate(i + 1), [i]) == []
assert tir.analysis.expr_deep_equal(i + 1, i + 1) and not tir.analysis.expr_deep_equal(i + 1, i + 2)
assert tir.analysis.has_if_then_else(tir.Evaluate(tir.if_then_else(i > 0, 1, 2)))
assert not tir.analysis.has_if_then_else(tir.Evaluate(i))
assert tir.analysis.OOBChecker()(tvm.IRModule({"main": matmul}))
print("ok")
