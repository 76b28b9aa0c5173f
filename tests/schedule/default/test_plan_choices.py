"""Decisions of the rules that annotations "plan.NAME" of a block take otherwise."""

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.errors import UserError

TARGET = "llvm -mcpu=x86-64-v4 -num-cores=1"
PAGE = Path(__file__).parents[3] / "docs" / "schedules.md"


def product(m=40, n=96, k=56):
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), name="r")
    return te.create_prim_func(
        [a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")]
    )


def pinned(func, block="C", **plan):
    sch = tw.Schedule(func)
    for name, value in plan.items():
        sch.annotate(sch.get_block(block), f"plan.{name}", value)
    return sch.mod


def scheduled(func, **plan):
    return tw.schedule.by_rules(pinned(func, **plan), TARGET)


def tile_of(sch):
    """(rows, vectors) of the tile of sums, the loops that are written out around the lanes."""
    loops = [sch.get(loop) for loop in sch.get_loops(sch.get_block("C_update"))]
    return tuple(int(loop.extent) for loop in loops if str(loop.kind) == "unrolled")


@pytest.mark.parametrize(("rows", "vectors"), [(1, 1), (2, 3), (4, 2), (3, 6), (8, 1)])
def test_the_tile_is_the_one_that_the_plan_names(rows, vectors):
    text = str(scheduled(product(), tile_rows=rows, tile_vectors=vectors).trace)
    assert f"factors=[None, {vectors}, 16]" in text
    assert f"factors=[None, {rows}]" in text


@pytest.mark.parametrize(
    "plan",
    [
        {"tile_rows": 31, "tile_vectors": 2},  # more sums than registers
        {"tile_vectors": 8},  # more vectors than columns
        {"tile_rows": 0},
        {"copied_panels": 3},
        {"strip_tiles": 4},  # no convolution by Winograd
        {"tile_rows": -1, "fetch_ahead": -1},
    ],
)
def test_what_the_block_has_no_use_for_is_left_to_the_rules(plan):
    assert tw.ir.structural_equal(scheduled(product(), **plan).mod, scheduled(product()).mod)


def test_other_decisions():
    func = product(64, 1024, 1024)
    assert "T.prefetch" not in str(scheduled(func).mod)
    by_rules = str(scheduled(func).trace)
    assert ("cache_read" in by_rules) != (
        "cache_read" in str(scheduled(func, packs_panels=0 if "cache_read" in by_rules else 1).trace)
    )
    far = scheduled(func, fetch_ahead=2048)
    assert "ann_val=2048" in str(far.trace)
    assert str(scheduled(func, row_parts=4).trace) != by_rules


def test_an_element_by_element_block_stays_in_memory():
    x = te.placeholder((30, 40), name="X")
    y = te.compute((30, 40), lambda i, j: x[i, j] + 1.0, name="Y")
    func = te.create_prim_func([x, te.compute((30, 40), lambda i, j: y[i, j] * 2.0, name="Z")])
    assert "compute_inline" in str(scheduled(func).trace)
    kept = tw.schedule.by_rules(pinned(func, block="Y", inlined=0), TARGET)
    assert "compute_inline" not in str(kept.trace)
    assert kept.verify(samples=1).samples


@pytest.mark.parametrize(
    "plan",
    [
        {"tile_rows": 3, "tile_vectors": 5},
        {"packs_panels": 1, "copied_panels": 2},
        {"panels_inside": 1, "row_parts": 4},
    ],
)
@pytest.mark.parametrize("shape", [(5, 7, 127), (40, 96, 56), (1, 1000, 13)])
def test_plans_change_no_bit(shape, plan):
    m, n, k = shape
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(size).astype("float32") for size in ((m, k), (k, n)))
    results = []
    for func in (pinned(product(m, n, k)), pinned(product(m, n, k), **plan)):
        out = tw.runtime.empty((m, n), "float32")
        tw.build(func, "llvm -num-cores=2")["main"](tw.runtime.tensor(a), tw.runtime.tensor(b), out)
        results.append(out.numpy())
    np.testing.assert_allclose(results[0], a @ b, rtol=1e-4, atol=1e-4)
    assert results[0].tobytes() == results[1].tobytes()


def test_a_name_that_is_no_decision():
    with pytest.raises(UserError) as error:
        scheduled(product(), tile_row=4)
    assert str(error.value) == (
        "error: block C is annotated with plan.tile_row, which is no decision of the rules\nhelp: did you mean plan.tile_rows?"
    )


def test_the_annotations_are_gone_and_the_trace_replays():
    sch = scheduled(product(), tile_rows=2, tile_vectors=2)
    assert "plan." not in str(sch.mod)
    again = tw.Schedule(pinned(product(), tile_rows=2, tile_vectors=2))
    sch.trace.apply_to(again._core)
    assert tw.ir.structural_equal(again.mod, sch.mod)


def test_the_page_names_all_of_them():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `plan.")]
    assert [tuple(cell.strip(" `") for cell in row.strip("|").split("|")) for row in rows] == [
        (f"plan.{name}", doc) for name, doc in tw._core.plan_choices()
    ]
