"""Constructors of tvm.tir with the order of arguments that TVM documents."""

import tvm
from tvm import te, tir
from tvm.script import tir as T
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tir as builder

x = tir.Var("x", "int32")
A = tir.decl_buffer((8,), "float32", name="A")
store = tir.BufferStore(A, tir.FloatImm("float32", 1.0), [x])

let = tir.LetStmt(x, 3, store)
assert (str(let.var), int(let.value), let.body.same_as(store)) == ("x", 3, True)
assert isinstance(let, tir.LetStmt) and isinstance(tir.Let(x, 1, x + 1), tir.Let)
checked = tir.AssertStmt(x > 0, tir.StringImm("positive"), store)
assert isinstance(checked.seq[0], tir.AssertStmt) and checked.seq[1].same_as(store)
assert tir.AssertStmt(x > 0, "positive").message == "positive"

k = te.reduce_axis((2, 8), "k")
adds = tir.CommReducer([x], [tir.Var("y", "int32")], [x], [tir.const(0)])
total = tir.Reduce(adds, [k.var * 2], [k], tir.const(True), 0)
assert (str(total.source[0]), int(total.axis[0].dom.min), total.dtype) == ("k * 2", 2, "int32")

# ranges end before their second argument
assert [int(each) for each in (tvm.ir.Range(2, 5).min, tvm.ir.Range(2, 5).extent)] == [2, 3]
assert [int(each) for each in (tvm.ir.Range(5).min, tvm.ir.Range(5).extent)] == [0, 5]
assert str(tvm.ir.Range(x, x + 4).extent) == "4" and str(tvm.ir.Range(0, x).extent) == "x"
assert int(tvm.ir.Range.from_min_extent(2, 5).extent) == 5
assert isinstance(tvm.ir.Range(2, 5), tvm.ir.Range) and tir.Range is tvm.ir.Range

# a map over a loop that does not begin at 0 is inverted over that loop
y = tir.Var("y", "int32")
found = tvm.arith.detect_iter_map([x], {x: tvm.ir.Range(4, 20)})
inverse = tvm.arith.inverse_affine_iter_map(found.indices, [y])
assert str(inverse[x]) == "y"

# a block around the store, made of nodes and written as text
axis = tir.IterVar(tvm.ir.Range(0, 8), x, tir.IterVar.DataPar)
assert (axis.iter_type, str(axis.var), int(axis.dom.extent)) == ("spatial", "x", 8)
assert tir.IterVar((0, 8), "k", tir.IterVar.CommReduce).iter_type == "reduce"
region = tir.BufferRegion.from_point(A, [x])
whole = tir.BufferRegion.full_region(A)
assert [int(each.extent) for each in (region.region[0], whole.region[0])] == [1, 8]
block = tir.Block([axis], [], [region], "fill", store)
i = tir.Var("i", "int32")
loop = tir.For(i, 0, 8, tir.ForKind.SERIAL, tir.BlockRealize([i], tir.const(True), block))
root = tir.BlockRealize([], tir.const(True), tir.SBlock([], [], [], "root", loop, alloc_buffers=[]))


@T.prim_func
def fill(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("fill"):
            x = T.axis.spatial(8, i)
            A[x] = T.float32(1)


tvm.ir.assert_structural_equal(tir.PrimFunc([A], root), fill.without_attr("global_symbol"))

# one loop of a builder gives its variable, several give a list
with IRBuilder() as made:
    with builder.prim_func():
        builder.func_name("fill")
        target = builder.arg("A", builder.Buffer((8,), "float32"))
        with builder.grid(8) as i:
            with builder.block("fill"):
                v = builder.axis.spatial(8, i)
                builder.buffer_store(target, builder.float32(1), [v])
tvm.ir.assert_structural_equal(made.get(), fill)

print("ok")
