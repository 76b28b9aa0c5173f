"""Modules that the tests of several graph passes take."""

from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Once:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = R.add(x, y)
            c = R.multiply(a, a)
            d = R.exp(a)
            f = R.add(d, d)
            gv = R.add(c, f)
            R.output(gv)
        return gv


@I.ir_module
class TwoBlocks:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.exp(x)
            R.output(gv)
        with R.dataflow():
            b = R.exp(x)
            gv1 = R.add(b, gv)
            R.output(gv1)
        return gv1


@I.ir_module
class NeededCasts:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        y: R.Tensor(ndim=2, dtype="float32"),
        z: R.Tensor(("k", 7), "float32"),
    ) -> R.Tuple(
        R.Tensor(ndim=1, dtype="float32"), R.Tensor(ndim=1, dtype="float32"), R.Tensor(("n", 7), "float32")
    ):
        n = T.int64()
        p = T.int64()
        with R.dataflow():
            b = R.match_cast(y, R.Tensor((p, 7), "float32"))
            c = R.match_cast(z, R.Tensor((n, 7), "float32"))
            d = R.reshape(x, R.shape([n * 7]))
            e = R.reshape(b, R.shape([p * 7]))
            gv = (d, e, c)
            R.output(gv)
        return gv


@I.ir_module
class Transposed:
    @R.function
    def main(
        x: R.Tensor(("n", 5), "float32"),
        w: R.Tensor((127, 5), "float32"),
        y: R.Tensor((3, 5, 7), "float32"),
        z: R.Tensor((7, 3, 5), "float32"),
    ):
        with R.dataflow():
            wt = R.permute_dims(w, axes=[1, 0])
            a = R.matmul(x, wt)
            zt = R.permute_dims(z, axes=[1, 0, 2])
            b = R.matmul(y, zt)
            yt = R.permute_dims(y, axes=[0, 2, 1])
            c = R.matmul(yt, y)
            gv = (a, b, c)
            R.output(gv)
        return gv


@I.ir_module
class Dense:
    @R.function
    def main(
        x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 3), "float32"), b: R.Tensor((3,), "float32")
    ) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.add(lv, b)
            gv = R.nn.relu(lv1)
            R.output(gv)
        return gv


@I.ir_module
class Weights:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        w: R.Tensor((5, 7), "float32"),
        b: R.Tensor((5,), "float32"),
        s: R.Tensor((), "float32"),
    ) -> R.Tensor(("n", 5), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv = R.permute_dims(w)
            lv1 = R.multiply(lv, s)
            lv2 = R.matmul(x, lv1)
            lv3 = R.exp(b)
            lv4 = R.add(lv2, lv3)
            gv = R.add(lv4, b)
            R.output(gv)
        return gv


# A function inside of main uses the parameter y.
CAPTURES = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 5), "float32"), y: R.Tensor(("n", 5), "float32")) -> R.Tensor(("n", 5), "float32"):
        @R.function
        def inner(a: R.Tensor(("n", 5), "float32")) -> R.Tensor(("n", 5), "float32"):
            s: R.Tensor(("n", 5), "float32") = R.add(a, y)
            return s
        z: R.Tensor(("n", 5), "float32") = inner(x)
        w: R.Tensor(("n", 5), "float32") = inner(z)
        return w
"""
