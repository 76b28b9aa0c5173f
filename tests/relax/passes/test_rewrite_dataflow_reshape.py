"""rewrite_dataflow_reshape: loop programs that only reshape are views."""

from graph_testing import check, random

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Views:
    @T.prim_func(private=True)
    def view(a: T.Buffer((5, 14), "float32"), b: T.Buffer((7, 10), "float32")):
        for i, j in T.grid(7, 10):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[(vi * 10 + vj) // 14, (vi * 10 + vj) % 14]

    @T.prim_func(private=True)
    def part(a: T.Buffer((7, 10), "float32"), b: T.Buffer((5, 10), "float32")):
        for i, j in T.grid(5, 10):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[vi, vj]

    @R.function
    def main(x: R.Tensor((5, 14), "float32")):
        cls = Views
        with R.dataflow():
            e = R.exp(x)
            lv = R.call_tir(cls.view, (e,), out_sinfo=R.Tensor((7, 10), "float32"))
            gv = R.call_tir(cls.part, (lv,), out_sinfo=R.Tensor((5, 10), "float32"))
            R.output(gv)
        return gv


@I.ir_module
class ViewsReshaped:
    @T.prim_func(private=True)
    def view(a: T.Buffer((5, 14), "float32"), b: T.Buffer((7, 10), "float32")):
        for i, j in T.grid(7, 10):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[(vi * 10 + vj) // 14, (vi * 10 + vj) % 14]

    @T.prim_func(private=True)
    def part(a: T.Buffer((7, 10), "float32"), b: T.Buffer((5, 10), "float32")):
        for i, j in T.grid(5, 10):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[vi, vj]

    @R.function
    def main(x: R.Tensor((5, 14), "float32")):
        cls = ViewsReshaped
        with R.dataflow():
            e = R.exp(x)
            lv = R.reshape(e, R.shape([7, 10]))
            gv = R.call_tir(cls.part, (lv,), out_sinfo=R.Tensor((5, 10), "float32"))
            R.output(gv)
        return gv


def test_programs_that_only_reshape_are_views():
    # `part` keeps positions as well, but drops elements
    check([transform.rewrite_dataflow_reshape()], Views, ViewsReshaped, random(5, 14))
