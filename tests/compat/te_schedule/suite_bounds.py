"""te.schedule: ranges of axes, graphs of operations, inlining, groups, caches of split loops."""

import numpy as np
import pytest
import stage_programs
import tvm
from checking import refusal
from tvm import te


def shown(bounds: dict, axes) -> list[str]:
    return [f"{bounds[axis].min} + {bounds[axis].extent}" for axis in axes]


def test_bounds_of_what_was_split():
    a, b, c = stage_programs.product(127, 65, 70)
    s = te.create_schedule(c.op).normalize()
    xo, yo, xi, yi = s[c].tile(*c.op.axis, 32, 16)
    ko, ki = s[c].split(c.op.reduce_axis[0], nparts=4)
    fused = s[c].fuse(xo, yo)
    bounds = te.schedule.InferBound(s)
    assert shown(bounds, [*c.op.axis, c.op.reduce_axis[0]]) == ["0 + 127", "0 + 65", "0 + 70"]
    assert shown(bounds, [xo, yo, xi, yi, fused, ko, ki]) == [
        "0 + 4", "0 + 5", "0 + 32", "0 + 16", "0 + 20", "0 + 4", "0 + 18",
    ]  # fmt: skip
    assert set(bounds) == set(s[c].all_iter_vars)


def test_bounds_inside_of_a_loop():
    """A tile of the second step needs two rows more of the first."""
    a = te.placeholder((17, 19), name="A")
    across = te.compute((17, 17), lambda y, x: a[y, x] + a[y, x + 1] + a[y, x + 2], name="across")
    both = te.compute((15, 17), lambda y, x: across[y, x] + across[y + 1, x] + across[y + 2, x], name="both")
    s = te.create_schedule(both.op)
    yo, xo, yi, xi = s[both].tile(*both.op.axis, 5, 17)
    s[across].compute_at(s[both], yo)
    thread = te.thread_axis("threadIdx.x")
    s[across].bind(across.op.axis[1], thread)
    bounds = te.schedule.InferBound(s)
    assert shown(bounds, across.op.axis) == ["y_outer * 5 + 7", "0 + 17"]
    assert bounds[thread].extent == 17
    assert bounds[across.op.axis[0]].min.a.same_as(yo.var)
    assert te.schedule.CreateAttachPath(s) == {a.op: [], across.op: [yo], both.op: []}
    assert s[across].attached == (s[both], yo) and s[both].attached is None


def test_bounds_of_open_extents():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(c.op.axis[0], factor=4)
    s[b].compute_inline()
    bounds = te.schedule.InferBound(s)
    assert shown(bounds, [*c.op.axis, outer, inner]) == ["0 + n", "0 + (n + 3) // 4", "0 + 4"]
    assert b.op.axis[0] not in bounds


def scan():
    m, n = te.var("m"), te.var("n")
    x, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    first = te.compute((1, n), lambda t, i: x[t, i], name="first")
    following = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i], name="following")
    return following, te.scan(first, following, state, inputs=[x], name="result")


def test_bounds_of_steps():
    following, result = scan()
    s = te.create_schedule(result.op)
    outer, inner = s[following].split(following.op.axis[1], factor=8)
    bounds = te.schedule.InferBound(s)
    assert shown(bounds, [*following.op.axis, outer, inner])[1:] == ["0 + n", "0 + (n + 7) // 8", "0 + 8"]
    assert int(bounds[following.op.axis[0]].extent) == 1
    assert "T.axis.scan(" in str(te.schedule.ScheduleOps(s))


def test_steps_are_no_tile():
    _, result = scan()
    s = te.create_schedule(result.op)
    s[result].tensorize(result.op.scan_axis, "steps")
    assert refusal(lambda: te.schedule.ScheduleOps(s)) == (
        "unsupported: tensorize: the steps of scan result are no tile of intrinsic steps\n"
        "help: tensorize axes of its update"
    )


def test_the_statement():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    s[c].split(c.op.axis[0], factor=4)
    text = str(te.schedule.ScheduleOps(s, te.schedule.InferBound(s)))
    assert 'with T.block("B"):' in text and "for i_outer, i_inner in T.grid((n + 3) // 4, 4):" in text, text


def test_graphs():
    a, b, c = stage_programs.chain()
    graph = te.schedule.CreateReadGraph([c.op])
    assert graph == {c.op: [b], b.op: [a], a.op: []}
    assert te.schedule.PostDFSOrder([c.op], graph) == [a.op, b.op, c.op]


def family():
    a = te.placeholder((5, 7), name="A")
    row = te.placeholder((7,), name="row")
    double = te.compute((5, 7), lambda i, j: a[i, j] * 2, name="double")
    wide = te.compute((5, 7), lambda i, j: double[i, j] + row[j], name="wide")
    turned = te.compute((7, 5), lambda i, j: wide[j, i], name="turned")
    k = te.reduce_axis((0, 5), "k")
    total = te.compute((7,), lambda i: te.sum(turned[i, k], axis=k), name="total")
    last = te.compute((7,), lambda i: total[i] + 1, name="last")
    return te.create_schedule(last.op), [a, row, last], [double, wide, turned, total, last]


@pytest.mark.parametrize(
    ("inline", "names"),
    [
        (te.schedule.AutoInlineElemWise, ["double"]),
        (te.schedule.AutoInlineBroadcast, ["double", "wide"]),
        (te.schedule.AutoInlineInjective, ["double", "wide", "turned"]),
    ],
)
def test_what_is_inlined(inline, names):
    s, args, steps = family()
    inline(s)
    assert [each.op.name for each in steps if s[each].attach_type == 2] == names
    x, y = stage_programs.numbers(5, 7), stage_programs.numbers(7)
    result = tvm.nd.array(np.zeros(7, "float32"))
    tvm.build(s, args, "llvm")(tvm.nd.array(x), tvm.nd.array(y), result)
    np.testing.assert_allclose(result.numpy(), (x * 2 + y).sum(0) + 1, rtol=1e-5)


def test_a_stage_with_decisions_is_not_inlined():
    s, _, steps = family()
    s[steps[0]].split(steps[0].op.axis[1], factor=2)
    te.schedule.AutoInlineInjective(s)
    assert [s[each].attach_type for each in steps] == [1, 2, 2, 1, 1]


def test_steps_that_there_are_not():
    s, args, _ = family()
    assert refusal(lambda: te.schedule.SchedulePostProcToPrimFunc(args, None, {})) == (
        "SchedulePostProcToPrimFunc: statements are those of a loop program from the start\n"
        "help: tvm.lower(s, args, binds=...) gives the function"
    )
    assert refusal(lambda: te.schedule.VerifyCompactBuffer(None)) == (
        "VerifyCompactBuffer: buffers know their strides\nhelp: binds= of tvm.lower and tvm.build gives them"
    )
    for name in ("ScanGetBody", "ScanFixPointAnalysis"):
        assert refusal(lambda name=name: getattr(te.schedule, name)(None)) == (
            f"{name}: scans become loops in order\nhelp: te.scan and s[update] say what the steps are"
        )


# ---------------------------------------------------------------- groups


def test_a_group_is_placed_together():
    a = te.placeholder((12, 7), name="A")
    b = te.compute((12, 7), lambda i, j: a[i, j] + 1, name="B")
    c = te.compute((12, 7), lambda i, j: b[i, j] * 2, name="C")
    d = te.compute((12, 7), lambda i, j: c[i, j] - 3, name="D")
    s = te.create_schedule(d.op)
    outer, _ = s[d].split(d.op.axis[0], factor=4)
    group = s.create_group(outputs=c, inputs=[a])
    group.compute_at(s[d], outer)
    assert [s[each].attached for each in (b, c)] == [(s[d], outer)] * 2 and s[a].attached is None
    x, result = stage_programs.numbers(12, 7), tvm.nd.array(np.zeros((12, 7), "float32"))
    tvm.build(s, [a, d], "llvm")(tvm.nd.array(x), result)
    np.testing.assert_allclose(result.numpy(), (x + 1) * 2 - 3, rtol=1e-5)
    group.compute_root()
    assert s[b].attach_type == s[c].attach_type == 1
    with_inputs = s.create_group(outputs=c, inputs=b, include_inputs=True)
    s[b].compute_inline()
    with_inputs.compute_at(s[d], outer)
    assert (s[b].attach_type, s[c].attach_type) == (2, 4)


def test_a_group_without_a_way():
    a, b, c = stage_programs.chain()
    s = te.create_schedule(c.op)
    other = s.cache_read(a, "global", [b])
    assert refusal(lambda: s.create_group(outputs=a, inputs=other)) == (
        "create_group: A depends on none of A.global"
    )


# ---------------------------------------------------------------- caches of split loops


@pytest.mark.parametrize(("rows", "columns"), [(64, 32), (61, 30)])
def test_cache_write_after_split(rows, columns):
    """The cache has a dimension for each loop: tiles lie one behind the other."""
    a, b, c = stage_programs.product(rows, columns, 12)
    s = te.create_schedule(c.op)
    xo, yo, xi, yi = s[c].tile(*c.op.axis, 16, 8)
    cache = s.cache_write(c, "global")
    assert [int(extent) for extent in cache.shape] == [4, 4, 16, 8]
    assert [axis.var.name for axis in cache.op.axis] == ["i.outer.c", "j.outer.c", "i.inner.c", "j.inner.c"]
    assert s[c].leaf_iter_vars == list(s[c].op.axis)
    s[cache].vectorize(cache.op.axis[3])
    s[cache].parallel(cache.op.axis[0])
    arrays, (expected,) = stage_programs.product_arrays(rows, columns, 12)
    tensors = [tvm.nd.array(each) for each in arrays]
    tvm.build(s, [a, b, c], "llvm")(*tensors)
    np.testing.assert_allclose(tensors[2].numpy(), expected, rtol=1e-4, atol=1e-4)


def test_cache_write_after_fuse():
    a = te.placeholder((7, 5), name="A")
    b = te.compute((7, 5), lambda i, j: a[i, j] + 1, name="B")
    s = te.create_schedule(b.op)
    outer, inner = s[b].split(s[b].fuse(*b.op.axis), factor=4)
    cache = s.cache_write(b, "global")
    assert [int(extent) for extent in cache.shape] == [9, 4]
    x, result = stage_programs.numbers(7, 5), tvm.nd.array(np.zeros((7, 5), "float32"))
    tvm.build(s, [a, b], "llvm")(tvm.nd.array(x), result)
    np.testing.assert_array_equal(result.numpy(), x + 1)
