"""te.extern as programs of several years write it: calls of registered functions, and statements of an ir builder."""

import numpy as np
import tvm
from tvm import te
from tvm.script import tir as T


@tvm.register_func("test.compat.matmul", override=True)
def matmul(a, b, c):
    tvm.nd.array(a.numpy() @ b.numpy()).copyto(c)


n, m, k = 5, 7, 3
A = te.placeholder((n, k), name="A")
B = te.placeholder((k, m), name="B")
C = te.extern(
    (n, m),
    [A, B],
    lambda ins, outs: tvm.tir.call_packed("test.compat.matmul", ins[0], ins[1], outs[0]),
    name="C",
    dtype="float32",
    tag="mine",
)
assert isinstance(C.op, te.ExternOp) and [int(each) for each in C.shape] == [n, m]
D = te.compute((n, m), lambda i, j: C[i, j] + 1.0, name="D")
func = te.create_prim_func([A, B, D])
a, b = (np.random.default_rng(0).standard_normal(shape).astype("float32") for shape in ((n, k), (k, m)))
d = tvm.nd.array(np.zeros((n, m), "float32"))
tvm.build(func, target="llvm")(tvm.nd.array(a), tvm.nd.array(b), d)
tvm.testing.assert_allclose(d.numpy(), a @ b + 1, rtol=1e-5)
tvm.ir.assert_structural_equal(tvm.script.from_source(func.script(show_meta=True)), func)

# a schedule moves what is around it
sch = tvm.tir.Schedule(func, debug_mask="all")
sch.vectorize(sch.get_loops(sch.get_block("D"))[1])
assert [sch.get(each).name_hint for each in sch.get_producers(sch.get_block("D"))] == ["C"]
tvm.build(sch.mod, target="llvm")(tvm.nd.array(a), tvm.nd.array(b), d)
tvm.testing.assert_allclose(d.numpy(), a @ b + 1, rtol=1e-5)


# statements of a builder
def reversed_rows(ins, outs):
    from tvm.script.ir_builder import IRBuilder
    from tvm.script.ir_builder import tir as build

    with IRBuilder() as builder:
        with build.grid(n, k) as (i, j):
            build.buffer_store(outs[0], ins[0][n - 1 - i, j], [i, j])
    return builder.get()


E = te.extern((n, k), [A], reversed_rows, name="E")
e = tvm.nd.array(np.zeros((n, k), "float32"))
tvm.build(te.create_prim_func([A, E]), target="llvm")(tvm.nd.array(a), e)
assert (e.numpy() == a[::-1]).all()


# a loop program as a stage
@T.prim_func
def copy(x: T.handle, y: T.handle):
    rows, columns = T.int32(), T.int32()
    X = T.match_buffer(x, (rows, columns))
    Y = T.match_buffer(y, (rows, columns))
    for i, j in T.grid(rows, columns):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * 2.0


F = te.extern_primfunc([A], copy)
f = tvm.nd.array(np.zeros((n, k), "float32"))
tvm.build(te.create_prim_func([A, F]), target="llvm")(tvm.nd.array(a), f)
assert (f.numpy() == a * 2).all()
print("ok")
