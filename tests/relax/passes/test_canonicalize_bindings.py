"""canonicalize_bindings: one name for each value, and casts only where they check something."""

import numpy as np
from graph_programs import NeededCasts, Once
from graph_testing import check, random, run

from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class OtherNames:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = x
            b = R.exp(a)
            t = (a, b)
            c = t[1]
            d = R.match_cast(c, R.Tensor((5, 7), "float32"))
            e = R.add(d, a)
            gv = e
            R.output(gv, b)
        return gv


@I.ir_module
class OneNameEach:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            b = R.exp(x)
            t = (x, b)
            gv = R.add(b, x)
            R.output(gv)
        return gv


def test_every_value_has_one_name():
    check([transform.canonicalize_bindings()], OtherNames, OneNameEach, random(5, 7))


@I.ir_module
class KnownCasts:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        y: R.Tensor(ndim=2, dtype="float32"),
        z: R.Tensor(("k", 7), "float32"),
    ) -> R.Tuple(
        R.Tensor(ndim=1, dtype="float32"), R.Tensor(ndim=1, dtype="float32"), R.Tensor(("n", 7), "float32")
    ):
        n = T.int64()
        m = T.int64()
        p = T.int64()
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((m, 7), "float32"))
            b = R.match_cast(y, R.Tensor((p, 7), "float32"))
            c = R.match_cast(z, R.Tensor((n, 7), "float32"))
            d = R.reshape(a, R.shape([m * 7]))
            e = R.reshape(b, R.shape([p * 7]))
            gv = (d, e, c)
            R.output(gv)
        return gv


def test_casts_stay_where_they_check_something():
    result = transform.canonicalize_bindings()(KnownCasts)
    assert_structural_equal(result, NeededCasts)
    assert transform.canonicalize_bindings()(result) is result
    inputs = random(5, 7), random(127, 7), random(5, 7)
    for a, b in zip(run(KnownCasts, *inputs), run(result, *inputs), strict=True):
        np.testing.assert_array_equal(a, b)


def test_canonical_programs_stay():
    assert transform.canonicalize_bindings()(Once) is Once
