"""fuse_tir: what becomes one loop program, and functions that are left alone."""

import numpy as np
from graph_testing import (
    random,
    run,
)

import tilewright
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class WrittenByHand:
    @T.prim_func(private=True)
    def double(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in T.serial(3):
            with T.block("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def both(x: R.Tensor((3,), "float32")):
        R.func_attr({"Primitive": 1})
        cls = WrittenByHand
        with R.dataflow():
            once = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((3,), "float32"))
            twice = R.call_tir(cls.double, (once,), out_sinfo=R.Tensor((3,), "float32"))
            R.output(once, twice)
        return (once, twice)

    @R.function
    def more(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            gv = R.exp(x)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = WrittenByHand
        pair = cls.both(x)
        first = pair[0]
        second = pair[1]
        third = cls.more(second)
        return (first, second, third)


def test_fuse_tir_takes_functions_written_by_hand_and_leaves_what_is_more_than_calls():
    merged = transform.fuse_tir()(WrittenByHand)
    assert isinstance(merged["both"], tilewright.tir.PrimFunc)
    assert isinstance(merged["more"], tilewright.relax.Function)
    assert len(merged["both"].params) == 3
    x = random(3)
    for got, want in zip(run(merged, x), [x * 2, x * 4, np.exp(x * 4)], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
