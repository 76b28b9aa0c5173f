"""dead_code_elimination: bindings that nothing reads go, in branches too."""

import numpy as np
from graph_testing import (
    check,
    random,
)
from refusals import refusal

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class DeadInBranches:
    @R.function
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.abs(x)
            R.output(a, b)
        if c:
            with R.dataflow():
                lv = R.negative(a)
                gv = R.abs(x)
                R.output(gv)
            r = gv
        else:
            r = b
        return r

    @T.prim_func(private=True)
    def unused(A: T.Buffer((3,), "float32")):
        A[0] = T.float32(0)


@I.ir_module
class DeadInBranchesGone:
    @R.function
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            b = R.abs(x)
            R.output(b)
        if c:
            with R.dataflow():
                gv = R.abs(x)
                R.output(gv)
            r = gv
        else:
            r = b
        return r


def test_dead_code_elimination_reaches_into_branches():
    check([transform.dead_code_elimination()], DeadInBranches, DeadInBranchesGone, random(3), np.array(True))


def test_an_entry_that_is_not_there_is_refused():
    assert refusal(transform.dead_code_elimination(entry_functions=["mein"]), DeadInBranches) == (
        'error: dead_code_elimination: the module has no function "mein"\nhelp: did you mean main?'
    )
