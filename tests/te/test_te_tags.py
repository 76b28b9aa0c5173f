"""te.tag_scope, and tensors with indices for some of their dimensions."""

import numpy
import pytest

import tilewright
from tilewright import te

A = te.placeholder((5, 7), name="A")


def plus_one(**options):
    return te.compute((5, 7), lambda i, j: A[i, j] + 1.0, name="B", **options)


def test_operations_inside_carry_the_tag():
    with te.tag_scope(tag="mine"):
        B = plus_one()
    assert (B.op.tag, plus_one().op.tag, plus_one(tag="own").op.tag, A.op.tag) == ("mine", "", "own", "")
    assert te.create_prim_func([A, B]).script() == te.create_prim_func([A, plus_one()]).script()


def test_a_scope_decorates_functions():
    assert te.tag_scope("mine")(plus_one)().op.tag == "mine"


def test_one_tag_at_a_time():
    with te.tag_scope("outer"):
        with pytest.raises(tilewright.UserError) as caught, te.tag_scope("inner"):
            pass
        assert str(caught.value) == (
            "te.tag_scope: 'inner' is inside of 'outer'\nhelp: an operation has one tag"
        )
        with pytest.raises(tilewright.UserError) as caught:
            plus_one(tag="own")
        assert str(caught.value) == "te.tag_scope: the operation has a tag, 'own', inside of 'outer'"


def test_slices():
    row = A[2]
    assert isinstance(row, te.TensorSlice) and row.dtype == "float32" and repr(row) == "TensorSlice(A[2])"
    C = te.compute((7,), lambda j: row[j] + A[1][j], name="C")
    a = numpy.random.default_rng(0).standard_normal((5, 7)).astype("float32")
    result = tilewright.empty([7], "float32")
    lib = tilewright.compile(te.create_prim_func([A, C]), target="llvm")
    lib["main"](tilewright.tensor(a), result)
    numpy.testing.assert_allclose(result.numpy(), a[2] + a[1])


def test_an_element_needs_all_indices():
    with pytest.raises(tilewright.UserError) as caught:
        A[2].asobject()
    assert str(caught.value) == "error: tensor A has 2 dimensions, but is read with 1 index"
