"""eliminate_common_subexpr: equal values are computed once."""

import numpy as np
import pytest
from graph_programs import Once, TwoBlocks
from graph_testing import check, random, run

from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Twice:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = R.add(x, y)
            b = R.add(x, y)
            c = R.multiply(a, b)
            d = R.exp(b)
            e = R.exp(a)
            f = R.add(d, e)
            gv = R.add(c, f)
            R.output(gv)
        return gv


def test_equal_values_are_computed_once():
    check([transform.eliminate_common_subexpr()], Twice, Once, random(5, 7), random(5, 7))


@I.ir_module
class EqualConstants:
    @R.function
    def main(x: R.Tensor(("n", 127), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(1.0, "float32"))
            b = R.add(x, R.const(1.0, "float32"))
            c = R.add(x, R.const(2.0, "float32"))
            d = R.sum(b, axis=[1])
            e = R.sum(b, axis=[0])
            gv = (a, c, d, e)
            R.output(gv)
        return gv


@I.ir_module
class OneOfEqualConstants:
    @R.function
    def main(x: R.Tensor(("n", 127), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(1.0, "float32"))
            c = R.add(x, R.const(2.0, "float32"))
            d = R.sum(a, axis=[1])
            e = R.sum(a, axis=[0])
            gv = (a, c, d, e)
            R.output(gv)
        return gv


def test_constants_and_attributes_count():
    result = transform.eliminate_common_subexpr()(EqualConstants)
    assert_structural_equal(result, OneOfEqualConstants)
    for a, b in zip(run(EqualConstants, random(5, 127)), run(result, random(5, 127)), strict=True):
        np.testing.assert_array_equal(a, b)


@I.ir_module
class TwoBlocksShared:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = a
            R.output(gv)
        with R.dataflow():
            b = R.exp(x)
            gv1 = R.add(b, gv)
            R.output(gv1)
        return gv1


def test_blocks_see_outputs_only():
    # the variable of the first block is not seen in the second, and its output is another name of it
    check([transform.eliminate_common_subexpr()], TwoBlocks, TwoBlocksShared, random(3))


@I.ir_module
class Branches:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        if c:
            b = R.exp(x)
            d = R.negative(x)
            r = R.add(b, d)
        else:
            e = R.negative(x)
            f = R.negative(x)
            r = R.multiply(e, f)
        g = R.negative(x)
        h = R.add(r, a)
        gv = R.add(g, h)
        return gv


@I.ir_module
class BranchesShared:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        if c:
            d = R.negative(x)
            r = R.add(a, d)
        else:
            e = R.negative(x)
            r = R.multiply(e, e)
        g = R.negative(x)
        h = R.add(r, a)
        gv = R.add(g, h)
        return gv


@pytest.mark.parametrize("condition", [True, False])
def test_branches_know_what_was_before_them(condition):
    step = transform.eliminate_common_subexpr()
    check([step], Branches, BranchesShared, np.array(condition), random(3))


@I.ir_module
class Effects:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tuple(R.Object, R.Object):
        a = R.call_packed("tilewright.tests.next", x)
        b = R.call_packed("tilewright.tests.next", x)
        return (a, b)


@I.ir_module
class Inplace:
    @T.prim_func(private=True)
    def increase(x: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("x"):
                vi = T.axis.spatial(3, i)
                x[vi] = x[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = Inplace
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(x)
            c = R.call_tir_inplace(
                cls.increase, (a,), out_sinfo=[R.Tensor((3,), "float32")], inplace_indices=[0]
            )
            gv = R.add(b, c)
            R.output(gv)
        return gv


@pytest.mark.parametrize("module", [Effects, Inplace, Once])
def test_effects_and_inplace_calls_stay(module):
    assert transform.eliminate_common_subexpr()(module) is module


@I.ir_module
class Fields:
    @R.function
    def main(x: R.Tensor((4, 7), "float32")) -> R.Tensor((2, 7), "float32"):
        with R.dataflow():
            a = R.split(x, 2, axis=0)
            b = R.split(x, 2, axis=0)
            a0 = a[0]
            b0 = b[0]
            gv = R.add(a0, b0)
            R.output(gv)
        return gv


@I.ir_module
class FieldsOfOne:
    @R.function
    def main(x: R.Tensor((4, 7), "float32")) -> R.Tensor((2, 7), "float32"):
        with R.dataflow():
            a = R.split(x, 2, axis=0)
            a0 = a[0]
            gv = R.add(a0, a0)
            R.output(gv)
        return gv


@I.ir_module
class FieldsApart:
    @R.function
    def main(x: R.Tensor((4, 7), "float32")) -> R.Tensor((2, 7), "float32"):
        with R.dataflow():
            a = R.split(x, 2, axis=0)
            a0 = a[0]
            b0 = a[0]
            gv = R.add(a0, b0)
            R.output(gv)
        return gv


def test_fields_of_tuples():
    check([transform.eliminate_common_subexpr()], Fields, FieldsOfOne, random(4, 7))
    check([transform.eliminate_common_subexpr(call_only=True)], Fields, FieldsApart, random(4, 7))


def test_loop_programs_are_called_once():
    legal = transform.legalize_ops()(Twice)
    result = transform.eliminate_common_subexpr()(legal)
    assert_structural_equal(result["main"].script(), transform.legalize_ops()(Once)["main"].script())
    x, y = random(5, 7), random(5, 7) + 1
    np.testing.assert_array_equal(run(legal, x, y), run(result, x, y))
