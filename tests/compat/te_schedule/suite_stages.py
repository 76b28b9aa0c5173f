"""te.create_schedule: lessons of 2018-2023 give the right numbers on the CPU, as C, and on devices."""

import pytest
import stage_programs
import tvm
from checking import check, check_lowered, refusal
from tvm import te

from tilewright.compat import te_schedule


@pytest.mark.parametrize("program", stage_programs.ON_CPU, ids=lambda program: program.__name__)
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_numbers(program, target):
    check(program, target, tvm.cpu(0))


@pytest.mark.parametrize("program", stage_programs.ON_DEVICES, ids=lambda program: program.__name__)
@pytest.mark.skipif(not tvm.opencl(0).exist, reason="there is no device of OpenCL here")
def test_numbers_on_opencl(program):
    check(program, "opencl", tvm.opencl(0))


@pytest.mark.parametrize("program", stage_programs.ON_CPU, ids=lambda program: program.__name__)
def test_lowered_program_builds(program):
    check_lowered(program)


def test_stage_says_what_it_is():
    a, b, c = stage_programs.chain()
    s = te.create_schedule([c.op])
    x = c.op.axis[0]
    outer, inner = s[c].split(x, nparts=4)
    s[b].compute_at(s[c], outer)
    assert [stage.op.name for stage in s.stages] == ["A", "B", "C"]
    assert [axis.var.name for axis in s[c].leaf_iter_vars] == ["i.outer", "i.inner"]
    assert [axis.var.name for axis in s[c].all_iter_vars] == ["i", "i.outer", "i.inner"]
    assert (s[a].attach_type, s[b].attach_type, s[c].is_output) == (1, 4, True)
    assert s.outputs == [c.op] and s.stage_map[b.op] == s[b] and s.normalize() is s
    assert s[c] == s[c.op] and hash(s[c]) == hash(s[c.op])
    cache = s.cache_read(b, "shared", [c])
    assert s[cache].scope == "shared" and cache.op.name == "B.shared"
    assert s[c].op.input_tensors == [cache] and s[c].origin_op == c.op
    assert c.op.num_outputs == 1 and c.op.output(0) == c and c.op.reduce_axis == []


def test_scope_without_words():
    """What a thread computes for itself lies in registers, what a block computes is shared."""
    a, b, c = stage_programs.chain()
    for place, scope in ((0, '"shared"'), (1, '"local"')):
        s = te.create_schedule(c.op)
        loops = s[c].split(c.op.axis[0], factor=8)
        s[c].bind(loops[0], te.thread_axis("blockIdx.x"))
        s[c].bind(loops[1], te.thread_axis("threadIdx.x"))
        s[b].compute_at(s[c], loops[place])
        assert f"scope={scope}" in str(te_schedule.scheduled(s, [a, c]))


def test_pragma_and_alignment():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    s[c].pragma(c.op.axis[0], "auto_unroll_max_step", 16)
    s[b].storage_align(0, 16, 8)
    s[b].set_scope("global")
    text = str(te_schedule.scheduled(s, [a, c]))
    assert '"pragma_auto_unroll_max_step": T.int32(16)' in text and "buffer_dim_align" in text, text


def test_buffers_by_binds():
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    s = te.create_schedule(b.op)
    compact = {each: tvm.tir.decl_buffer((n,), "float32", each.name) for each in (a, b)}
    assert "strides" in str(tvm.lower(s, [a, b]))
    assert "strides" not in str(tvm.lower(s, [a, b], binds=compact))


def chain_schedule():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    return s, a, b, c, c.op.axis[0]


def test_refused_axes():
    s, a, b, c, i = chain_schedule()
    outer, inner = s[c].split(i, factor=4)
    assert refusal(lambda: s[c].split(i, factor=2)) == (
        "error: split: axis i was split or fused already in stage C\nhelp: the loops of C are i.outer, i.inner"
    )
    assert refusal(lambda: s[c].parallel(b.op.axis[0])) == (
        "error: parallel: axis i is none of stage C\nhelp: the loops of C are i.outer, i.inner"
    )
    assert refusal(lambda: s[c].split(outer)) == "error: split: axis i.outer needs either factor or nparts"
    assert refusal(lambda: s[c].split(outer, factor=0)) == (
        "error: split: factor of axis i.outer is 0, expected 1 or more"
    )
    assert refusal(lambda: s[c].split(outer, nparts=te.const(1.5, "float32"))) == (
        "error: split: nparts of axis i.outer is T.float32(1.5), expected an integer"
    )
    assert refusal(lambda: s[c].fuse(inner, outer)) == (
        "error: fuse: axis i.outer does not follow axis i.inner among the loops of C\n"
        "help: the loops are i.outer, i.inner; reorder them first"
    )
    assert refusal(lambda: s[c].fuse()) == (
        "unsupported: fuse: no axis of stage C is given\n"
        "help: give two or more; a stage of no dimension has no loop to work on"
    )
    assert refusal(lambda: s[c].reorder(inner, inner)) == "error: reorder: axis i.inner of C is given twice"
    assert refusal(lambda: s[c].bind(outer, inner)) == (
        'error: bind: axis i.outer of C needs a thread axis, as te.thread_axis("threadIdx.x")'
    )
    s[c].bind(outer, te.thread_axis("blockIdx.x"))
    assert refusal(lambda: s[c].parallel(outer)) == (
        "error: parallel: axis i.outer of C is bound to blockIdx.x already"
    )
    assert refusal(lambda: s[c].bind(outer, te.thread_axis("threadIdx.x"))) == (
        "error: bind: axis i.outer of C is bound to blockIdx.x already"
    )
    assert refusal(te.thread_axis) == (
        'te.thread_axis: the tag is missing\nhelp: as te.thread_axis((0, 64), "threadIdx.x")'
    )


def test_refused_places():
    s, a, b, c, i = chain_schedule()
    other = te.compute((5,), lambda i: a[i], name="other")
    assert refusal(lambda: s[other]) == (
        "error: other is no stage of this schedule\nhelp: its stages are A, B, C"
    )
    assert refusal(lambda: s[c].compute_at(s[c], i)) == (
        "error: compute_at: stage C cannot be computed inside of itself"
    )
    assert refusal(lambda: s[a].compute_at(s[c], i)) == (
        "error: compute_at: A is an input, which nothing computes"
    )
    assert (
        refusal(lambda: s[a].compute_inline())
        == "error: compute_inline: A is an input, expected a te.compute"
    )
    s[b].compute_at(s[c], i)
    s[c].split(i, factor=4)
    assert refusal(lambda: tvm.lower(s, [a, c])) == (
        "error: compute_at: stage B goes inside of C, whose axis i is no loop any more\n"
        "help: call compute_at after the axes of the stage around are split and fused"
    )
    assert refusal(lambda: te.create_schedule("C")) == (
        "te.create_schedule: a Python str is neither an operation nor a tensor"
    )


def test_refused_caches():
    s, a, b, c, i = chain_schedule()
    assert refusal(lambda: s.cache_read(a, "shared", [c])) == "error: cache_read: C does not read A"
    assert refusal(lambda: s.cache_read(a, "shared", [])) == "error: cache_read: no reader of A is given"
    assert refusal(lambda: s.cache_write([], "local")) == "error: cache_write: no tensor is given"
    assert refusal(lambda: s.cache_write([b, c], "local")) == (
        "error: cache_write: B and C are results of different operations"
    )
    assert (
        refusal(lambda: s.cache_write(a, "local"))
        == "error: cache_write: A is an input, expected a te.compute"
    )
    more, less = te.compute((5,), lambda i: (a[i] + 1, a[i] - 1), name="both")
    s = te.create_schedule(more.op)
    assert refusal(lambda: s.cache_write(more, "local")) == (
        "error: cache_write: both has 2 results, but 1 are given\n"
        "help: give all results of the operation in a list"
    )


def test_refused_reductions():
    a, b = stage_programs.sum_of_rows(7, 65)
    s = te.create_schedule(b.op)
    (i,), (k,) = b.op.axis, b.op.reduce_axis
    assert refusal(lambda: s[b].fuse(i, k)) == (
        "error: fuse: axis k of B is one of a reduction, and axis i is not"
    )
    assert refusal(lambda: s.rfactor(b, i)) == "error: rfactor: axis i of B is not one of its reduction"
    assert refusal(lambda: s.rfactor(a, k)) == "error: rfactor: A is no reduction"
    assert refusal(lambda: s.rfactor(b, k, 2)) == "error: rfactor: factor_axis is 2, expected -2 to 1"
    assert refusal(lambda: s[b].compute_inline()) == (
        "error: compute_inline: B is a reduction\n"
        "help: only what is computed element by element can be computed where it is read; try compute_at"
    )
    s[b].vectorize(k)
    text = refusal(lambda: tvm.lower(s, [a, b]))
    assert text.startswith(
        "error: vectorize: loop k cannot be vectorized: block B_update writes B[v_i], which block"
    ), text
    assert "\nnote: this is vectorize(k) of stage B\n" in text, text


def test_what_stages_lack():
    s, a, b, c, i = chain_schedule()
    assert refusal(lambda: s[c].env_threads([te.thread_axis("threadIdx.x")])) == (
        "env_threads: C is no scan, and has the threads that its loops are bound to\nhelp: split an axis and bind its parts"
    )
    assert refusal(lambda: s[c].rolling_buffer()) == (
        "rolling_buffer: stages have none\nhelp: sch.rolling_buffer(block, 0) of a tir.Schedule does it"
    )
    s[c].split(i, factor=te.var("f"))
    assert refusal(lambda: tvm.lower(s, [a, c])) == "unsupported: split: the factor f is not a constant"


def fetching_product():
    """Row i + 2 of A is asked for, and of B what the next term reads."""
    a, b, c = stage_programs.product(127, 65, 70)
    s = te.create_schedule(c.op)
    (i, j), (k,) = c.op.axis, c.op.reduce_axis
    s[c].reorder(i, k, j)
    s[c].vectorize(s[c].split(j, factor=8)[1])
    s[c].prefetch(a, i, 2)
    s[c].prefetch(b, k, 1)
    s[c].prefetch(c, i, 1)
    return s, [a, b, c], *stage_programs.product_arrays()


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_prefetch_changes_no_number(target):
    check(fetching_product, target, tvm.cpu(0))


def test_prefetch_is_a_hint_for_each_line():
    s, args, _, _ = fetching_product()
    text = "\n".join(line.strip() for line in str(te_schedule.scheduled(s, args)).splitlines())
    assert "for p1 in range(5):\nT.prefetch(A[i + 2, p1 * 16], 0, 3, 1)" in text, text
    assert "T.prefetch(B[k + 1, p1 * 16], 0, 3, 1)" in text and text.count("T.prefetch(C") <= 1, text
    assert "llvm.prefetch" in tvm.build(s, args, "llvm").get_source("ll")


def test_prefetch_of_what_others_compute():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    s[c].prefetch(b, c.op.axis[0], 3)
    s[c].prefetch(a, c.op.axis[0], 3)
    text = str(te_schedule.scheduled(s, [a, c]))
    assert "T.prefetch(B[i + 3], 0, 3, 1)" in text and "T.prefetch(A" not in text, text


def test_refused_prefetch():
    s, a, b, c, i = chain_schedule()
    assert refusal(lambda: s[c].prefetch(b, b.op.axis[0], 1)) == (
        "error: prefetch: axis i is none of stage C\nhelp: the loops of C are i"
    )
    s[c].prefetch(b, i, 1)
    s[c].vectorize(i)
    s[c].split(i, factor=4)
    assert refusal(lambda: tvm.lower(s, [a, c])) == (
        "error: prefetch: axis i of stage C is no loop any more\n"
        "help: give an axis of the stage that is neither split nor fused"
    )
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    inner = s[c].split(c.op.axis[0], factor=4)[1]
    s[c].vectorize(inner)
    s[c].prefetch(b, inner, 1)
    assert refusal(lambda: tvm.lower(s, [a, c])) == (
        "unsupported: prefetch: axis i.inner of stage C is vectorized, and a hint is for one line\n"
        "help: give the axis around it"
    )


def test_stages_inside_of_each_other():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    s[b].compute_at(s[c], c.op.axis[0])
    assert refusal(lambda: s[c].compute_at(s[b], b.op.axis[0])) == (
        "error: compute_at: stage C goes inside of B, which is inside of C already\n"
        "help: call compute_root for one of them first"
    )


def test_storage_align_of_an_axis():
    a = te.placeholder((5, 7), name="A")
    b = te.compute((5, 7), lambda i, j: a[i, j] + 1, name="B")
    c = te.compute((5, 7), lambda i, j: b[i, j] * b[i, 6 - j], name="C")
    s = te.create_schedule(c.op)
    assert refusal(lambda: s[b].storage_align(c.op.axis[0], 32, 1)) == (
        "storage_align: i is no axis of B\nhelp: its axes are i, j"
    )
    s[b].storage_align(b.op.axis[0], 32, 1)
    text = str(te_schedule.scheduled(s, [a, c]))
    assert '"buffer_dim_align": [[T.int32(0), T.int32(0), T.int32(32), T.int32(1)]]' in text, text


def test_arguments_of_another_kind():
    s, a, b, c, i = chain_schedule()
    assert refusal(lambda: tvm.build(s, a)) == (
        "the arguments of a schedule are a list, as [A, B, C], not a Python Tensor"
    )
    text = refusal(lambda: s[c].split(0, 3))
    assert text.startswith(
        "Stage.split: cannot take (parent = 0, factor = 3): these are not the types that it takes\n"
    )


@pytest.mark.parametrize("offset", [-3, 1.5])
def test_refused_offsets_of_prefetch(offset):
    s, a, b, c, i = chain_schedule()
    text = "-3" if offset == -3 else "T.float32(1.5)"
    assert refusal(lambda: s[c].prefetch(b, i, offset)) == (
        f"error: prefetch: the offset is {text}, expected an integer of at least 0"
    )


def test_prefetch_reads_no_table_ahead():
    table = te.placeholder((7,), "int32", name="table")
    a = te.placeholder((9, 5), name="A")
    c = te.compute((7, 5), lambda i, j: a[table[i], j], name="C")
    s = te.create_schedule(c.op)
    s[c].prefetch(a, c.op.axis[0], 10**8)
    assert "prefetch" not in str(te_schedule.scheduled(s, [table, a, c]))


def test_texts_are_no_tensors():
    s, a, b, c, i = chain_schedule()
    for action in (
        lambda: s[c].prefetch("A", i, 1),
        lambda: s.cache_read("A", "local", [c]),
        lambda: s.cache_write("C", "local"),
        lambda: s.rfactor("C", i),
    ):
        assert refusal(action).startswith("error: expected a te tensor, but found "), refusal(action)


@pytest.mark.parametrize("size", [128, 1024])
def test_machine_code_is_that_of_the_new_language(size):
    a, b, c = stage_programs.product(size, size, size)
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[1], factor=4)
    s[c].reorder(c.op.axis[0], outer, c.op.reduce_axis[0], inner)
    s[c].vectorize(inner)
    old = tvm.build(s, [a, b, c], "llvm", name="mm")
    sch = tvm.tir.Schedule(te.create_prim_func([a, b, c]).with_attr("global_symbol", "mm"))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    outer, inner = sch.split(j, factors=[None, 4])
    sch.reorder(i, outer, k, inner)
    sch.decompose_reduction(block, k)
    sch.vectorize(inner)
    new = tvm.build(sch.mod, "llvm")
    assert old.get_source("asm") == new.get_source("asm")
