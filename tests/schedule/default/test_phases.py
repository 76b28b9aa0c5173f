"""Blocks that put values of several places next to each other: one loop over the elements of all places, these written out."""

import re

import numpy as np
import pytest

import tilewright

INTERLEAVED = """
@T.prim_func
def main(A: T.Buffer(({outer}, {phases}, {places}), "float32"), B: T.Buffer(({outer}, {extent}), "float32")):
    for i, j in T.grid({outer}, {extent}):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, {phase}, {place}] + T.float32(1)
"""


def program(outer, phases, extent, before=0):
    at = f"(vj + {before})" if before else "vj"
    places = (extent + before - 1) // phases + 1
    return tilewright.script.parse(
        INTERLEAVED.format(
            outer=outer,
            phases=phases,
            extent=extent,
            places=places,
            phase=f"{at} % {phases}",
            place=f"{at} // {phases}",
        )
    )


def trace_of(func):
    return str(tilewright.schedule.by_rules(func, target="llvm -mcpu=skylake-avx512").trace)


@pytest.mark.parametrize(
    ("phases", "extent", "before"),
    [(2, 126, 0), (2, 127, 0), (3, 126, 1), (3, 127, 2), (8, 127, 5), (2, 4, 1)],
)
def test_phases_are_written_out(phases, extent, before):
    func = program(5, phases, extent, before)
    text = trace_of(func)
    assert f"factors=[None, {phases}]" in text
    assert "sch.unroll(" in text
    assert ("sch.loop_partition(" in text) == (extent % phases != 0)
    a = np.random.default_rng(0).standard_normal((5, phases, (extent + before - 1) // phases + 1), "float32")
    place = np.arange(extent) + before
    for target in ("llvm", "c"):
        b = tilewright.tensor(np.zeros((5, extent), "float32"))
        tilewright.build(func, target=target)["main"](tilewright.tensor(a), b)
        np.testing.assert_array_equal(b.numpy(), a[:, place % phases, place // phases] + 1)


OTHERS = {
    "too many places": "A[vi, vj % 9, vj // 9]",
    "two numbers of places": "A[vi, vj % 2, vj // 3]",
    "neighbours of a place are apart": "A[vj // 2, vj % 2, vi]",
    "not divided in one index": "A[vi, vj % 2, vj]",
}


@pytest.mark.parametrize("load", OTHERS.values(), ids=OTHERS)
def test_other_blocks_stay(load):
    func = tilewright.script.parse(f"""
@T.prim_func
def main(A: T.Buffer((126, 126, 126), "float32"), B: T.Buffer((5, 126), "float32")):
    for i, j in T.grid(5, 126):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = {load}
""")
    assert not re.search(r"factors=\[None, [239]\]", trace_of(func))


OPEN = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (5, 2, n), "float32")
    B = T.match_buffer(b, (5, {extent}), "float32")
    for i, j in T.grid(5, {extent}):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj % 2, vj // 2]
"""


def test_an_open_number_of_elements():
    func = tilewright.script.parse(OPEN.format(extent="n * 2"))
    assert "factors=[None, 2]" in trace_of(func)
    main = tilewright.build(func)["main"]
    for n in (0, 1, 7, 127):
        a = np.random.default_rng(n).standard_normal((5, 2, n), "float32")
        b = tilewright.tensor(np.zeros((5, 2 * n), "float32"))
        main(tilewright.tensor(a), b)
        np.testing.assert_array_equal(b.numpy(), a.transpose(0, 2, 1).reshape(5, -1))
    # an odd number would have a condition for each element
    assert "unroll" not in trace_of(tilewright.script.parse(OPEN.format(extent="n * 2 - 1")))


NEAREST = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (5, n), "float32")
    B = T.match_buffer(b, (5, n * 3), "float32")
    for i, j in T.grid(5, n * 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, T.min(T.max(vj // 3, T.int64(0)), n - 1)]
"""


def test_places_are_known_to_be_inside():
    """As Resize has them, whose places are cut off at the ends."""
    func = tilewright.script.parse(NEAREST)
    assert "factors=[None, 3]" in trace_of(func)
    main = tilewright.build(func)["main"]
    for n in (0, 1, 7, 127):
        a = np.random.default_rng(n).standard_normal((5, n), "float32")
        b = tilewright.tensor(np.zeros((5, 3 * n), "float32"))
        main(tilewright.tensor(a), b)
        np.testing.assert_array_equal(b.numpy(), np.repeat(a, 3, axis=1))


PADDED = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (5, n), "float32")
    B = T.match_buffer(b, (5, n + 3), "float32")
    for i, j in T.grid(5, n + 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.if_then_else(1 <= vj and vj < n + 1, A[vi, vj - 1], T.float32(7))
"""


def test_padded_rows_of_open_length_are_vectors_with_masks():
    func = tilewright.script.parse(PADDED)
    assert "sch.vectorize(" in trace_of(func)
    main = tilewright.build(func)["main"]
    for n in (0, 1, 13, 16, 127):
        a = np.random.default_rng(n).standard_normal((5, n), "float32")
        b = tilewright.tensor(np.zeros((5, n + 3), "float32"))
        main(tilewright.tensor(a), b)
        np.testing.assert_array_equal(b.numpy(), np.pad(a, [(0, 0), (1, 2)], constant_values=7))
