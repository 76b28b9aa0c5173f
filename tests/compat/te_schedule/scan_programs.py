"""Scans in the spelling of 2017-2023, in words of our own: each program returns what to build and check.

A program is (schedule, args, arrays, expected): the last arrays are results, and `expected` is what they are.
"""

import numpy as np
from tvm import te

STEPS, WIDTH = 7, 65


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32")


def zeros(*shape):
    return np.zeros(shape, "float32")


def running_sums():
    """Row t of the result is the sum of rows 0 .. t of X."""
    m, n = te.var("m"), te.var("n")
    x = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    first = te.compute((1, n), lambda _, i: x[0, i], name="first")
    following = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i], name="following")
    sums = te.scan(first, following, state, inputs=[x], name="sums")
    return te.create_schedule(sums.op), x, first, following, sums


def sums_arrays(steps=STEPS, width=WIDTH):
    x = numbers(steps, width)
    return [x, zeros(steps, width)], [np.cumsum(x, axis=0)]


def sums_as_written():
    s, x, _, _, sums = running_sums()
    return s, [x, sums], *sums_arrays()


def sums_of_one_step():
    s, x, _, _, sums = running_sums()
    return s, [x, sums], *sums_arrays(1, WIDTH)


def sums_on_cores():
    s, x, first, following, sums = running_sums()
    for stage in (s[first], s[following]):
        outer, inner = stage.split(stage.op.axis[1], factor=8)
        stage.vectorize(inner)
        stage.parallel(outer)
    return s, [x, sums], *sums_arrays()


def fibonacci():
    """The first two steps are given."""
    x = te.placeholder((2, 3), "int32", name="X")
    state = te.placeholder((20, 3), "int32", name="state")
    first = te.compute((2, 3), lambda t, i: x[t, i], name="first")
    following = te.compute((20, 3), lambda t, i: state[t - 1, i] + state[t - 2, i], name="following")
    series = te.scan(first, following, state, name="series")
    given = np.array([[0, 1, 2], [1, 1, -1]], "int32")
    rows = list(given)
    while len(rows) < 20:
        rows.append(rows[-1] + rows[-2])
    return te.create_schedule(series.op), [x, series], [given, np.zeros((20, 3), "int32")], [np.stack(rows)]


def two_stages(n=None):
    """A step doubles the state, then adds a row of X."""
    m, n = te.var("m"), n or te.var("n")
    x = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    first = te.compute((1, n), lambda _, i: x[0, i], name="first")
    doubled = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="doubled")
    following = te.compute((m, n), lambda t, i: doubled[t, i] + x[t, i], name="following")
    result = te.scan(first, following, state, inputs=[x], name="result")
    return te.create_schedule(result.op), x, first, doubled, following, result


def two_stages_arrays():
    x = numbers(STEPS, WIDTH)
    rows = [x[0]]
    for row in x[1:]:
        rows.append(rows[-1] * 2 + row)
    return [x, zeros(STEPS, WIDTH)], [np.stack(rows)]


def stages_as_written():
    s, x, _, _, _, result = two_stages()
    return s, [x, result], *two_stages_arrays()


def stage_inside_of_a_tile():
    s, x, _, doubled, following, result = two_stages()
    outer, inner = s[following].split(following.op.axis[1], factor=32)
    s[doubled].compute_at(s[following], outer)
    s[following].vectorize(inner)
    return s, [x, result], *two_stages_arrays()


def stage_inside_of_the_step():
    s, x, _, doubled, _, result = two_stages()
    s[doubled].compute_at(s[result], result.op.scan_axis)
    return s, [x, result], *two_stages_arrays()


def stage_at_the_step_axis_of_the_update():
    s, x, _, doubled, following, result = two_stages()
    s[doubled].compute_at(s[following], following.op.axis[0])
    return s, [x, result], *two_stages_arrays()


def stage_inlined():
    s, x, _, doubled, _, result = two_stages()
    s[doubled].compute_inline()
    return s, [x, result], *two_stages_arrays()


def two_states():
    """Two states that read each other, of different width."""
    m, n, l = te.var("m"), te.var("n"), te.var("l")
    x = te.placeholder((m, n), name="X")
    state1, state2 = te.placeholder((m, n), name="state1"), te.placeholder((m, l), name="state2")
    first1 = te.compute((1, n), lambda _, i: x[0, i], name="first1")
    first2 = te.compute((1, l), lambda _, i: 0.0, name="first2")
    next1 = te.compute((m, n), lambda t, i: state1[t - 1, i] + x[t, i], name="next1")
    next2 = te.compute((m, l), lambda t, i: state2[t - 1, i] + state1[t - 1, 0], name="next2")
    one, two = te.scan([first1, first2], [next1, next2], [state1, state2], inputs=[x], name="both")
    s = te.create_schedule(one.op)
    arrays = numbers(STEPS, WIDTH), zeros(STEPS, WIDTH), zeros(STEPS, 5)
    sums = np.cumsum(arrays[0], axis=0)
    lagging = np.concatenate([[0], np.cumsum(sums[:-1, 0])]).astype("float32")
    return s, [x, one, two], list(arrays), [sums, np.repeat(lagging[:, None], 5, axis=1)]


def powers():
    """state[t] = state[t - 1] @ W"""
    size = 16
    w = te.placeholder((size, size), name="W")
    state = te.placeholder((STEPS, 3, size), name="state")
    k = te.reduce_axis((0, size), "k")
    first = te.compute((1, 3, size), lambda _, i, j: 1.0, name="first")
    following = te.compute(
        (STEPS, 3, size), lambda t, i, j: te.sum(state[t - 1, i, k] * w[k, j], axis=k), name="following"
    )
    result = te.scan(first, following, state, name="powers")
    return te.create_schedule(result.op), w, state, first, following, result


def powers_arrays():
    w = numbers(16, 16)
    rows = [np.ones((3, 16), "float32")]
    while len(rows) < STEPS:
        rows.append(rows[-1] @ w)
    return [w, zeros(STEPS, 3, 16)], [np.stack(rows)]


def powers_as_written():
    s, w, _, _, _, result = powers()
    return s, [w, result], *powers_arrays()


def powers_in_tiles():
    s, w, _, _, following, result = powers()
    outer, inner = s[following].split(following.op.axis[2], factor=8)
    ko, ki = s[following].split(following.op.reduce_axis[0], factor=4)
    s[following].reorder(outer, following.op.axis[1], ko, ki, inner)
    s[following].vectorize(inner)
    s[following].parallel(outer)
    return s, [w, result], *powers_arrays()


def powers_with_caches():
    s, w, state, _, following, result = powers()
    cached = s.cache_read(state, "global", [following])
    local = s.cache_write(following, "global")
    s[local].compute_at(s[following], following.op.axis[1])
    s[cached].compute_at(s[local], s[local].op.axis[2])
    return s, [w, result], *powers_arrays()


def powers_of_parts():
    s, w, _, _, following, result = powers()
    _, ki = s[following].split(following.op.reduce_axis[0], factor=4)
    parts = s.rfactor(following, ki)
    s[parts].compute_at(s[following], s[following].op.axis[2])
    return s, [w, result], *powers_arrays()


def read_by_others():
    """The result of a scan is an intermediate tensor."""
    x = te.placeholder((STEPS, WIDTH), name="X")
    state = te.placeholder((STEPS, WIDTH), name="state")
    first = te.compute((1, WIDTH), lambda _, i: x[0, i], name="first")
    following = te.compute((STEPS, WIDTH), lambda t, i: te.max(state[t - 1, i], x[t, i]), name="following")
    largest = te.scan(first, following, state, name="largest")
    twice = te.compute((STEPS, WIDTH), lambda t, i: largest[t, i] * 2, name="twice")
    s = te.create_schedule(twice.op)
    s[twice].vectorize(s[twice].split(twice.op.axis[1], factor=8)[1])
    given = numbers(STEPS, WIDTH)
    return s, [x, twice], [given, zeros(STEPS, WIDTH)], [np.maximum.accumulate(given, axis=0) * 2]


ON_CPU = [
    sums_as_written,
    sums_of_one_step,
    sums_on_cores,
    fibonacci,
    stages_as_written,
    stage_inside_of_a_tile,
    stage_inside_of_the_step,
    stage_at_the_step_axis_of_the_update,
    stage_inlined,
    two_states,
    powers_as_written,
    powers_in_tiles,
    powers_with_caches,
    powers_of_parts,
    read_by_others,
]


def bound(stage, axis, threads=32):
    """The loop of `axis` in blocks of `threads` threads."""
    outer, inner = stage.split(axis, factor=threads)
    stage.bind(outer, te.thread_axis("blockIdx.x"))
    stage.bind(inner, te.thread_axis("threadIdx.x"))
    return outer, inner


def sums_by_threads():
    """A launch for each step."""
    s, x, first, following, sums = running_sums()
    bound(s[first], first.op.axis[1])
    bound(s[following], following.op.axis[1])
    return s, [x, sums], *sums_arrays()


def stage_inside_of_threads():
    s, x, first, doubled, following, result = two_stages()
    bound(s[first], first.op.axis[1])
    _, inner = bound(s[following], following.op.axis[1])
    s[doubled].compute_at(s[following], inner)
    return s, [x, result], *two_stages_arrays()


def stages_by_threads():
    s, x, first, doubled, following, result = two_stages()
    for each in (first, doubled, following):
        bound(s[each], each.op.axis[1])
    return s, [x, result], *two_stages_arrays()


def sums_in_one_launch():
    """Each thread has all steps of its columns."""
    s, x, first, following, sums = running_sums()
    blocks, threads = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    s[sums].env_threads([blocks, threads])
    bound(s[first], first.op.axis[1])
    outer, inner = s[following].split(following.op.axis[1], factor=32)
    s[following].bind(outer, blocks)
    s[following].bind(inner, threads)
    return s, [x, sums], *sums_arrays()


def powers_in_one_block():
    """The threads of a block wait for each other after each step."""
    s, w, _, first, following, result = powers()
    thread_y, thread_x = te.thread_axis("threadIdx.y"), te.thread_axis("threadIdx.x")
    s[result].env_threads([thread_y, thread_x])
    for stage in (s[first], s[following]):
        stage.bind(stage.op.axis[1], thread_y)
        stage.bind(stage.op.axis[2], thread_x)
    return s, [w, result], *powers_arrays()


def stages_in_one_block():
    s, x, first, doubled, following, result = two_stages(WIDTH)
    thread = te.thread_axis("threadIdx.x")
    s[result].env_threads([thread])
    bound(s[first], first.op.axis[1])
    for each in (doubled, following):
        _, inner = s[each].split(each.op.axis[1], factor=32)
        s[each].bind(inner, thread)
    return s, [x, result], *two_stages_arrays()


ON_DEVICES = [
    sums_by_threads,
    stage_inside_of_threads,
    stages_by_threads,
    sums_in_one_launch,
    powers_in_one_block,
    stages_in_one_block,
]
