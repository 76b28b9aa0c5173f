"""split_call_tir: a loop program of several stages becomes several calls."""

from graph_testing import kernels, random, same_numbers

from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class TwoStages:
    @T.prim_func(private=True)
    def exp_add(x: T.Buffer((5, 7), "float32"), b: T.Buffer((7,), "float32"), y: T.Buffer((5, 7), "float32")):
        t = T.alloc_buffer((5, 7), "float32")
        for i, j in T.grid(5, 7):
            with T.block("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = T.exp(x[vi, vj])
        for i, j in T.grid(5, 7):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = t[vi, vj] + b[vj]

    @R.function
    def main(x: R.Tensor((5, 7), "float32"), b: R.Tensor((7,), "float32")):
        cls = TwoStages
        with R.dataflow():
            gv = R.call_tir(cls.exp_add, (x, b), out_sinfo=R.Tensor((5, 7), "float32"))
            R.output(gv)
        return gv


@I.ir_module
class OneStageEach:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), b: R.Tensor((7,), "float32")):
        cls = OneStageEach
        with R.dataflow():
            lv = R.call_tir(cls.exp_add_0, (x,), out_sinfo=R.Tensor((5, 7), "float32"))
            gv = R.call_tir(cls.exp_add_1, (lv, b), out_sinfo=R.Tensor((5, 7), "float32"))
            R.output(gv)
        return gv

    @T.prim_func(private=True)
    def exp_add_0(x: T.Buffer((5, 7), "float32"), t: T.Buffer((5, 7), "float32")):
        T.func_attr({"tir.noalias": True})
        for i, j in T.grid(5, 7):
            with T.block("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = T.exp(x[vi, vj])

    @T.prim_func(private=True)
    def exp_add_1(
        t: T.Buffer((5, 7), "float32"), b: T.Buffer((7,), "float32"), y: T.Buffer((5, 7), "float32")
    ):
        T.func_attr({"tir.noalias": True})
        for i, j in T.grid(5, 7):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = t[vi, vj] + b[vj]


def test_each_stage_is_a_call():
    step = transform.split_call_tir()
    result = transform.dead_code_elimination()(step(TwoStages))
    assert_structural_equal(result, OneStageEach)
    assert step(result) is result
    same_numbers(result, TwoStages, random(5, 7), random(7))


@I.ir_module
class Elementwise:
    @R.function
    def main(x: R.Tensor(("n", 127), "float32"), y: R.Tensor(("n", 127), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.exp(a)
            gv = R.sum(b, axis=[1])
            R.output(gv)
        return gv


def test_split_undoes_fusion_with_symbolic_shapes():
    fused = Elementwise
    for name in ("legalize_ops", "fuse_ops", "fuse_tir", "dead_code_elimination"):
        fused = getattr(transform, name)()(fused)
    assert len(kernels(fused)) == 1
    result = transform.split_call_tir()(fused)
    assert len(kernels(result)) == 3
    same_numbers(result, Elementwise, random(5, 127), random(5, 127))
    assert transform.split_call_tir(func_names=["main"])(fused) is fused
