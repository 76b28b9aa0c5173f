"""Fields, constructors and functions of nodes under TVM's names."""

import numpy as np
import tvm
from tvm import tir
from tvm.script import tir as T


@T.prim_func
def main(a: T.handle, B: T.Buffer((4, 5), "float32")):
    A = T.match_buffer(a, (4, 5), "float32")
    for i in T.parallel(4):
        for j in range(5):
            B[i, j] = A[i, j] * T.float32(2)


assert [buffer.name for buffer in main.buffer_map.values()] == ["A", "B"]
assert isinstance(main, tir.PrimFunc) and isinstance(main.body, tir.For) and not isinstance(main, tir.For)
assert main.body.kind == tir.ForKind.PARALLEL and main.body.body.kind == tir.ForKind.SERIAL

names = []
tir.stmt_functor.post_order_visit(main.body, lambda node: names.append(type(node).__name__))
assert names[-1] == "For" and names.count("For") == 2 and "BufferStore" in names
store = main.body.body.body
i, j = main.body.loop_var, main.body.body.loop_var
moved = tir.stmt_functor.substitute(store, {i: 3, j: i + 1})
assert str(moved).strip() == "B[3, i + 1] = A[3, i + 1] * T.float32(2)", moved
assert tir.stmt_functor.substitute(store, {tir.Var("z", "int32"): 0}).same_as(store)

A = tir.decl_buffer((7,), "float32", name="A", data_alignment=16, offset_factor=1, scope="")
n = tir.Var("n", "int32")
loop = tir.For(n, 0, 7, tir.ForKind.UNROLLED, tir.BufferStore(A, tir.const(1.0), [n]))
func = tir.PrimFunc([A], loop, attrs={"global_symbol": "ones"})
out = tvm.nd.array(np.zeros(7, "float32"))
tvm.build(func)["ones"](out)
np.testing.assert_array_equal(out.asnumpy(), np.ones(7))
assert tir.analysis.verify_well_formed(func)

mapped = tir.IndexMap.from_func(lambda i, j: [j, i // 4, i % 4]).map_indices([9, 2])
assert [int(index) for index in mapped] == [2, 2, 1]
assert tvm.ir.Range.from_min_extent(2, 3).extent == 3
kind = tvm.DataType("float32x4")
assert (kind.lanes, kind.bits, tvm.DataType("float8_e4m3fn").bits, tvm.DataType("bool").bits) == (4, 32, 8, 1)


@T.prim_func
def folded(B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = (i * 4 + 3) // 4


simple = tir.transform.Simplify()(tvm.IRModule({"main": folded}))
assert "B[i] = i\n" in simple.astext(), simple
# operators as functions
x = tir.Var("x", "int32")
assert str(tir.ret(x)) == "T.ret(x)" and str(tir.power(x, 2)) == "T.pow(x, 2)"
assert str(tir.call_llvm_pure_intrin("float32", "llvm.fabs", tir.const(1.0, "float32"))) == (
    'T.call_llvm_pure_intrin("float32", "llvm.fabs", T.float32(1))'
)
assert tir.isnullptr(tir.Var("p", "handle")).dtype == "bool" and tir.vscale().dtype == "int32"
assert str(tir.add(x, tir.multiply(x, 2))) == "x + x * 2" and str(tir.subtract(x, 1)) == "x - 1"
assert tir.logaddexp(tir.const(0.0), tir.const(1.0)).dtype == "float32"
assert [type(each).__name__ for each in tir.stmt_list(tir.stmt_seq(store, tir.ret(x)))] == [
    "BufferStore",
    "Evaluate",
]
assert tvm.runtime.convert([1, "a", {"b": 2}])[2]["b"] == 2

# programs changed node by node
seen = []
tir.stmt_functor.pre_order_visit(
    main.body, lambda node: seen.append(type(node).__name__) or not isinstance(node, tir.BufferStore)
)
assert seen[0] == "For" and seen[-1] == "BufferStore"
doubled = tir.stmt_functor.ir_transform(
    main.body, None, lambda node: tir.FloatImm("float32", 4.0), ["tir.FloatImm"]
)
assert "T.float32(4)" in str(doubled) and "T.float32(2)" in str(main.body)
kept = tir.stmt_functor.ir_transform(main.body, lambda node: node, None, ["tir.For"])
assert kept.same_as(main.body)
fresh = tir.stmt_functor.renew_defs(main)
tvm.ir.assert_structural_equal(fresh, main)
assert not fresh.params[1].same_as(main.params[1])
assert main.with_body(doubled).body.same_as(doubled)


# loops bound to threads; functions as flat loops
@T.prim_func
def bound(A: T.Buffer((4, 4), "float32")):
    for i in T.thread_binding(4, thread="threadIdx.x"):
        for j in range(4):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(0)


loop = bound.body.block.body
assert loop.thread_binding.thread_tag == "threadIdx.x" and loop.body.thread_binding is None
lowered = tvm.lower(bound)
assert "A[i * 4 + j] = T.float32(0)" in lowered["main"].script().replace("A_1", "A")
mod = tvm.IRModule({"f": bound, "g": main})
named = tir.transform.Filter(lambda func: len(func.params) == 1)(mod)
assert [var.name_hint for var in named.get_global_vars()] == ["f"]
rest = tvm.IRModule({"f": bound, "g": main})
del rest["g"]
assert list(rest.functions) == rest.get_global_vars() and len(rest) == 1
noted = tir.transform.Apply(lambda func: func.with_attr("note", 1))(mod)
assert noted["f"].attrs["note"] == noted["g"].attrs["note"] == 1
with tvm.transform.PassContext(config={"tir.disable_vectorize": True}):
    tvm.build(main, target="llvm")
print("ok")
