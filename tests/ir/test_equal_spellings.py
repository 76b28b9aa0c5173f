"""Programs that say the same in two ways are equal."""

import numpy as np
import pytest

import tilewright
from tilewright.ir import structural_equal, structural_hash
from tilewright.script import tir as T


@T.prim_func
def plain(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] * T.float32(2)


def parse(text):
    return tilewright.script.parse("from tilewright.script import tir as T\n" + text)


@pytest.mark.parametrize("value", [3, -1, 2**40, 0.1, 1.5, True, "x", [1, 2], [0.5, "x"], [[1], [True]]])
def test_attributes_of_blocks(value):
    sch = tilewright.Schedule(plain)
    sch.annotate("B", "k", value)
    written = parse(f"""
@T.prim_func
def plain(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            T.block_attr({{"k": {value!r}}})
            B[vi] = A[vi] * T.float32(2)
""")
    assert structural_equal(sch.mod["plain"], written)
    assert structural_hash(sch.mod["plain"]) == structural_hash(written)
    assert structural_equal(parse(sch.mod["plain"].script()), written)


@pytest.mark.parametrize("value", [3, 0.1, [1, 2]])
def test_annotations_of_loops(value):
    sch = tilewright.Schedule(plain)
    sch.annotate(sch.get_loops("B")[0], "k", value)
    written = parse(f"""
@T.prim_func
def plain(A: T.Buffer((7,), "float32"), B: T.Buffer((7,), "float32")):
    for i in T.serial(7, annotations={{"k": {value!r}}}):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] * T.float32(2)
""")
    assert structural_equal(sch.mod["plain"], written)


OFFSET = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (7,), "float32"{})
    B = T.match_buffer(b, (7,), "float32")
    for i in range(7):
        with T.block("B"):
            vi = T.axis.spatial(7, i)
            B[vi] = A[vi] * T.float32(2)
"""


def test_an_offset_of_nothing():
    default, zero = parse(OFFSET.format("")), parse(OFFSET.format(", elem_offset=0"))
    assert structural_equal(default, zero) and structural_hash(default) == structural_hash(zero)
    assert structural_equal(parse(zero.script()), default)
    assert not structural_equal(default, parse(OFFSET.format(", elem_offset=8")))
    # none, where a factor is given, is any multiple of it
    free, fixed = (parse(OFFSET.format(f"{each}, offset_factor=8")) for each in ("", ", elem_offset=0"))
    assert not structural_equal(free, fixed)
    assert int(fixed.buffers[0].elem_offset) == 0


def test_a_layout_of_a_buffer_with_an_offset_of_nothing():
    sch = tilewright.Schedule(parse(OFFSET.format(", elem_offset=0")))
    sch.transform_layout("B", ("read", 0), lambda i: (6 - i,))


def test_a_view_has_the_extents_of_its_region():
    text = """
@T.prim_func
def main(A: T.Buffer((6, 10), "float32"), B: T.Buffer((6, 10), "float32")):
    for i, j in T.grid(3, 2):
        with T.block("tile"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 2 : vi * 2 + 2, vj * 5 : vj * 5 + 5])
            T.writes(B[vi * 2 : vi * 2 + 2, vj * 5 : vj * 5 + 5])
            X = T.match_buffer(A[vi * 2 : vi * 2 + 2, vj * 5 : vj * 5 + 5]{0})
            Y = T.match_buffer(B[vi * 2 : vi * 2 + 2, vj * 5 : vj * 5 + 5]{0})
            for x, y in T.grid(2, 5):
                Y[x, y] = X[x, y] * T.float32(2)
"""
    left_out, written = parse(text.format("")), parse(text.format(", (2, 5)"))
    assert structural_equal(left_out, written)
    a, b = np.arange(60, dtype="float32").reshape(6, 10), np.zeros((6, 10), "float32")
    tilewright.build(left_out)["main"](a, b)
    np.testing.assert_array_equal(b, 2 * a)


def test_a_parameter_has_no_extents_of_its_own():
    with pytest.raises(tilewright.UserError, match="T.match_buffer: argument shape is missing"):
        parse("""
@T.prim_func
def main(a: T.handle):
    A = T.match_buffer(a)
    A[0] = T.float32(1)
""")


VIEWS = """
@T.prim_func
def main(A: T.Buffer((6, 10), "float32"), C: T.Buffer((6, 10), "float32")):
    B = T.alloc_buffer((6, 10){0})
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
            T.reads(A[vi, 0:10])
            T.writes(B[vi, 0:10])
            Y = T.match_buffer(B[vi, 0:10], (10,){0})
            for j in range(10):
                Y[j] = A[vi, j] * T.float32(2)
    for i in range(6):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            T.reads(B[vi, 0:10])
            T.writes(C[vi, 0:10])
            X = T.match_buffer(B[vi, 0:10], (10,){0})
            flat = T.decl_buffer((60,), data=B.data{1})
            for j in range(10):
                C[vi, j] = X[j] + flat[vi * 10 + j]
"""


def test_views_move_with_their_buffer():
    sch = tilewright.Schedule(parse(VIEWS.format("", "")), debug_mask="all")
    sch.set_scope("B", 0, "local")
    expected = parse(VIEWS.format(', scope="local"', ', scope="local"'))
    assert structural_equal(sch.mod["main"], expected)
    sch.verify()
