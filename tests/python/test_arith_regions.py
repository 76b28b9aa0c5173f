"""Regions that indices reach while loops run, bounds of conditions, and layouts of indices."""

import pytest

import tilewright
from tilewright import tir
from tilewright.arith.layouts import BijectiveLayout, Layout
from tilewright.arith.regions import clip_bounds, exact_bounds, outer_bounds

i, j, n = (tir.Var(name, "int32") for name in "ijn")


def ints(bounds):
    return [tuple(int(side) for side in pair) for pair in bounds]


def test_a_fused_index_reaches_all_of_its_range():
    region = [tir.Range(i * 4 + j, 1)]
    assert ints(exact_bounds(region, {i: (0, 7), j: (0, 4)})) == [(0, 27)]


def test_gaps_are_bounded_from_outside_only():
    region = [tir.Range(i * 5, 2)]
    assert exact_bounds(region, {i: (0, 3)}) is None
    assert ints(outer_bounds(region, {i: (0, 3)})) == [(0, 11)]


def test_a_condition_narrows_the_loops():
    region = [tir.Range(i, 1)]
    assert ints(exact_bounds(region, {i: (0, 127)}, tir.all(i >= 5, i < 7))) == [(5, 6)]


def test_bounds_of_a_condition():
    low, high = clip_bounds(tir.all(i > 2, i >= 5, i < n), [i])
    assert int(low) == 5
    assert str(high) == "n - 1"
    assert clip_bounds(i * 2 < 5, [i]) == []


def test_indices_and_shapes_between_layouts():
    way = BijectiveLayout("NCHW", "NCHW16c")
    assert [int(each) for each in way.forward_shape([1, 33, 5, 7])] == [1, 3, 5, 7, 16]
    assert [int(each) for each in way.forward_index([0, 33, 4, 6])] == [0, 2, 4, 6, 1]
    assert [int(each) for each in way.backward_index([0, 2, 4, 6, 1])] == [0, 33, 4, 6]


def test_what_is_no_layout():
    with pytest.raises(tilewright.UserError) as error:
        Layout("NCHWc")
    assert str(error.value) == "layout NCHWc: a number stands before each small letter, and before no other"
