"""tilewright.arith.iter_map: indices as sums of digits of loop variables."""

from tilewright import tir
from tilewright.arith import padded_ranges
from tilewright.arith.iter_map import IterMark, IterSplitExpr, IterSumExpr, iter_map

i, j = tir.Var("i", "int32"), tir.Var("j", "int32")


def test_a_fused_index_is_one_digit_of_an_iterator_of_digits():
    found = iter_map([i * 4 + j + 7], {i: 8, j: 4})
    (digit,) = found.indices[0].args
    assert (digit.lower_factor, digit.extent, digit.scale, found.indices[0].base) == (1, 32, 1, 7)
    assert [(str(part.source.source), part.scale) for part in digit.source.source.args] == [
        ("i", 4),
        ("j", 1),
    ]
    assert str(found.indices[0]) == "i * 4 + j + 7"


def test_digits_of_one_loop_have_one_mark():
    high, low = (each.args[0] for each in iter_map([i // 4, i % 4], {i: (4, 20)}).indices)
    assert high.source is low.source and str(low.source.source) == "i - 4"
    assert (high.lower_factor, low.extent) == (4, 4)


def test_the_reason_why_there_is_no_normal_form():
    found = iter_map([i * j], {i: 8, j: 4})
    assert found.indices == []
    assert found.errors == ["index 0 is not quasi-affine: it multiplies loop variables"]


def test_parts_made_by_hand():
    mark = IterMark(i, 16)
    assert (
        str(IterSumExpr([IterSplitExpr(mark, 4), IterSplitExpr(mark, 1, 4, 4)], 1))
        == "i % 4 * 4 + i // 4 + 1"
    )
    assert repr(mark) == "IterMark(i, extent=16)"


def test_only_loops_whose_digits_repeat_are_padded():
    found = padded_ranges({i: (0, 3), j: (0, 6)}, [i, j // 4, j % 4])
    assert {str(var): (int(each.min), int(each.extent)) for var, each in found.items()} == {
        "i": (0, 3),
        "j": (0, 8),
    }
