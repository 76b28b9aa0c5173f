"""Calls of loop programs and of registered functions as operators, and statements."""

import numpy as np
import pytest
from graph_testing import random, run

import tilewright
from tilewright.script import ir as I
from tilewright.script import parse
from tilewright.script import relax as R
from tilewright.script import tir as T


@tilewright.register_func("tests.call.tripled", override=True)
def tripled(x):
    return tilewright.tensor(x.numpy() * 3)


@tilewright.register_func("tests.call.write_tripled", override=True)
def write_tripled(x, out):
    out.copy_from(tilewright.tensor(x.numpy() * 3))


CALLS = {
    "a loop program": 'R.call_tir(cls.triple, (x,), out_sinfo=R.Tensor((5, 7), "float32"))',
    "a function that writes": 'R.call_dps_packed("tests.call.write_tripled", (x,), out_sinfo=R.Tensor((5, 7), "float32"))',
    "a pure function": 'R.call_pure_packed("tests.call.tripled", x, sinfo_args=R.Tensor((5, 7), "float32"))',
    "a function": 'R.call_packed("tests.call.tripled", x, sinfo_args=R.Tensor((5, 7), "float32"))',
}
MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def triple(x: T.Buffer((5, 7), "float32"), y: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * T.float32(3)

    @R.function(pure=False)
    def main(x: R.Tensor((5, 7), "float32")):
        cls = Module
        y = {call}
        return y
"""


@pytest.mark.parametrize("name", CALLS)
def test_numbers(name):
    x = random(5, 7)
    for opt_level in (0, 2):
        np.testing.assert_array_equal(
            run(parse(MODULE.format(call=CALLS[name])), x, opt_level=opt_level), x * np.float32(3)
        )


@I.ir_module
class InPlace:
    @T.prim_func(private=True)
    def increment(x: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("x"):
                vi = T.axis.spatial(7, i)
                x[vi] = x[vi] + T.float32(1)

    @R.function(pure=False)
    def main(x: R.Tensor((7,), "float32")):
        cls = InPlace
        with R.dataflow():
            a = R.exp(x)
            gv = R.call_tir_inplace(
                cls.increment, (a,), inplace_indices=[0], out_sinfo=R.Tensor((7,), "float32")
            )
            R.output(gv)
        return gv


def test_a_program_that_writes_into_its_argument():
    x = random(7)
    np.testing.assert_allclose(run(InPlace, x), np.exp(x) + 1, rtol=1e-6)


@I.ir_module
class Asserted:
    @R.function(pure=False)
    def main(x: R.Tensor((7,), "float32"), is_right: R.Tensor((), "bool")):
        _ = R.assert_op(is_right, [x], format="x is wrong: {}")
        y = R.exp(x)
        return y


def test_an_assertion_that_holds_and_one_that_fails():
    x = random(7)
    np.testing.assert_allclose(run(Asserted, x, np.array(True)), np.exp(x), rtol=1e-6)
    with pytest.raises(tilewright.UserError, match="x is wrong: "):
        run(Asserted, x, np.array(False))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            'R.call_tir(cls.triple, (x, x), out_sinfo=R.Tensor((5, 7), "float32"))',
            "error: triple: 3 arguments given, expected 2 (x, y)",
        ),
        (
            'R.call_tir(cls.triple, (x,), out_sinfo=R.Tensor((5, 6), "float32"))',
            "error: triple: argument y has shape [5, 6], expected [5, 7]",
        ),
        (
            'R.call_tir(cls.triple, (x,), out_sinfo=R.Tensor((5, 7), "int32"))',
            "error: triple: argument y has dtype int32, expected float32",
        ),
    ],
)
def test_calls_that_do_not_fit_are_refused(call, text):
    with pytest.raises(tilewright.UserError) as error:
        run(parse(MODULE.format(call=call)), random(5, 7))
    assert str(error.value).splitlines()[0] == text
