"""get_consumers: the blocks after a block that read what it writes."""

from primitive_testing import chain, double

import tilewright


def names(sch, blocks):
    return [sch.get(block).name_hint for block in blocks]


def test_blocks_after_in_program_order():
    sch = tilewright.Schedule(chain)
    assert names(sch, sch.get_consumers("B")) == ["C", "D"]
    assert names(sch, sch.get_consumers("C")) == ["D"]
    assert sch.get_consumers("D") == []


def test_no_block_reads_the_result():
    assert tilewright.Schedule(double).get_consumers("B") == []


def test_a_copy_becomes_the_consumer():
    sch = tilewright.Schedule(chain)
    copy = sch.cache_write("B", 0, "local")
    assert names(sch, sch.get_consumers("B")) == names(sch, [copy])
