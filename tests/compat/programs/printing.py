"""script(): options of TVM; marks; traces that replay; equality."""

import tvm
import tvm.testing
from tvm.ir import assert_structural_equal, structural_equal
from tvm.script import tir as T
from tvm.tir.schedule.testing import assert_structural_equal_ignore_global_symbol, verify_trace_roundtrip
from tvm_ffi.access_path import AccessPath


@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = A[i] + T.float32(1)


@T.prim_func
def other(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = A[i] + T.float32(1)


text = main.script(path_to_underline=[AccessPath.root().attr("body").attr("extent")], show_meta=False)
assert text.splitlines()[-3:] == [
    "    for i in range(8):",
    "                   ^",
    "        A[i] = A[i] + T.float32(1)",
], text
assert "^" * 26 in main.script(obj_to_underline=[main.body.body])
assert "Q.prim_func" in main.script(tir_prefix="Q", verbose_expr=True, black_format=True)
assert_structural_equal_ignore_global_symbol(main, other)
assert not structural_equal(main, other)
try:
    assert_structural_equal(main, other)
    raise AssertionError("not raised")
except ValueError as error:
    assert "global_symbol" in str(error)
x, y = tvm.tir.Var("x", "int32"), tvm.tir.Var("x", "int32")
assert structural_equal(x + 1, y + 1, map_free_vars=True) and not structural_equal(x + 1, y + 1)


@T.prim_func
def copy(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]


sch = tvm.tir.Schedule(copy, debug_mask="all")
(i,) = sch.get_loops(sch.get_block("B"))
outer, inner = sch.split(i, factors=[None, 4])
sch.vectorize(inner)
verify_trace_roundtrip(sch, mod=copy)
from tvm.script.highlight import cprint

cprint(copy)
print("ok")
