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
print("ok")
