"""te.hybrid.script as programs until 2025 write it: stages of a schedule, threads of a device."""

import numpy as np
import tvm
from tvm import te


@te.hybrid.script
def outer(a, b):
    c = output_tensor((a.shape[0], b.shape[0]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            c[i, j] = a[i] * b[j]
    return c


n, m = 5, 7
a = te.placeholder((n,), name="a")
b = te.placeholder((m,), name="b")
c = outer(a, b)
assert isinstance(c.op, te.HybridOp)
d = te.compute((n, m), lambda i, j: c[i, j] + 1.0, name="d")
s = te.create_schedule(d.op)
s[d].vectorize(d.op.axis[1])
text = str(tvm.lower(s, [a, b, d], simple_mode=True))
assert "T.Broadcast" in text, text
x, y = (np.random.default_rng(0).random(size).astype("float32") for size in (n, m))
z = tvm.nd.array(np.zeros((n, m), "float32"))
tvm.build(s, [a, b, d], "llvm")(tvm.nd.array(x), tvm.nd.array(y), z)
tvm.testing.assert_allclose(z.numpy(), np.outer(x, y) + 1, rtol=1e-6)
tvm.testing.assert_allclose(outer(x, y), np.outer(x, y), rtol=1e-6)


@tvm.te.hybrid.script
def bound(a):
    b = output_tensor(a.shape, a.dtype)
    for bx in bind("blockIdx.x", (a.shape[0] + 3) // 4):
        for tx in bind("threadIdx.x", 4):
            if likely(bx * 4 + tx < a.shape[0]):
                b[bx * 4 + tx] = a[bx * 4 + tx] + 1.0
    return b


V = te.placeholder((te.var("n"),), name="V")
func = te.create_prim_func([V, bound(V)])
assert 'T.thread_binding(4, thread="threadIdx.x")' in func.script()
print("ok")
