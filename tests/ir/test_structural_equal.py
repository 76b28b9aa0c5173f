"""Equality up to names: what counts, and what a difference looks like."""

import pytest

import tilewright
from tilewright import tir
from tilewright.ir import assert_structural_equal, structural_equal, structural_hash
from tilewright.script import tir as T


@T.prim_func(private=True)
def ones(A: T.Buffer((5,), "float32")):
    for i in range(5):
        A[i] = T.float32(1)


@T.prim_func(private=True)
def renamed(B: T.Buffer((5,), "float32")):
    for j in range(5):
        B[j] = T.float32(1)


@T.prim_func(private=True)
def twos(A: T.Buffer((5,), "float32")):
    for i in range(5):
        A[i] = T.float32(2)


def test_names_do_not_count():
    assert structural_equal(ones, renamed) and structural_hash(ones) == structural_hash(renamed)
    assert_structural_equal(ones, renamed)


def test_values_count():
    assert not structural_equal(ones, twos) and structural_hash(ones) != structural_hash(twos)


def test_free_variables_are_themselves_unless_mapped():
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    assert structural_equal(x + 1, x + 1) and not structural_equal(x + 1, y + 1)
    assert structural_equal(x + 1, y + 1, map_free_vars=True)
    assert not structural_equal(x + x, x + y, map_free_vars=True)


def test_one_node_in_both_programs_means_what_its_variables_mean():
    x, y = tir.Var("x", "int32"), tir.Var("y", "int32")
    shared, one = x + 1, tir.const(1)
    bound, free = tir.Let(value=one, var=x, body=shared), tir.Let(value=one, var=y, body=shared)
    assert not structural_equal(bound, free)
    assert structural_equal(bound, tir.Let(value=one, var=y, body=y + 1))


def test_both_programs_are_shown_with_the_difference_marked():
    with pytest.raises(tilewright.ir.StructuralMismatch) as caught:
        assert_structural_equal(ones, twos)
    assert (
        str(caught.value)
        == """the programs differ at body.body.value.value: 1 against 2
--- left
# from tilewright.script import tir as T

@T.prim_func(private=True)
def main(A: T.Buffer((5,), "float32")):
    for i in range(5):
        A[i] = T.float32(1)
               ^^^^^^^^^^^^

--- right
# from tilewright.script import tir as T

@T.prim_func(private=True)
def main(A: T.Buffer((5,), "float32")):
    for i in range(5):
        A[i] = T.float32(2)
               ^^^^^^^^^^^^
"""
    )


def test_marks_under_nodes():
    shown = ones.script(underline=[ones.body.body.value, ones.body], show_header=False)
    assert (
        shown
        == """@T.prim_func(private=True)
def main(A: T.Buffer((5,), "float32")):
    for i in range(5):
    ^^^^^^^^^^^^^^^^^
        A[i] = T.float32(1)
               ^^^^^^^^^^^^
"""
    )


def test_a_mismatch_is_an_assertion_and_a_value_error():
    for kind in (AssertionError, ValueError):
        with pytest.raises(kind):
            assert_structural_equal(ones, twos)


def test_the_order_of_functions_does_not_count():
    one = tilewright.IRModule({"f": ones, "g": twos})
    other = tilewright.IRModule({"g": twos, "f": renamed})
    assert structural_equal(one, other) and structural_hash(one) == structural_hash(other)


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ({"f": ones}, {"f": ones, "g": twos}, 'only the right has a function "g"'),
        ({"f": ones, "g": twos}, {"f": ones}, 'only the left has a function "g"'),
    ],
)
def test_a_function_that_is_not_there_is_named(left, right, text):
    with pytest.raises(tilewright.ir.StructuralMismatch) as caught:
        assert_structural_equal(tilewright.IRModule(left), tilewright.IRModule(right))
    assert str(caught.value).splitlines()[0] == f"the programs differ at the top: {text}"


def test_a_difference_in_a_module_names_the_function():
    with pytest.raises(tilewright.ir.StructuralMismatch) as caught:
        assert_structural_equal(tilewright.IRModule({"f": ones}), tilewright.IRModule({"f": twos}))
    first = 'the programs differ at functions["f"].body.body.value.value: 1 against 2'
    assert str(caught.value).splitlines()[0] == first


def test_attributes_are_the_same_from_python_and_from_scripts():
    @T.prim_func(private=True)
    def marked(A: T.Buffer((5,), "float32")):
        T.func_attr({"number": 1, "numbers": [1, 2], "nested": {"n": 3}})
        for i in range(5):
            A[i] = T.float32(1)

    attrs = {"number": 1, "numbers": [1, 2], "nested": {"n": 3}}
    assert_structural_equal(ones.with_attr(attrs), marked)
    assert_structural_equal(ones.replace(attrs=attrs), marked)
