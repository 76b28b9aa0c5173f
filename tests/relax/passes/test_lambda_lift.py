"""lambda_lift: functions inside of functions become functions of the module."""

from graph_programs import CAPTURES

import tilewright as tw
from tilewright import relax

HEADER = "from tvm.script import ir as I, relax as R, tir as T\n"


def test_what_is_captured_comes_last():
    lifted = relax.transform.lambda_lift()(tw.script.parse(HEADER + CAPTURES))
    expected = (
        HEADER
        + """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 5), "float32"), y: R.Tensor(("n", 5), "float32")) -> R.Tensor(("n", 5), "float32"):
        cls = Module
        inner: R.Callable((R.Tensor(("n", 5), "float32"),), R.Tensor(("n", 5), "float32")) = R.make_closure(cls.main_inner, (y,))
        z: R.Tensor(("n", 5), "float32") = inner(x)
        w: R.Tensor(("n", 5), "float32") = inner(z)
        return w

    @R.function(private=True)
    def main_inner(a: R.Tensor(("n", 5), "float32"), y: R.Tensor(("n", 5), "float32")) -> R.Tensor(("n", 5), "float32"):
        s: R.Tensor(("n", 5), "float32") = R.add(a, y)
        return s
"""
    )
    tw.ir.assert_structural_equal(lifted, tw.script.parse(expected))


def test_a_module_without_inner_functions_stays_the_same():
    module = relax.transform.lambda_lift()(tw.script.parse(HEADER + CAPTURES))
    assert relax.transform.lambda_lift()(module) is module
