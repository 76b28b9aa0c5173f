"""get_loops: the loops around a block, outermost first."""

import pytest
from primitive_testing import double

import tilewright


def test_outermost_first():
    sch = tilewright.Schedule(double)
    assert [sch.get(loop).loop_var.name for loop in sch.get_loops("B")] == ["i", "j"]
    sch.split(sch.get_loops("B")[1], [2, 4])
    assert [sch.get(loop).extent for loop in sch.get_loops("B")] == [5, 2, 4]


def test_loops_end_at_the_block_around():
    sch = tilewright.Schedule(double)
    i, j = sch.get_loops("B")
    tile = sch.blockize(j)
    assert len(sch.get_loops(tile)) == 1
    assert [sch.get(loop).extent for loop in sch.get_loops("B")] == [8]


def test_a_block_that_is_not_there_is_refused():
    with pytest.raises(tilewright.UserError) as refusal:
        tilewright.Schedule(double).get_loops("A")
    assert str(refusal.value) == (
        'error: get_loops: get_block: the module has no block "A"\nhelp: the names are root, B'
    )
