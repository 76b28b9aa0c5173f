"""remove_unused_parameters: parameters of private functions that nothing reads go."""

from graph_testing import check, random

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Unused:
    @R.function(private=True)
    def helper(
        a: R.Tensor((5,), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor((3,), "float32")
    ) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        gv = R.full(R.shape([n]), R.const(2.0, "float32"), dtype="float32")
        return gv

    @R.function
    def main(a: R.Tensor((5,), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor((3,), "float32")):
        cls = Unused
        gv = cls.helper(a, b, c)
        return gv


@I.ir_module
class Needed:
    @R.function(private=True)
    def helper(b: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        gv = R.full(R.shape([n]), R.const(2.0, "float32"), dtype="float32")
        return gv

    @R.function
    def main(a: R.Tensor((5,), "float32"), b: R.Tensor(("n",), "float32"), c: R.Tensor((3,), "float32")):
        cls = Needed
        gv = cls.helper(b)
        return gv


def test_a_parameter_that_says_a_dimension_stays():
    check([transform.remove_unused_parameters()], Unused, Needed, random(5), random(127), random(3))
