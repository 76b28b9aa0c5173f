"""attach_global_symbol: every function has a symbol."""

import numpy as np
from graph_testing import random, run

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Private:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((3,), "float32"), b: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                b[vi] = a[vi]

    @R.function(private=True)
    def helper(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Private
        gv = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((3,), "float32"))
        return gv

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Private
        gv = cls.helper(x)
        return gv


def test_every_function_has_a_symbol():
    result = transform.attach_global_symbol()(Private)
    assert {var.name_hint: func.attrs["global_symbol"] for var, func in result.functions.items()} == {
        "copy": "copy",
        "helper": "helper",
        "main": "main",
    }
    assert transform.attach_global_symbol()(result) is result
    np.testing.assert_array_equal(run(result, random(3)), run(Private, random(3)))
