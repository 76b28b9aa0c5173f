"""Rewriting by example: @R.rewriter and PatternMatchingRewriter."""

import numpy as np
import pytest

import tilewright
from tilewright import relax
from tilewright.errors import Unsupported, UserError
from tilewright.ir import IRModule, assert_structural_equal
from tilewright.relax.pattern import PatternMatchingRewriter, is_op, wildcard
from tilewright.script import ir as I
from tilewright.script import relax as R
from tilewright.script import tir as T


@R.rewriter
class Fused:
    @R.function
    def pattern(
        x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")
    ):
        y = R.matmul(x, w)
        z = R.add(y, b)
        return z

    @R.function
    def replacement(
        x: R.Tensor(("m", 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")
    ):
        m = T.int64()
        y = R.matmul(x, w)
        z = R.add(R.broadcast_to(b, R.shape([m, 3])), y)
        return z


@I.ir_module
class Before:
    @R.function
    def main(x: R.Tensor((5, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.add(y, b)
            v = R.exp(z)
            R.output(v)
        return v


@I.ir_module
class After:
    @R.function
    def main(x: R.Tensor((5, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")):
        with R.dataflow():
            y = R.matmul(x, w)
            u = R.broadcast_to(b, R.shape([5, 3]))
            z = R.add(u, y)
            v = R.exp(z)
            R.output(v)
        return v


def test_the_example_is_replaced_with_its_dimensions():
    assert_structural_equal(Fused(Before), After)
    arrays = [
        np.random.default_rng(n).random(s, dtype="float32") for n, s in enumerate([(5, 4), (4, 3), (3,)])
    ]
    results = [
        tilewright.VirtualMachine(tilewright.compile(m))["main"](*arrays) for m in (Before, Fused(Before))
    ]
    np.testing.assert_allclose(results[0].numpy(), results[1].numpy(), rtol=1e-6)


def test_other_shapes_dtypes_and_attributes_stay():
    @R.function
    def other(x: R.Tensor((5, 4), "float32"), w: R.Tensor((4, 7), "float32"), b: R.Tensor((7,), "float32")):
        y = R.matmul(x, w)
        z = R.add(y, b)
        return z

    assert Fused(other) is other

    @R.function
    def mixed(x: R.Tensor((5, 4), "float32"), w: R.Tensor((4, 3), "float32"), b: R.Tensor((3,), "float32")):
        y = R.matmul(x, w, out_dtype="float32")
        z = R.add(y, b)
        return z

    assert Fused(mixed) is mixed
    assert Fused(After) is After


def test_patterns_with_functions_and_one_after_the_other():
    x = wildcard()
    silu = PatternMatchingRewriter.from_pattern(
        is_op("relax.exp")(x), lambda call, found: relax.op.nn.silu(found[x])
    )
    nothing = PatternMatchingRewriter.from_pattern(is_op("relax.exp")(x), lambda call, found: None)
    assert nothing(Before) is Before
    text = (Fused | silu)(Before).script()
    assert "R.nn.silu(" in text and "R.broadcast_to(" in text and "R.exp(" not in text


def test_what_is_refused():
    with pytest.raises(UserError) as error:
        PatternMatchingRewriter.from_module(Before)
    assert (
        str(error.value)
        == "a rewriter has two graph functions, pattern and replacement: pattern is not there"
    )

    def module(pattern: str, params: str = 'x: R.Tensor((4,), "float32")'):
        head = '@I.ir_module\nclass M:\n    @R.function\n    def pattern(x: R.Tensor((4,), "float32")):\n'
        tail = f"    @R.function\n    def replacement({params}):\n        y = R.exp(x)\n        return y\n"
        body = "".join(f"        {line}\n" for line in pattern.split("; "))
        return tilewright.script.parse(head + body + tail)

    with pytest.raises(UserError) as error:
        PatternMatchingRewriter.from_module(
            module("y = R.exp(x); return y", 'x: R.Tensor((4,), "float32"), z: R.Tensor((4,), "float32")')
        )
    assert str(error.value) == "a rewriter: pattern and replacement have 1 and 2 parameters"
    with pytest.raises(Unsupported) as error:
        PatternMatchingRewriter.from_module(module("y = R.exp(x); z = R.abs(x); return (y, z)"))
    assert str(error.value) == (
        "a rewriter: pattern gives no result of one call\nhelp: write a rewriter for each result"
    )
    with pytest.raises(Unsupported) as error:
        PatternMatchingRewriter.from_module(
            module('y = R.match_cast(x, R.Tensor((4,), "float32")); z = R.exp(y); return z')
        )(Before)
    assert str(error.value) == "a rewriter: y is a cast, which patterns have not"


def refused(module: IRModule, kind: type, text: str) -> None:
    with pytest.raises(kind) as error:
        PatternMatchingRewriter.from_module(module)
    assert str(error.value) == text


def test_a_pattern_that_gives_its_parameter_is_refused():
    @I.ir_module
    class Parameter:
        @R.function
        def pattern(x: R.Tensor((4,), "float32")):
            y = R.exp(x)  # noqa: F841
            return x

        @R.function
        def replacement(x: R.Tensor((4,), "float32")):
            y = R.abs(x)
            return y

    @I.ir_module
    class Renamed:
        @R.function
        def pattern(x: R.Tensor((4,), "float32")):
            y = x
            return y

        @R.function
        def replacement(x: R.Tensor((4,), "float32")):
            y = R.abs(x)
            return y

    text = (
        "a rewriter: pattern gives its parameter x, which is not the result of a call"
        "\nhelp: return the result of the call to look for"
    )
    refused(Parameter, UserError, text)
    refused(Renamed, UserError, text)


def test_a_pattern_that_gives_no_call_is_refused():
    @I.ir_module
    class Shape:
        @R.function
        def pattern(x: R.Tensor((4,), "float32")):
            y = R.exp(x)  # noqa: F841
            z = R.shape([4, 2])
            return z

        @R.function
        def replacement(x: R.Tensor((4,), "float32")):
            z = R.shape([4, 2])
            return z

    @I.ir_module
    class Element:
        @R.function
        def pattern(x: R.Tensor((4,), "float32")):
            y = R.split(x, 2)
            z = y[0]
            return z

        @R.function
        def replacement(x: R.Tensor((4,), "float32")):
            z = R.strided_slice(x, [0], [0], [2])
            return z

    refused(
        Shape,
        UserError,
        "a rewriter: pattern gives R.shape([4, 2]), which is not the result of a call"
        "\nhelp: return the result of the call to look for",
    )
    refused(
        Element,
        Unsupported,
        "a rewriter: pattern gives no result of one call\nhelp: write a rewriter for each result",
    )


def test_an_if_is_refused():
    @I.ir_module
    class Branches:
        @R.function
        def pattern(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
            z = R.where(c, x, x)
            return z

        @R.function
        def replacement(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
            if c:
                z = R.exp(x)
            else:
                z = R.abs(x)
            return z

    text = "a rewriter: z is an expression If, which patterns have not\nhelp: use calls, tuples and their elements"
    refused(Branches, Unsupported, text)
    swapped = IRModule({"pattern": Branches["replacement"], "replacement": Branches["pattern"]})
    refused(swapped, Unsupported, text)


def test_a_parameter_that_the_pattern_does_not_use_is_refused():
    @I.ir_module
    class Unused:
        @R.function
        def pattern(x: R.Tensor((4,), "float32"), o: R.Object):
            y = R.exp(x)
            return y

        @R.function
        def replacement(x: R.Tensor((4,), "float32"), o: R.Object):
            y = R.abs(x)
            return y

    @I.ir_module
    class Dead:
        @R.function
        def pattern(x: R.Tensor((4,), "float32"), o: R.Tensor((4,), "float32")):
            z = R.abs(o)  # noqa: F841
            y = R.exp(x)
            return y

        @R.function
        def replacement(x: R.Tensor((4,), "float32"), o: R.Tensor((4,), "float32")):
            y = R.add(x, o)
            return y

    text = (
        "a rewriter: the result of pattern does not use its parameter o"
        "\nhelp: leave it out of pattern and replacement"
    )
    refused(Unused, UserError, text)
    refused(Dead, UserError, text)


def test_parameters_of_different_ranks_are_refused():
    @I.ir_module
    class Ranks:
        @R.function
        def pattern(x: R.Tensor(("n", "m"), "float32")):
            y = R.exp(x)
            return y

        @R.function
        def replacement(v: R.Tensor(("k",), "float32")):
            y = R.abs(v)
            return y

    refused(
        Ranks,
        UserError,
        'a rewriter: parameter x of pattern is R.Tensor((n, m), dtype="float32"), '
        'but v of replacement is R.Tensor((k,), dtype="float32")'
        "\nhelp: give both the same type",
    )


def test_a_call_whose_extents_the_replacement_does_not_take_stays():
    @R.rewriter
    class Square:
        @R.function
        def pattern(x: R.Tensor(("n", "m"), "float32")):
            y = R.exp(x)
            return y

        @R.function
        def replacement(x: R.Tensor(("k", "k"), "float32")):
            y = R.abs(x)
            return y

    @I.ir_module
    class Given:
        @R.function
        def main(a: R.Tensor((3, 3), "float32"), b: R.Tensor((3, 2), "float32")):
            c = R.exp(a)
            d = R.exp(b)
            return (c, d)

    @I.ir_module
    class Wanted:
        @R.function
        def main(a: R.Tensor((3, 3), "float32"), b: R.Tensor((3, 2), "float32")):
            c = R.abs(a)
            d = R.exp(b)
            return (c, d)

    assert_structural_equal(Square(Given), Wanted)


def test_a_parameter_without_dtype_takes_any():
    @R.rewriter
    class Untyped:
        @R.function
        def pattern(x: R.Tensor(("n",), "float32")):
            y = R.exp(x)
            return y

        @R.function
        def replacement(x: R.Tensor(("k",))):
            y = R.abs(x)
            return y

    @I.ir_module
    class Given:
        @R.function
        def main(a: R.Tensor((3,), "float32")):
            c = R.exp(a)
            return c

    @I.ir_module
    class Wanted:
        @R.function
        def main(a: R.Tensor((3,), "float32")):
            c = R.abs(a)
            return c

    assert_structural_equal(Untyped(Given), Wanted)
