"""inline_private_functions: calls become what they compute."""

import numpy as np
from graph_testing import random, run

from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Calls:
    @R.function(private=True)
    def inner(a: R.Tensor(("k", 7), "float32")) -> R.Tensor(("k", 7), "float32"):
        with R.dataflow():
            lv = R.exp(a)
            gv = R.negative(lv)
            R.output(gv)
        return gv

    @R.function(private=True)
    def outer(a: R.Tensor(("m", 7), "float32")) -> R.Tensor(("m", 7), "float32"):
        cls = Calls
        b = cls.inner(a)
        c = cls.inner(b)
        return c

    @R.function
    def main(x: R.Tensor(("n", 7), "float32")) -> R.Tensor(("n", 7), "float32"):
        cls = Calls
        with R.dataflow():
            y = cls.outer(x)
            gv = R.add(y, x)
            R.output(gv)
        return gv


@I.ir_module
class Inlined:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32")) -> R.Tensor(("n", 7), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            c = R.exp(b)
            d = R.negative(c)
            gv = R.add(d, x)
            R.output(gv)
        return gv


def test_calls_are_what_they_compute():
    result = transform.inline_private_functions()(Calls)
    assert_structural_equal(transform.canonicalize_bindings()(result), Inlined)
    assert transform.inline_private_functions()(result) is result
    np.testing.assert_array_equal(run(result, random(5, 7)), run(Calls, random(5, 7)))


@I.ir_module
class StayCalls:
    @R.function(private=True)
    def again(n: R.Tensor((), "int64"), a: R.Tensor((7,), "float32")) -> R.Tensor((7,), "float32"):
        cls = StayCalls
        c = R.less(n, R.const(1, "int64"))
        if c:
            r = R.exp(a)
        else:
            m = R.subtract(n, R.const(1, "int64"))
            r = cls.again(m, a)
        return r

    @R.function(private=True)
    def branches(c: R.Tensor((), "bool"), a: R.Tensor((7,), "float32")) -> R.Tensor((7,), "float32"):
        if c:
            r = R.exp(a)
        else:
            r = R.negative(a)
        return r

    @R.function
    def public(a: R.Tensor((7,), "float32")) -> R.Tensor((7,), "float32"):
        b = R.exp(a)
        return b

    @R.function
    def main(n: R.Tensor((), "int64"), c: R.Tensor((), "bool"), x: R.Tensor((7,), "float32")):
        cls = StayCalls
        with R.dataflow():
            a = cls.again(n, x)
            b = cls.branches(c, a)
            gv = cls.public(b)
            R.output(gv)
        return gv


def test_recursive_public_and_branching_functions_stay():
    assert transform.inline_private_functions()(StayCalls) is StayCalls
    plain = transform.to_non_dataflow()(StayCalls)
    inlined = transform.inline_private_functions()(plain)
    assert [var.name_hint for var in inlined.functions] == ["again", "public", "main"]
    inputs = np.array(3, "int64"), np.array(True), random(7)
    np.testing.assert_array_equal(run(inlined, *inputs), run(StayCalls, *inputs))
