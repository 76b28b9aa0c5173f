"""@R.rewriter: replacements that call functions, and parameters that are tuples."""

import pytest

from tilewright.errors import UserError
from tilewright.ir import IRModule, assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import relax as R
from tilewright.script import tir as T


@R.rewriter
class ByLoops:
    @T.prim_func(private=True)
    def doubled(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def pattern(x: R.Tensor(("n",), "float32")):
        y = R.add(x, x)
        return y

    @R.function
    def replacement(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_tir(ByLoops.doubled, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return y


@I.ir_module
class Sums:
    @R.function
    def main(x: R.Tensor((5,), "float32")):
        y = R.add(x, x)
        z = R.exp(y)
        return z


def test_what_the_replacement_calls_comes_with_it():
    after = ByLoops(Sums)
    assert [var.name_hint for var in after.get_global_vars()] == ["main", "doubled"]
    assert "R.call_tir(\n            cls.doubled, (x,), out_sinfo=" in after.script()
    assert ByLoops(after).functions == after.functions


def test_where_nothing_is_found_nothing_comes():
    @I.ir_module
    class Other:
        @R.function
        def main(x: R.Tensor((5,), "float32")):
            y = R.exp(x)
            return y

    assert ByLoops(Other) is Other


def test_rewriters_one_after_the_other_bring_theirs():
    @R.rewriter
    class ToSum:
        @R.function
        def pattern(x: R.Tensor(("n",), "float32")):
            y = R.exp(x)
            return y

        @R.function
        def replacement(x: R.Tensor(("n",), "float32")):
            y = R.add(x, x)
            return y

    after = (ToSum | ByLoops)(Sums)
    assert after.script().count("cls.doubled") == 2 and "doubled" in after


def test_one_function_has_no_place_for_another():
    with pytest.raises(UserError) as error:
        ByLoops(Sums["main"])
    assert str(error.value) == (
        "a rewriter: what it puts there calls doubled, and one function has no place for it\n"
        "help: rewrite the module"
    )


def test_another_function_of_that_name_is_refused():
    module = IRModule({"main": Sums["main"], "doubled": Sums["main"]})
    with pytest.raises(UserError) as error:
        ByLoops(module)
    assert str(error.value) == (
        "a rewriter: what it puts there calls doubled, but the module has another function doubled\n"
        "help: give that of the rewriter another name"
    )


@R.rewriter
class OfTuples:
    @R.function
    def pattern(t: R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tensor(("m",), "float32"))):
        a = t[0]
        b = t[1]
        y = R.add(a, b)
        return y

    @R.function
    def replacement(t: R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tensor(("m",), "float32"))):
        n, m = T.int64(), T.int64()
        a = t[0]
        y = R.zeros(R.shape([n, m]), "float32")
        z = R.subtract(a, y)
        return z


def test_dimensions_inside_of_tuples():
    @I.ir_module
    class Given:
        @R.function
        def main(t: R.Tuple(R.Tensor((5, 7), "float32"), R.Tensor((7,), "float32"))):
            a = t[0]
            b = t[1]
            y = R.add(a, b)
            return y

    @I.ir_module
    class Wanted:
        @R.function
        def main(t: R.Tuple(R.Tensor((5, 7), "float32"), R.Tensor((7,), "float32"))):
            a = t[0]
            b = t[1]
            again = t[0]
            y = R.zeros(R.shape([5, 7]), "float32")
            z = R.subtract(again, y)
            return z

    assert_structural_equal(OfTuples(Given), Wanted)


def test_tuples_of_other_shapes_stay():
    @I.ir_module
    class Given:
        @R.function
        def main(t: R.Tuple(R.Tensor((5, 7), "float32"), R.Tensor((1,), "float32"))):
            a = t[0]
            b = t[1]
            y = R.add(a, b)
            return y

    assert OfTuples(Given) is Given
