"""get_producers: the blocks before a block that write what it reads."""

from primitive_testing import chain, double

import tilewright


def names(sch, blocks):
    return [sch.get(block).name_hint for block in blocks]


def test_blocks_before_in_program_order():
    sch = tilewright.Schedule(chain)
    assert names(sch, sch.get_producers("D")) == ["B", "C"]
    assert names(sch, sch.get_producers("C")) == ["B"]
    assert sch.get_producers("B") == []


def test_no_block_writes_parameters():
    assert tilewright.Schedule(double).get_producers("B") == []


def test_a_copy_becomes_the_producer():
    sch = tilewright.Schedule(chain)
    copy = sch.cache_read("C", 0, "local")
    assert names(sch, sch.get_producers("C")) == names(sch, [copy])
