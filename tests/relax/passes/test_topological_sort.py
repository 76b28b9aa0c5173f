"""topological_sort: bindings in another order."""

import numpy as np
import pytest
from graph_testing import random, run

import tilewright
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Unsorted:
    @R.function
    def main(x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(y)
            c = R.negative(a)
            d = R.negative(b)
            gv = R.add(c, d)
            R.output(gv)
        return gv


def order(module) -> str:
    return "".join(binding.var.name_hint for binding in module["main"].body.blocks[0].bindings)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "acbdgv"),
        ({"order": "breadth-first"}, "abcdgv"),
        ({"direction": "from-outputs"}, "acbdgv"),
        ({"order": "breadth-first", "direction": "from-outputs"}, "abcdgv"),
    ],
)
def test_bindings_in_another_order(options, expected):
    step = transform.topological_sort(**options)
    result = step(Unsorted)
    assert order(result) == expected
    assert step(result) is result
    np.testing.assert_array_equal(run(result, random(5), random(5)), run(Unsorted, random(5), random(5)))


def test_orders_that_there_are_not():
    for options, text in [
        ({"order": "random"}, 'order is "random", expected "depth-first" or "breadth-first"'),
        ({"direction": "up"}, 'direction is "up", expected "from-inputs" or "from-outputs"'),
    ]:
        with pytest.raises(tilewright.UserError) as error:
            transform.topological_sort(**options)(Unsorted)
        assert str(error.value) == "error: topological_sort: " + text
