"""Schedules, traces and index maps in the manner of TVM's test suites of 2022 to 2024."""

import numpy
import tvm
from tvm import te, tir
from tvm.script import tir as T
from tvm.tir.schedule.testing import assert_structural_equal_ignore_global_symbol, verify_trace_roundtrip


@T.prim_func
def elementwise(a: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (128, 128))
    B = T.alloc_buffer((128, 128))
    C = T.match_buffer(c, (128, 128))
    for i, j in T.grid(128, 128):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, j in T.grid(128, 128):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1.0


@T.prim_func
def inlined(a: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (128, 128))
    C = T.match_buffer(c, (128, 128))
    for i, j in T.grid(128, 128):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * 2.0 + 1.0


# a schedule of a function calls it "main"
sch = tir.Schedule(elementwise, debug_mask="all", enable_check=True)
sch.compute_inline("B")
assert_structural_equal_ignore_global_symbol(inlined, sch.mod["main"])
verify_trace_roundtrip(sch=sch, mod=elementwise)
assert isinstance(sch, tir.Schedule)

# traces show all arguments
sch = tir.Schedule(elementwise)
block = sch.get_block("B")
i, j = sch.get_loops(block)
tile = sch.sample_perfect_tile(i, n=2, decision=[2, 64])
outer, inner = sch.split(i, factors=tile)
sch.reorder(outer, j, inner)
sch.fuse(outer, j)
sch.annotate(block_or_loop=block, ann_key="hint", ann_val=[1, 2])
sch.transform_layout(block, ("write", 0), lambda m, n: (m // 16, n, m % 16))
sch.enter_postproc()
sch.vectorize(inner)
TEXT = """\
# from tvm import tir
def apply_trace(sch: tir.Schedule) -> None:
  b0 = sch.get_block(name="B", func_name="main")
  l1, l2 = sch.get_loops(block=b0)
  v3, v4 = sch.sample_perfect_tile(loop=l1, n=2, max_innermost_factor=16, decision=[2, 64])
  l5, l6 = sch.split(loop=l1, factors=[v3, v4], preserve_unit_iters=True, disable_predication=False)
  sch.reorder(l5, l2, l6)
  l7 = sch.fuse(l5, l2, preserve_unit_iters=True)
  sch.annotate(block_or_loop=b0, ann_key="hint", ann_val=[1, 2])
  sch.transform_layout(block=b0, buffer=("write", 0), index_map=lambda m, n: (m // 16, n, m % 16), pad_value=None, \
assume_injective_transform=False)
  sch.enter_postproc()
  sch.vectorize(loop=l6)"""
assert str(sch.trace) == TEXT, str(sch.trace)
assert [each.kind.name for each in sch.trace.insts[:4]] == [
    "GetBlock",
    "GetLoops",
    "SamplePerfectTile",
    "Split",
]
assert repr(sch.trace.insts[3].inputs) == "[l1, v3, v4]" and repr(sch.trace.insts[3].outputs) == "[l5, l6]"
assert list(sch.trace.decisions.values()) == [[2, 64]]
assert "vectorize" not in str(sch.trace.simplified(remove_postproc=True))
again = tir.Schedule(elementwise)
tir.schedule.Trace.apply_json_to_schedule(sch.trace.as_json(), again)
tvm.ir.assert_structural_equal(again.mod, sch.mod)

# layouts by functions of *args, with axis separators
sch = tir.Schedule(elementwise)
sch.transform_layout("B", "B", lambda *idx: [idx[0], tir.IndexMap.AXIS_SEPARATOR, *idx[1:]])
assert list(sch.get(sch.get_block("B")).writes[0].buffer.axis_separators) == [1]
sch.transform_block_layout("C", lambda *axes: axes)
assert sch.can_decompose_padding("C", sch.get_loops("C")[0]) is False

# where loops and blocks stand
sref = sch.get_sref(sch.get_block("C"))
assert isinstance(sref, tir.schedule.StmtSRef) and sref.stmt.name_hint == "C"
assert sref.parent.stmt.loop_var.name == sch.get(sch.get_loops("C")[-1]).loop_var.name
assert sch.get(sref).same_as(sref.stmt) and sch.state.get_sref(sref.stmt) == sref
root = sch.get_sref(sch.get_block("root"))
assert root.parent is None and root.stmt.name_hint == "root"

# index maps
four = tir.IndexMap.from_func(lambda i, j: (i // 4, j, i % 4))
assert str(four) == "T.index_map(lambda i, j: (i // 4, j, i % 4))"
assert [int(extent) for extent in four.map_shape([8, 5])] == [2, 5, 4]
back = four.inverse([8, 5])
assert [int(tvm.arith.Analyzer().simplify(each)) for each in back.map_indices([1, 2, 3])] == [7, 2]
assert four.is_equivalent_to(tir.IndexMap.from_func(lambda *v: (v[0] // 4, v[1], v[0] % 4), ndim=2))
assert not four.is_equivalent_to(back)
_, separators = tir.IndexMap.from_func_with_separators(lambda i, j: (i, tir.IndexMap.AXIS_SEPARATOR, j))
assert separators == [1]

# buffers
buffer = tir.decl_buffer((4, 5), "float32", name="D")
assert [int(each) for each in buffer.offset_of([2, 3])] == [13]
assert buffer.scope() == buffer.scope == "global"
assert str(buffer.access_ptr("r")) == 'T.tvm_access_ptr(T.type_annotation("float32"), D, 0, 20, 1)'
assert [int(each) for each in buffer.get_flattened_buffer().shape] == [20]
assert str(buffer.vstore([0, 1], tir.const(2.0, "float32"))).strip() == "D[0, 1] = T.float32(2)"

# reductions are decomposed into blocks with known names
A = te.placeholder((128, 128), name="A")
k = te.reduce_axis((0, 128), "k")
total = te.compute((128,), lambda i: te.sum(A[i, k], axis=k), name="B")
sch = tir.Schedule(te.create_prim_func([A, total]))
sch.split(sch.get_loops("B")[1], factors=[tir.IntImm("int32", 8), None])
init = sch.decompose_reduction("B", sch.get_loops("B")[0])
assert [sch.get(each).name_hint for each in (init, sch.get_block("B_update"))] == ["B_init", "B_update"]

# decisions are looked up and changed
sch = tir.Schedule(elementwise, seed=1)
sch.sample_perfect_tile(sch.get_loops("B")[0], n=2)
(step,) = sch.trace.decisions
assert [int(each) for each in sch.trace.get_decision(step)] == list(step.decision)
changed = sch.trace.with_decision(step, [64, 2], remove_postproc=True)
assert "decision=[64, 2]" in str(changed) and sch.trace.as_python()[0].startswith("b0 = sch.get_")
try:
    sch.trace.with_decision(sch.trace.insts[0], [1], remove_postproc=True)
except tvm.error.TVMError as error:
    assert str(error) == "with_decision: step 1, GetBlock, draws nothing"
else:
    raise AssertionError

# index maps that pad
back, outside = tir.IndexMap.from_func(lambda i: (i // 4, i % 4)).non_surjective_inverse([14])
assert [int(tvm.arith.Analyzer().simplify(each)) for each in back.map_indices([2, 3])] == [11]
assert [
    bool(
        int(
            tvm.arith.Analyzer().simplify(
                tir.stmt_functor.substitute(outside, dict(zip(back.initial_indices, at)))
            )
        )
    )
    for at in ((3, 1), (3, 2))
] == [False, True]
swapped = tir.IndexMap.from_func(lambda i, j: (j, i)).map_ndarray(
    tvm.nd.array(numpy.arange(6.0).reshape(2, 3))
)
assert swapped.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]

# the block of partial results has the factored loop first, then the axes of the block in their order
sch = tir.Schedule(te.create_prim_func([A, total]))
sch.rfactor(sch.split(sch.get_loops("B")[1], factors=[None, 8])[1], 0)
axes = sch.get(sch.get_block("B_rf")).iter_vars
assert [(axis.iter_type, int(axis.dom.extent)) for axis in axes] == [
    ("spatial", 8),
    ("spatial", 128),
    ("reduce", 16),
]

# linear forms
x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
assert [str(each) for each in tvm.arith.detect_linear_equation(x * 3 + y - 5, [x, y])] == ["3", "1", "-5"]
assert tvm.arith.detect_linear_equation(x * y, [x, y]) == []

# one of several indices is padded
rows, outside = tir.IndexMap.from_func(lambda i, j: (i, j // 4, j % 4)).non_surjective_inverse([3, 6])
assert [int(tvm.arith.Analyzer().simplify(each)) for each in rows.map_indices([2, 1, 1])] == [2, 5]
tvm.ir.assert_structural_equal(outside, rows.initial_indices[1] * 4 + rows.initial_indices[2] >= 6)

print("ok")
