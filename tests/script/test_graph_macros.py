"""@R.macro: bindings with parameters, put where a graph calls them."""

from tilewright.ir import assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import parse
from tilewright.script import relax as R

SCALE = 2.0


@R.macro
def scaled(x):
    return R.multiply(x, R.const(SCALE, "float32"))


@R.macro
def squares(x, times=1):
    y = R.multiply(x, x)
    for_nothing = times
    return y


@R.macro(hygienic=False)
def offset():
    return R.add(x, b)  # noqa: F821 - names of the caller


@R.macro
def both(x):
    with R.dataflow():
        y = scaled(x)
        z = R.exp(y)
        R.output(y, z)
    return (y, z)


def test_a_macro_is_a_value():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.exp(scaled(x))
        return y

    @R.function
    def wanted(x: R.Tensor((2, 3), "float32")):
        lv = R.multiply(x, R.const(2.0, "float32"))
        y = R.exp(lv)
        return y

    assert_structural_equal(main.without_attr("global_symbol"), wanted.without_attr("global_symbol"))


def test_names_are_those_of_the_macro_or_of_the_caller():
    @R.function(private=True)
    def main(x: R.Tensor((2, 3), "float32"), b: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.abs(x)
            z = squares(y, times=3)
            w = offset()
            v = R.add(z, w)
            R.output(v)
        return v

    @R.function(private=True)
    def wanted(x: R.Tensor((2, 3), "float32"), b: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.abs(x)
            y1 = R.multiply(y, y)
            z = y1
            gv = R.add(x, b)
            w = gv
            v = R.add(z, w)
            R.output(v)
        return v

    assert_structural_equal(main, wanted)


def test_a_macro_of_several_blocks_and_values_that_calls_a_macro():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            y, z = both(x)
            w = R.add(y, z)
            return w

    assert_structural_equal(parse(Module.script()), Module)
    text = Module["main"].script()
    assert "R.multiply(x, R.const(2.0" in text
    assert "R.exp(" in text


def test_a_text_defines_macros():
    program = parse(
        """
@R.macro
def twice(x):
    return R.add(x, x)

@R.function
def main(x: R.Tensor((2,), "float32")):
    twice(x)
    y = twice(x)
    return y
""".lstrip()
    )
    assert program.script().count("R.add(x, x)") == 2


def test_macros_of_one_name_in_two_programs_are_told_apart():
    def with_macro(function):
        return parse(
            f"""
@T.macro
def step(A):
    A[0] = T.{function}(A[0])

@T.prim_func
def f(A: T.Buffer((1,), "float32")):
    step(A)
""".lstrip()
        )

    assert "A[0] = T.exp(A[0])" in with_macro("exp").script()
    assert "A[0] = T.sqrt(A[0])" in with_macro("sqrt").script()
