"""to_non_dataflow: dataflow blocks become plain bindings."""

import numpy as np
import pytest
from graph_programs import NeededCasts, Once, TwoBlocks
from graph_testing import check, random, run

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Plain:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        a = R.add(x, y)
        c = R.multiply(a, a)
        d = R.exp(a)
        f = R.add(d, d)
        gv = R.add(c, f)
        return gv


@I.ir_module
class PlainTwoBlocks:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        a = R.exp(x)
        gv = R.exp(x)
        b = R.exp(x)
        gv1 = R.add(b, gv)
        return gv1


@pytest.mark.parametrize(("before", "after"), [(Once, Plain), (TwoBlocks, PlainTwoBlocks)])
def test_to_non_dataflow(before, after):
    inputs = [random(*(int(v.value) for v in param.type.shape.values)) for param in before["main"].params]
    check([transform.to_non_dataflow()], before, after, *inputs)


def test_to_non_dataflow_keeps_symbolic_casts():
    plain = transform.to_non_dataflow()(NeededCasts)
    assert "R.dataflow" not in plain["main"].script()
    inputs = random(5, 7), random(127, 7), random(5, 7)
    for a, b in zip(run(NeededCasts, *inputs), run(plain, *inputs), strict=True):
        np.testing.assert_array_equal(a, b)
