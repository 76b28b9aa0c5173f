"""te.scan: steps one after the other, against numpy and torch; what reads the future is refused."""

import numpy
import pytest
import torch

import tilewright
from tilewright import schedule, te, tir
from tilewright.script import tir as T


def numbers(*shape, dtype="float32"):
    values = numpy.random.default_rng(len(shape)).uniform(-1, 1, shape)
    return (values * 4).astype(dtype)


def evaluated(args, arrays, shapes, target="llvm"):
    """What the last of `args`, of `shapes`, are for the first, which are `arrays`."""
    outputs = args[len(arrays) :]
    results = [tilewright.empty(shape, each.dtype) for shape, each in zip(shapes, outputs, strict=True)]
    lib = tilewright.compile(te.create_prim_func(args), target=target)
    lib["main"](*map(tilewright.tensor, arrays), *results)
    return [each.numpy() for each in results]


def running_sums(steps, width, dtype="float32"):
    X = te.placeholder((steps, width), dtype, name="X")
    state = te.placeholder((steps, width), dtype, name="state")
    first = te.compute((1, width), lambda r, i: X[r, i], name="first")
    following = te.compute((steps, width), lambda t, i: state[t - 1, i] + X[t, i], name="following")
    return X, state, first, following


def sums_of(steps, width, dtype="float32"):
    X, state, first, following = running_sums(steps, width, dtype)
    return X, te.scan(first, following, state, inputs=[X], name="sums")


def test_program_reads_like_a_loop():
    @T.prim_func
    def expected(X: T.Buffer((5, 7), "float32"), sums: T.Buffer((5, 7), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for r, i in T.grid(1, 7):
            with T.block("first"):
                v_r, v_i = T.axis.remap("SS", [r, i])
                sums[v_r, v_i] = X[v_r, v_i]
        for t, i in T.grid(4, 7):
            with T.block("following"):
                v_t = T.axis.scan((1, 5), t + 1)
                v_i = T.axis.spatial(7, i)
                sums[v_t, v_i] = sums[v_t - 1, v_i] + X[v_t, v_i]

    found = te.create_prim_func([*sums_of(5, 7)])
    simplified = schedule.Schedule(found).mod["main"]
    assert str(simplified).replace("1 + t", "t + 1") == str(expected).replace("1 + t", "t + 1")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8"])
@pytest.mark.parametrize("target", ["llvm", "c"])
def test_running_sums(dtype, target):
    x = numbers(5, 7).astype(dtype) if dtype != "uint8" else numbers(5, 7).astype("int8").astype("uint8")
    (found,) = evaluated(sums_of(5, 7, dtype), [x], [(5, 7)], target)
    numpy.testing.assert_allclose(found, numpy.cumsum(x, axis=0, dtype=dtype), rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("steps", [1, 2, 127])
@pytest.mark.parametrize("width", [0, 1, 5])
def test_open_extents(steps, width):
    m, n = tir.Var("m", "int64"), tir.Var("n", "int64")
    x = numbers(steps, width)
    (found,) = evaluated(sums_of(m, n), [x], [(steps, width)])
    numpy.testing.assert_allclose(found, numpy.cumsum(x, axis=0), rtol=1e-5, atol=1e-4)


def test_no_steps_behind_the_init():
    x = numbers(1, 5)
    (found,) = evaluated(sums_of(1, 5), [x], [(1, 5)])
    numpy.testing.assert_array_equal(found, x)


def test_fibonacci():
    state = te.placeholder((20,), "int64", name="state")
    first = te.compute((2,), lambda t: tir.Cast("int64", t), name="first")
    following = te.compute((20,), lambda t: state[t - 1] + state[t - 2], name="following")
    (found,) = evaluated([te.scan(first, following, state)], [], [(20,)])
    expected = [0, 1]
    while len(expected) < 20:
        expected.append(expected[-1] + expected[-2])
    assert found.tolist() == expected


def test_older_steps_where_there_are_some():
    """A condition keeps the step from reading what is before the first."""
    X = te.placeholder((9,), name="X")
    state = te.placeholder((9,), name="state")
    first = te.compute((1,), lambda t: X[t], name="first")
    following = te.compute(
        (9,),
        lambda t: X[t] + tir.if_then_else(t >= 3, state[tir.max(t - 3, 0)], tir.const(0, "float32")),
        name="following",
    )
    x = numbers(9)
    expected = list(x)
    for t in range(3, 9):
        expected[t] += expected[t - 3]
    (found,) = evaluated([X, te.scan(first, following, state)], [x], [(9,)])
    numpy.testing.assert_allclose(found, expected, rtol=1e-6)


def cell_weights():
    shapes = {"W": (5, 12), "U": (3, 12), "B": (12,)}
    return {name: te.placeholder(shape, name=name) for name, shape in shapes.items()}


def lstm(steps, batch):
    """A layer of torch.nn.LSTM: what a step computes has several stages and two states."""
    X = te.placeholder((steps, batch, 5), name="X")
    weights = cell_weights()
    W, U, B = weights.values()
    h, c = (te.placeholder((steps + 1, batch, 3), name=name) for name in "hc")
    zero = [te.compute((1, batch, 3), lambda *_: 0.0, name=f"{name}0") for name in "hc"]
    k, l = te.reduce_axis((0, 5), "k"), te.reduce_axis((0, 3), "l")
    inputs = te.compute(
        (steps, batch, 12), lambda t, b, j: te.sum(X[t, b, k] * W[k, j], axis=k), name="inputs"
    )
    hidden = te.compute(
        (steps + 1, batch, 12), lambda t, b, j: te.sum(h[t - 1, b, l] * U[l, j], axis=l), name="hidden"
    )
    gates = te.compute(
        (steps + 1, batch, 12), lambda t, b, j: inputs[t - 1, b, j] + hidden[t, b, j] + B[j], name="gates"
    )
    next_c = te.compute(
        (steps + 1, batch, 3),
        lambda t, b, j: (
            tir.sigmoid(gates[t, b, j + 3]) * c[t - 1, b, j]
            + tir.sigmoid(gates[t, b, j]) * tir.tanh(gates[t, b, j + 6])
        ),
        name="next_c",
    )
    next_h = te.compute(
        (steps + 1, batch, 3),
        lambda t, b, j: tir.sigmoid(gates[t, b, j + 9]) * tir.tanh(next_c[t, b, j]),
        name="next_h",
    )
    return [X, W, U, B, *te.scan(zero, [next_h, next_c], [h, c], inputs=[X], name="lstm")]


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_lstm_of_torch(target):
    layer = torch.nn.LSTM(5, 3)
    x = torch.from_numpy(numbers(7, 2, 5))
    outputs, (_, last) = layer(x)
    w, u = (getattr(layer, f"weight_{kind}_l0").detach().numpy().T.copy() for kind in ("ih", "hh"))
    b = (layer.bias_ih_l0 + layer.bias_hh_l0).detach().numpy()
    h, c = evaluated(lstm(7, 2), [x.numpy(), w, u, b], [(8, 2, 3), (8, 2, 3)], target)
    numpy.testing.assert_allclose(h[1:], outputs.detach().numpy(), rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(c[-1], last[0].detach().numpy(), rtol=1e-4, atol=1e-5)


def test_one_operation_updates_two_states():
    a, b = (te.placeholder((9, 5), "int32", name=name) for name in "ab")
    zero = te.compute((1, 5), lambda r, i: tir.Cast("int32", i), name="zero")
    one = te.compute((1, 5), lambda r, i: tir.const(1, "int32"), name="one")
    next_a, next_b = te.compute((9, 5), lambda t, i: (b[t - 1, i], a[t - 1, i] + b[t - 1, i]), name="both")
    left, right = te.scan([zero, one], [next_a, next_b], [a, b], name="pair")
    found = evaluated([left, right], [], [(9, 5), (9, 5)])
    rows = [(numpy.arange(5), numpy.ones(5))]
    while len(rows) < 9:
        rows.append((rows[-1][1], rows[-1][0] + rows[-1][1]))
    for result, expected in zip(found, zip(*rows, strict=True), strict=True):
        numpy.testing.assert_array_equal(result, numpy.stack(expected))


def test_init_that_is_an_argument_is_copied():
    X, state, _, following = running_sums(5, 7)
    start = te.placeholder((1, 7), name="start")
    sums = te.scan(start, following, state, name="sums")
    x, s = numbers(5, 7), numbers(1, 7)
    (found,) = evaluated([X, start, sums], [x, s], [(5, 7)])
    numpy.testing.assert_allclose(
        found, numpy.cumsum(numpy.concatenate([s, x[1:]]), axis=0), rtol=1e-5, atol=1e-5
    )


def test_scan_of_a_scan_read_by_others():
    X, sums = sums_of(5, 7)
    state = te.placeholder((5, 7), name="larger")
    first = te.compute((1, 7), lambda t, i: sums[t, i], name="first2")
    following = te.compute((5, 7), lambda t, i: tir.max(state[t - 1, i], sums[t, i]), name="following2")
    largest = te.scan(first, following, state, name="largest")
    twice = te.compute((5, 7), lambda t, i: largest[t, i] * 2.0, name="twice")
    x = numbers(5, 7)
    (found,) = evaluated([X, twice], [x], [(5, 7)])
    expected = numpy.maximum.accumulate(numpy.cumsum(x, axis=0), axis=0) * 2
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_attributes_and_tags():
    X, state, first, following = running_sums(5, 7)
    sums = te.scan(first, following, state, name="sums", tag="mine", attrs={"note": "x"})
    assert sums.op.tag == "mine"
    assert 'T.block_attr({"note": "x"})' in str(te.create_prim_func([X, sums]))


def test_scan_is_printed_with_its_parts():
    _, sums = sums_of(5, 7)
    text = str(sums.op)
    assert text.startswith('Scan(name="sums", axis=[IterVar(var=Var(name_hint="sums.idx"'), text
    assert "init=[Tensor(op=first" in text and "update=[Tensor(op=following" in text, text


# ---------------------------------------------------------------- schedules of blocks


def scheduled(steps=5, width=7):
    return schedule.Schedule(te.create_prim_func([*sums_of(steps, width)]))


def outcome(sch):
    x = numbers(5, 7)
    result = tilewright.empty((5, 7), "float32")
    tilewright.build(sch.mod, target="llvm")["main"](tilewright.tensor(x), result)
    numpy.testing.assert_allclose(result.numpy(), numpy.cumsum(x, axis=0), rtol=1e-5, atol=1e-5)


def test_columns_may_be_outside_of_steps():
    sch = scheduled()
    t, i = sch.get_loops(sch.get_block("following"))
    sch.reorder(i, t)
    sch.parallel(i)
    assert "for i in T.parallel(7):" in str(sch.mod) and "T.axis.scan((1, 5)" in str(sch.mod)
    outcome(sch)


def test_steps_in_parts():
    sch = scheduled()
    t, i = sch.get_loops(sch.get_block("following"))
    sch.split(t, factors=[None, 3])
    sch.vectorize(i)
    outcome(sch)


def refusal(action) -> str:
    with pytest.raises((tilewright.UserError, tilewright.Unsupported)) as error:
        action()
    return str(error.value)


@pytest.mark.parametrize("primitive", ["parallel", "vectorize"])
def test_steps_in_any_order_are_refused(primitive):
    sch = scheduled()
    t, _ = sch.get_loops(sch.get_block("following"))
    text = refusal(lambda: getattr(sch, primitive)(t))
    assert (
        "block following writes sums[v_t, v_i], which block following reads in another iteration of loop t"
        in text
    )
    assert "block following at t=1 reads sums[1, 0], written by block following at t=0" in text, text


def test_a_sum_over_other_elements_keeps_the_order_of_steps():
    """P[t, i] = sum(P[t - 1, k]): the block of a reduction reads elements that others have computed."""
    state = te.placeholder((5, 7), name="state")
    k = te.reduce_axis((0, 7), "k")
    first = te.compute((1, 7), lambda t, i: tir.Cast("float32", i), name="first")
    following = te.compute((5, 7), lambda t, i: te.sum(state[t - 1, k] * 0.5, axis=k), name="following")
    func = te.create_prim_func([te.scan(first, following, state, name="P")])
    sch = schedule.Schedule(func)
    block = sch.get_block("following")
    t, i, k = sch.get_loops(block)
    for action in (lambda: sch.parallel(t), lambda: sch.reorder(i, t), lambda: sch.reorder(k, t)):
        assert "another iteration of loop t" in refusal(action)
    sch.decompose_reduction(block, k)
    assert "T.reads(P[v_t, v_i], P[v_t - 1, v_k])" in str(sch.mod)
    sch.parallel(i)
    result = tilewright.empty((5, 7), "float32")
    tilewright.build(sch.mod, target="llvm")["main"](result)
    rows = [numpy.arange(7, dtype="float32")]
    while len(rows) < 5:
        rows.append(numpy.full(7, rows[-1].sum() / 2, "float32"))
    numpy.testing.assert_allclose(result.numpy(), numpy.stack(rows), rtol=1e-5)


def staged():
    X = te.placeholder((5, 7), name="X")
    state = te.placeholder((5, 7), name="state")
    first = te.compute((1, 7), lambda t, i: X[t, i], name="first")
    inner = te.compute((5, 7), lambda t, i: state[t - 1, i] * 2.0, name="inner")
    following = te.compute((5, 7), lambda t, i: inner[t, i] + X[t, i], name="following")
    return X, te.scan(first, following, state, name="S")


def staged_outcome(sch):
    x = numbers(5, 7)
    result = tilewright.empty((5, 7), "float32")
    tilewright.build(sch.mod, target="llvm")["main"](tilewright.tensor(x), result)
    rows = [x[0]]
    for row in x[1:]:
        rows.append(rows[-1] * 2 + row)
    numpy.testing.assert_allclose(result.numpy(), numpy.stack(rows), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("move", ["compute_at", "compute_inline", "neither"])
def test_a_stage_of_a_step_moves_within_it(move):
    sch = schedule.Schedule(te.create_prim_func([*staged()]))
    inner, following = sch.get_block("inner"), sch.get_block("following")
    if move == "compute_at":
        sch.compute_at(inner, sch.get_loops(following)[1])
    if move == "compute_inline":
        sch.compute_inline(inner)
    staged_outcome(sch)


def test_a_stage_that_reads_what_its_reader_writes_stays():
    """Row t is read and written in the same step: then the order of the two counts."""

    @T.prim_func
    def program(S: T.Buffer((5, 7), "float32")):
        inner = T.alloc_buffer((5, 7))
        for t in range(5):
            for i in range(7):
                with T.block("inner"):
                    v_t, v_i = T.axis.remap("SS", [t, i])
                    inner[v_t, v_i] = S[v_t, 6 - v_i]
            for i in range(7):
                with T.block("following"):
                    v_t, v_i = T.axis.remap("SS", [t, i])
                    S[v_t, v_i] = inner[v_t, v_i] + T.float32(1)

    for primitive in ("compute_at", "compute_inline"):
        sch = schedule.Schedule(program)
        inner, following = sch.get_block("inner"), sch.get_block("following")
        args = [sch.get_loops(following)[1]] if primitive == "compute_at" else []
        text = refusal(lambda: getattr(sch, primitive)(inner, *args))
        assert text.startswith(
            f"error: {primitive}: block following writes S, which block inner reads, after it"
        ), text


# ---------------------------------------------------------------- what is refused


def scan_of(change=lambda **tensors: tensors):
    X, state, first, following = running_sums(5, 7)
    return te.scan(**change(init=first, update=following, state_placeholder=state))


def refused(**tensors) -> str:
    return refusal(lambda: scan_of(lambda **own: {**own, **tensors}))


def test_an_update_is_computed():
    S, I = te.placeholder((5, 3), name="S"), te.placeholder((1, 3), name="I")
    assert refusal(lambda: te.scan(I, S, S)) == (
        "error: te.scan: update 0 is S, which is an input\nhelp: an update is a te.compute of the step"
    )


def test_refused_numbers_of_tensors():
    assert refused(update=[]) == "error: te.scan: there is no update"
    assert (
        refused(init=[]) == "error: te.scan: 0 inits, 1 update and 1 state\nhelp: each state has one of each"
    )


def test_refused_shapes():
    tensor = te.placeholder
    assert refused(init=tensor((7,))) == (
        "error: te.scan: init 0 has 1 dimension, its state has 2\nhelp: dimension 0 of all three is the step"
    )
    assert refused(init=tensor((1, 7), "int32")) == "error: te.scan: init 0 is int32, its state is float32"
    assert (
        refused(init=tensor((1, 8)))
        == "error: te.scan: dimension 1 of init 0 is not that of its state: 8 and 7"
    )
    assert refused(state_placeholder=tensor((6, 7))) == (
        "error: te.scan: update 0 and its state differ in the number of steps: 5 and 6"
    )
    assert refused(init=tensor((6, 7))) == "error: te.scan: init 0 has 6 steps, its state only 5"
    assert refused(init=tensor((0, 7))) == (
        "error: te.scan: init 0 has no step\nhelp: the first update reads a step before it"
    )


def test_refused_pairs_of_states():
    X, state, first, following = running_sums(5, 7)
    other = te.placeholder((6, 7), name="other")
    more = te.compute((6, 7), lambda t, i: other[t - 1, i], name="more")
    assert refusal(lambda: te.scan([first, first], [following, more], [state, other])) == (
        "error: te.scan: states 1 and 0 differ in the number of steps: 6 and 5"
    )
    twin = te.placeholder((5, 7), name="twin")
    again = te.compute((5, 7), lambda t, i: twin[t - 1, i], name="again")
    two = te.placeholder((2, 7), name="two")
    assert refusal(lambda: te.scan([first, two], [following, again], [state, twin])) == (
        "error: te.scan: inits 1 and 0 differ in the number of steps: 2 and 1"
    )
    assert refusal(lambda: te.scan([first, first], [following, following], [state, twin])) == (
        "error: te.scan: following is the update of states 0 and 1\nhelp: one state is enough"
    )
    assert refusal(lambda: te.scan([first, first], [following, again], [state, state])) == (
        "error: te.scan: state stands for states 0 and 1\nhelp: make a placeholder for each"
    )


def test_refused_state_that_is_computed():
    computed = te.compute((5, 7), lambda t, i: 0.0, name="made")
    assert refused(state_placeholder=computed) == (
        "error: te.scan: state 0 is made, which is computed\nhelp: a state is a te.placeholder of the update's shape"
    )


def updates(body, init=1, inner=None):
    X, state, _, _ = running_sums(5, 7)
    first = te.compute((init, 7), lambda t, i: X[t, i], name="first")
    between = te.compute((5, 7), lambda t, i: inner(state, t, i), name="between") if inner else state
    following = te.compute((5, 7), lambda t, i: body(between, t, i), name="following")
    return refusal(lambda: te.scan(first, following, state))


def test_refused_reads():
    assert updates(lambda state, t, i: state[t, i]) == (
        "error: te.scan: following at step t reads state[t, i], which is not computed yet\n"
        "help: a step reads states of the steps before it, as state[t - 1, ...]"
    )
    assert updates(lambda state, t, i: state[t + 1, i]).startswith(
        "error: te.scan: following at step t reads state[t + 1, i], which is not computed yet"
    )
    assert updates(lambda state, t, i: state[t - 2, i]) == (
        "error: te.scan: following reads state[t - 2, i], which is step -1 where the first is computed, 1\n"
        "help: give an init of more steps"
    )
    assert updates(lambda between, t, i: between[0, i], inner=lambda state, t, i: state[t - 1, i]) == (
        "error: te.scan: following at t reads between[0, i], of which the step computes another row\n"
        "help: a step keeps one row of what it computes; what later steps need is a state"
    )


def test_refused_cells():
    X, state, first, following = running_sums(5, 7)
    late = te.compute((1, 7), lambda t, i: state[0, i], name="late")
    assert refusal(lambda: te.scan(late, following, state)) == (
        "error: te.scan: init late depends on a state\nhelp: the first steps are computed before the others"
    )
    by_hand = te.extern(
        (5, 7), [state], lambda ins, outs: tir.call_packed("test.none", ins[0], outs[0]), name="by_hand"
    )
    assert refusal(lambda: te.scan(first, by_hand, state)) == (
        "unsupported: te.scan: by_hand depends on a state and is computed by a statement of its own\n"
        "help: what a step computes is a te.compute"
    )
    nested = te.scan(first, following, state, name="nested")
    outer = te.placeholder((5, 7), name="outer")
    start = te.compute((1, 7), lambda t, i: outer[0, i], name="start")
    inside = te.placeholder((5, 7), name="inside")
    step = te.compute((5, 7), lambda t, i: inside[t - 1, i], name="step")
    within = te.scan(start, step, inside, name="within")
    last = te.compute((5, 7), lambda t, i: within[t, i] + outer[t - 1, i], name="last")
    assert refusal(lambda: te.scan(nested_init(first), last, outer)) == (
        "unsupported: te.scan: within depends on a state and is a scan itself\n"
        "help: what a step computes is a te.compute"
    )
    assert nested.op.name == "nested"


def nested_init(first):
    return te.compute((1, 7), lambda t, i: first[t, i], name="nested_init")


def test_refused_uses_of_what_a_step_computes():
    X, state, first, following = running_sums(5, 7)
    sums = te.scan(first, following, state, name="sums")
    outside = te.compute((5, 7), lambda t, i: sums[t, i] + following[t, i], name="outside")
    assert refusal(lambda: te.create_prim_func([X, outside])) == (
        "error: create_prim_func: outside reads following, which exists only inside of the steps of sums\n"
        "help: read a result of te.scan; what else is needed can be a further state"
    )
    assert refusal(lambda: te.create_prim_func([X, state, sums])) == (
        "error: create_prim_func: argument state exists only inside of the steps of sums\nhelp: give the result of te.scan"
    )
    again = te.scan(first, following, state, name="again")
    assert refusal(lambda: te.create_prim_func([X, sums, again])) == (
        "unsupported: create_prim_func: following is part of two scans, sums and again\nhelp: write it once for each"
    )


def test_refused_gradient():
    X, sums = sums_of(5, 7)
    assert refusal(lambda: te.gradient(sums, [X])) == (
        "unsupported: te.gradient: sums is a scan, whose steps would have to run backwards\n"
        "help: write that as a te.scan of its own, or the steps as operators of relax"
    )
