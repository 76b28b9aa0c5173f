"""The Python face of schedules: functions as maps, seeds, marks, verification, how much errors say."""

import runpy
from pathlib import Path

import pytest

import tilewright
from tilewright import te, tir
from tilewright.script import parse

CHAIN = """
@T.prim_func
def main(A: T.Buffer((7, 5), "float32"), C: T.Buffer((7, 5), "float32")):
    B = T.alloc_buffer((7, 5))
    for i, j in T.grid(7, 5):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(7, 5):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
"""


def test_functions_stand_for_maps_and_pad_values():
    sch = tilewright.Schedule(parse(CHAIN), debug_mask="all")
    sch.transform_layout("B", "B", lambda i, j: (i // 4, j, i % 4), pad_value=lambda a, b, c: a + b + c)
    sch.reindex_cache_read("C", 0, "local", lambda i, j: (j, i))
    sch.verify(samples=2)
    again = tilewright.Schedule(parse(CHAIN))
    tilewright.schedule.Trace.load_json(sch.trace.save_json()).apply_to_schedule(again)
    assert str(again.mod) == str(sch.mod)


def test_ranges_may_be_pairs():
    sch = tilewright.Schedule(parse(CHAIN), debug_mask="all")
    sch.annotate_buffer_access("C", 0, "read", lambda vi, vj: ((vi, vi + 1), vj))
    assert "explicit_read_region" in str(sch.mod)


def test_what_follows_the_mark_is_left_out():
    sch = tilewright.Schedule(parse(CHAIN))
    sch.parallel(sch.get_loops("B")[0])
    sch.enter_postproc()
    sch.vectorize(sch.get_loops("C")[1])
    part = tilewright.Schedule(parse(CHAIN))
    sch.trace.apply_to_schedule(part, remove_postproc=True)
    assert "parallel" in str(part.mod) and "vectorized" not in str(part.mod)
    assert len(sch.trace.simplified(remove_postproc=True)) == 3


def test_work_on_and_seeds():
    sch = tilewright.Schedule(parse(CHAIN), seed=3)
    assert sch.func_working_on is None
    sch.work_on("main")
    assert sch.func_working_on == "main"
    one, other = sch.fork(5), sch.fork(5)
    draw = [each.sample_categorical([1, 2, 3], [1, 1, 1]) for each in (one, other)]
    assert one.get(draw[0]) == other.get(draw[1])
    sch.seed(5)
    assert sch.get(sch.sample_categorical([1, 2, 3], [1, 1, 1])) == one.get(draw[0])
    assert 0 <= sch.fork_seed() < 2**31


def test_errors_say_as_much_as_is_asked():
    sch = tilewright.Schedule(parse(CHAIN), error_render_level="fast")
    with pytest.raises(tilewright.errors.UserError) as error:
        sch.split(sch.get_loops("B")[0], [2, 3])
    assert str(error.value) == "error: split: factors 2 * 3 = 6 do not cover loop i of extent 7"
    with pytest.raises(tilewright.errors.UserError) as error:
        tilewright.Schedule(parse(CHAIN), error_render_level="loud")
    assert str(error.value) == 'Schedule: error_render_level "loud" is none of detail, fast, none'


def test_every_step_is_verified_as_it_is_applied():
    sch = tilewright.Schedule(parse(CHAIN), verify_each_step=True)
    sch.fuse(*sch.get_loops("B"))
    sch.compute_inline("B")
    sch.verify()


def test_the_page_of_primitives_is_up_to_date():
    root = Path(__file__).resolve().parents[2]
    tool = runpy.run_path(str(root / "tools" / "primitive_docs.py"))
    page = (root / "docs" / "primitives.md").read_text()
    assert page == tool["page"](), "run tools/primitive_docs.py"


def test_explain_one_kernel():
    chain = parse(CHAIN)
    text = tilewright.schedule.by_rules(chain).explain()
    assert text.startswith("peaks of ")
    assert "\n\nmain\n  work    7e-05 MFLOP, 280 B in L1; 0.25 FLOP a byte\n" in text
    assert "\n  next    " in text
    assert "sch.compute_inline(" in text and "sch.vectorize(" in text
    two = tilewright.IRModule({"f": chain, "g": chain})
    with pytest.raises(tilewright.UserError) as error:
        tilewright.Schedule(two).explain()
    assert str(error.value) == "explain: the module has 2 functions\nhelp: choose one by sch.work_on(name)"
    chosen = tilewright.Schedule(two)
    chosen.work_on("g")
    assert "\n\ng\n  work " in chosen.explain()


def test_maps_of_python_fit_kernels_of_graphs():
    """Found: their variables were of int32, axes of graphs are of int64, and no rule tiled indices with casts."""
    a = te.placeholder((tir.const(64, "int64"), tir.const(96, "int64")), "float32", name="A")
    b = te.placeholder((tir.const(96, "int64"), tir.const(128, "int64")), "float32", name="B")
    k = te.reduce_axis((0, tir.const(96, "int64")), "k")
    c = te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    sch = tilewright.Schedule(te.create_prim_func([a, b, c]))
    sch.transform_layout("C", ("read", 1), lambda i, j: (j // 16, i, j % 16))
    text = sch.mod.script()
    assert "T.Cast" not in text and "B[vj // T.int64(16), vk, vj % T.int64(16)]" in text.replace("v_", "v")
    trace = str(tilewright.schedule.by_rules(sch.mod["main"], "llvm -num-cores=1").trace)
    assert (
        "sch.cache_write" in trace and trace.count("sch.vectorize") == 3
    )  # sums, their begin and end, in registers
