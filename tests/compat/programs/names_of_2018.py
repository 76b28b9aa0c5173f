"""A program of 2018: tensor expressions had no module of their own."""

import numpy as np
import tvm

n = tvm.var("n")
A = tvm.placeholder((n, 7), name="A")
k = tvm.reduce_axis((0, 7), name="k")
B = tvm.compute((n,), lambda i: tvm.sum(tvm.exp(A[i, k]), axis=k), name="B")
C = tvm.compute((n,), lambda i: tvm.select(B[i] > 7, tvm.log(B[i]), tvm.const(0, "float32")), name="C")
s = tvm.create_schedule(C.op)
s[B].compute_at(s[C], C.op.axis[0])
with tvm.build_config(unroll_explicit=False):
    function = tvm.build(s, [A, C], "llvm", name="log_sum")
for count in (1, 5, 127):
    a = np.random.default_rng(0).uniform(-1, 1, (count, 7)).astype("float32")
    c = tvm.nd.array(np.zeros(count, "float32"))
    function(tvm.nd.array(a), c)
    total = np.exp(a).sum(1)
    np.testing.assert_allclose(c.numpy(), np.where(total > 7, np.log(total), 0), rtol=1e-5)

# targets by their names, and threads
s = tvm.create_schedule(C.op)
for tensor in (B, C):
    block, thread = s[tensor].split(tensor.op.axis[0], factor=64)
    s[tensor].bind(block, tvm.thread_axis("blockIdx.x"))
    s[tensor].bind(thread, tvm.thread_axis("threadIdx.x"))
for target in (tvm.target.cuda(), tvm.target.create("opencl")):
    source = tvm.build(s, [A, C], target).imported_modules[0].get_source()
    assert source.count("_kernel") >= 2 and "exp" in source


@tvm.hybrid.script
def doubled(a):
    b = output_tensor((10,), "float32")  # noqa: F821
    for i in range(10):
        b[i] = a[i] * 2.0
    return b


X = tvm.placeholder((10,), name="X")
Y = doubled(X)
x, y = np.arange(10, dtype="float32"), tvm.nd.array(np.zeros(10, "float32"))
tvm.build(tvm.create_schedule(Y.op), [X, Y], "llvm")(tvm.nd.array(x), y)
np.testing.assert_array_equal(y.numpy(), 2 * x)

# memory of an argument by its buffer, and an argument that nothing reads
buffer = tvm.decl_buffer((10,), "float32", name="memory")
unread = tvm.placeholder((3,), name="unread")
function = tvm.build(tvm.create_schedule(Y.op), [buffer, unread, Y], "llvm", binds={X: buffer})
function(tvm.nd.array(x + 1), tvm.nd.array(np.zeros(3, "float32")), y)
np.testing.assert_array_equal(y.numpy(), 2 * (x + 1))

print("ok")
