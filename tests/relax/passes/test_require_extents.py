"""require_extents: what operators need of open extents is stated before they run (tests/relax/infer/test_requirements.py: all texts)."""

import numpy as np
import pytest
from graph_testing import random, run

import tilewright
from tilewright.relax import transform
from tilewright.script import ir as I
from tilewright.script import relax as R


@I.ir_module
class Open:
    @R.function
    def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor((7, 3), "float32")):
        with R.dataflow():
            gv = R.matmul(x, w)
            R.output(gv)
        return gv


@I.ir_module
class Known:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), w: R.Tensor((7, 3), "float32")):
        with R.dataflow():
            gv = R.matmul(x, w)
            R.output(gv)
        return gv


def test_a_statement_stands_before_the_operator():
    stated = transform.require_extents()(Open)
    text = stated.script()
    assert text.count("R.require(") == 1
    assert text.index("R.require(") < text.index("R.matmul(")
    x, w = random(5, 7), random(7, 3)
    np.testing.assert_array_equal(run(stated, x, w), run(Open, x, w))


def test_statements_are_made_once_and_only_where_extents_are_open():
    stated = transform.require_extents()(Open)
    assert transform.require_extents()(stated) is stated
    assert transform.require_extents()(Known) is Known


def test_a_call_with_other_extents_is_refused():
    with pytest.raises(tilewright.UserError) as error:
        run(transform.require_extents()(Open), random(5, 6), random(7, 3))
    assert (
        str(error.value)
        == "error: main: matmul: x1 is [n = 5, k = 6], x2 is [7, 3]: contracted lengths k = 6 and 7 differ\nhelp: the function is main(x: float32[n, k], w: float32[7, 3]) -> output: float32[n, 3]"
    )
