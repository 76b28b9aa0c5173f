"""Additions of the script and of graph operators from 2023 on: macros, rewriters, layouts, views, checks of purity."""

import numpy as np
import tvm
from tvm import relax
from tvm.relax.dpl import PatternMatchingRewriter, is_op, wildcard
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T


@R.macro(hygienic=False)
def doubled(value):
    return R.add(value, value)


@R.rewriter
class AddToMultiply:
    @R.function
    def pattern(A: R.Tensor([16], "float32"), B: R.Tensor([16], "float32")):
        C = A + B
        return C

    @R.function
    def replacement(A: R.Tensor([16], "float32"), B: R.Tensor([16], "float32")):
        C = A * B
        return C


@R.function(private=True)
def before(x: R.Tensor([32], "float32")):
    halves = R.split(x, 2)
    low = halves[0]
    high = halves[1]
    out = low + high
    return out


after = AddToMultiply(before)
assert "R.multiply(low, high)" in after.script(), after.script()
x = wildcard()
to_silu = PatternMatchingRewriter.from_pattern(
    is_op("relax.multiply")(x, wildcard()), lambda expr, matches: relax.op.nn.silu(matches[x])
)
assert "R.nn.silu(low)" in (AddToMultiply | to_silu)(before).script()

pack = lambda n, c: (n, c // 4, c % 4)  # noqa: E731


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 6), "float32")):
        with R.dataflow():
            y = doubled(x)
            packed = R.layout_transform(y, index_map=pack, pad_value=1.0)
            flat = R.nn.batch_flatten(packed)
            bits = R.memory.view(flat, dtype=R.dtype("int32"))
            R.output(flat, bits)
        return (flat, bits)


vm = relax.VirtualMachine(tvm.compile(Module, target="llvm"), tvm.cpu())
data = np.arange(12, dtype="float32").reshape(2, 6)
flat, bits = vm["main"](tvm.runtime.tensor(data))
wanted = np.pad(data * 2, ((0, 0), (0, 2)), constant_values=1)
assert (flat.numpy() == wanted).all() and (bits.numpy() == wanted.view("int32")).all()

shaped, open_shape = (
    relax.TensorStructInfo([1, 2], "float32"),
    relax.TensorStructInfo(dtype="float32", ndim=2),
)
assert open_shape.is_base_of(shaped) and not shaped.is_base_of(open_shape)


@T.prim_func
def reshaped(A: T.Buffer((2, 6), "float32"), B: T.Buffer((3, 4), "float32")):
    for i, j in T.grid(3, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[(vi * 4 + vj) // 6, (vi * 4 + vj) % 6]


@T.prim_func
def copied(A: T.Buffer((2, 6), "float32"), B: T.Buffer((2, 6), "float32")):
    for i, j in T.grid(2, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[1 - vi, vj]


assert relax.analysis.has_reshape_pattern(reshaped) and not relax.analysis.has_reshape_pattern(copied)

try:

    @R.function
    def shown(x: R.Tensor((2,), "float32")):
        R.print(x, format="{}")
        return x

except tvm.error.DiagnosticError as error:
    assert "R.print has side effects, but function shown is pure" in str(error)
else:
    raise AssertionError("an impure call in a pure function")

loose = relax.Var("y", R.Tensor((2,), "float32"))
func = relax.Function([], relax.SeqExpr([], loose), R.Tensor((2,), "float32"))
assert not relax.analysis.well_formed(tvm.IRModule.from_expr(func))
print("ok")
