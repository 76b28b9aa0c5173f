"""remove_unused_outputs: results of private functions that nothing reads go."""

from graph_testing import check, random

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Pair:
    @R.function(private=True)
    def helper(a: R.Tensor((5,), "float32")):
        b = R.exp(a)
        c = R.negative(a)
        d = R.add(b, c)
        return (b, c, d)

    @R.function
    def main(x: R.Tensor((5,), "float32")):
        cls = Pair
        r = cls.helper(x)
        s = r[2]
        q = r[0]
        gv = R.add(s, q)
        return gv


@I.ir_module
class ShorterPair:
    @R.function(private=True)
    def helper(a: R.Tensor((5,), "float32")):
        b = R.exp(a)
        c = R.negative(a)
        d = R.add(b, c)
        return (b, d)

    @R.function
    def main(x: R.Tensor((5,), "float32")):
        cls = ShorterPair
        r = cls.helper(x)
        s = r[1]
        q = r[0]
        gv = R.add(s, q)
        return gv


def test_results_that_nobody_uses():
    check([transform.remove_unused_outputs()], Pair, ShorterPair, random(5))
