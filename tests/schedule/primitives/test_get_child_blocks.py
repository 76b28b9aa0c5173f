"""get_child_blocks: the outermost blocks inside a block or loop."""

from primitive_testing import chain, double

import tilewright


def names(sch, blocks):
    return [sch.get(block).name_hint for block in blocks]


def test_blocks_of_the_body_in_program_order():
    sch = tilewright.Schedule(chain)
    assert names(sch, sch.get_child_blocks("root")) == ["B", "C", "D"]


def test_blocks_of_a_loop():
    sch = tilewright.Schedule(chain)
    assert names(sch, sch.get_child_blocks(sch.get_loops("C")[0])) == ["C"]


def test_blocks_inside_of_blocks_are_not_outermost():
    sch = tilewright.Schedule(double)
    tile = sch.blockize(sch.get_loops("B")[1])
    assert names(sch, sch.get_child_blocks("root")) == names(sch, [tile])
    assert names(sch, sch.get_child_blocks(tile)) == ["B"]
    assert sch.get_child_blocks("B") == []
