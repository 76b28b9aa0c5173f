"""Operators that a program names, with a rule for each target, as old and new spellings have them."""

import numpy as np
import tvm
from tvm import te

n = te.var("n")
size = 131
numbers = np.random.default_rng(0).uniform(0.5, 4, size).astype("float32")


def lines(name, formula, target):
    """The module of B[i] = formula(A[i]); on GPUs 64 threads share a block."""
    A = te.placeholder((n,), name="A")
    B = te.compute(A.shape, lambda i: formula(A[i]), name="B")
    s = te.create_schedule(B.op)
    if target in ("opencl", "cuda"):
        outer, inner = s[B].split(B.op.axis[0], factor=64)
        s[B].bind(outer, te.thread_axis("blockIdx.x"))
        s[B].bind(inner, te.thread_axis("threadIdx.x"))
    return tvm.build(s, [A, B], target, name=name)


def check(module, name, expected, dev):
    a, b = tvm.nd.array(numbers, dev), tvm.nd.array(np.zeros(size, "float32"), dev)
    module[name](a, b)
    np.testing.assert_allclose(b.numpy(), expected, rtol=2e-6)


def half_log(x):
    # the operator is named before anything is known about it
    return tvm.tir.call_intrin(x.dtype, "tir.half_log", x)


try:
    lines("early", half_log, "c")
except tvm.TVMError as error:
    assert str(error).startswith("error: early: operator tir.half_log has no rule for target c\nhelp: "), (
        error
    )
else:
    raise AssertionError("there is no rule yet")

assert tvm.ir.register_op_attr("tir.half_log", "TCallEffectKind", tvm.tir.CallEffectKind.Pure) == 1
tvm.ir.register_op_attr("tir.half_log", "TVectorizable", True)


def rule_of_c(op):
    return tvm.tir.call_pure_extern("float32", "logf", op.args[0]) * 0.5 if op.dtype == "float32" else op


assert tvm.ir.register_intrin_lowering("tir.half_log", target="c", f=rule_of_c, level=99) is rule_of_c


@tvm.ir.register_intrin_lowering("tir.half_log", target="default")
def rule_of_all(op):
    return tvm.tir.log(op.args[0]) / 2


@tvm.ir.register_op_attr("tir.half_log", "opencl.FLowerIntrinsic")
def rule_of_opencl(op):
    return tvm.tir.call_pure_extern("float32", "native_log", op.args[0]) * 0.5


in_c = lines("halves", half_log, "c")
assert "logf(A[" in in_c.get_source()
check(in_c, "halves", np.log(numbers) / 2, tvm.cpu())
check(lines("halves", half_log, "llvm"), "halves", np.log(numbers) / 2, tvm.cpu())
kernel = lines("halves", half_log, "opencl").imported_modules[0].get_source()
assert "native_log(A[" in kernel and "void halves_kernel(__global const float*" in kernel

# functions of tilewright, and the spellings until 2020
tvm.register_intrin_rule(
    "c", "exp", lambda op: tvm.call_pure_extern("float32", "expf", op.args[0]), override=True
)


@tvm.target.intrin.register_intrin_rule("c", "twice")
def twice(op):
    return op.args[0] * 2.0


old = lines("old", lambda x: tvm.call_pure_intrin("float32", "twice", tvm.te.exp(x)), "c")
assert "expf(A[" in old.get_source()
check(old, "old", 2 * np.exp(numbers), tvm.cpu())

# as the notebook does it: the kernel gets A, B, n and the strides
sigmoid = lines("mysigm", te.sigmoid, "opencl")
(head,) = (line for line in sigmoid.imported_modules[0].get_source().splitlines() if "mysigm_kernel(" in line)
assert (
    head
    == "void mysigm_kernel(__global const float* restrict A, __global float* restrict B, int n, int stride,"
), head
if tvm.opencl(0).exist:
    check(sigmoid, "mysigm", 1 / (1 + np.exp(-numbers)), tvm.opencl(0))

# functions of CUDA and of its library libdevice, which has no header
tvm.ir.register_intrin_lowering(
    "tir.half_log",
    target="cuda",
    f=lambda op: tvm.tir.call_pure_extern("float32", "__logf", op.args[0]) * 0.5,
)
assert "__logf(A[" in lines("halves", half_log, "cuda").imported_modules[0].get_source()
by_libdevice = lines("logs", lambda x: tvm.tir.call_pure_extern("float32", "__nv_logf", x), "cuda")
assert 'extern "C" __device__ float __nv_logf(float);' in by_libdevice.imported_modules[0].get_source()

try:
    tvm.ir.register_op_attr("tir.half_log", "FInferType", None)("no type")
except tvm.TVMError as error:
    assert str(error) == (
        'register_op_attr: operators have no attribute "FInferType"\n'
        'help: "TCallEffectKind" and "TARGET.FLowerIntrinsic" can be registered'
    ), error
else:
    raise AssertionError("refused")

print("ok")
