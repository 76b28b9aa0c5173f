"""Arithmetic on what schedules sample: it is part of the trace, and replayed with other samples it is others' result."""

import pytest

import tilewright
from tilewright.script import tir as T


@T.prim_func
def double(A: T.Buffer((127,), "float32"), B: T.Buffer((127,), "float32")):
    for i in range(127):
        with T.block("B"):
            vi = T.axis.spatial(127, i)
            B[vi] = A[vi] * T.float32(2)


def sampled(seed=0):
    sch = tilewright.Schedule(double, seed=seed)
    return sch, sch.sample_categorical([2, 4], [0.5, 0.5])


def test_a_product_is_a_factor():
    sch, v = sampled()
    (i,) = sch.get_loops(sch.get_block("B"))
    outer, inner = sch.split(i, [None, v * 8])
    assert sch.get(inner).extent == 8 * sch.get(v)
    sch.verify()
    again = tilewright.Schedule(double)
    sch.trace.apply_to_schedule(again)
    assert tilewright.ir.structural_equal(again.mod, sch.mod)
    assert type(sch.trace).load_json(sch.trace.save_json()).text() == sch.trace.text()


def test_every_operation():
    sch, v = sampled()
    n = sch.get(v)
    for made, expected in [
        (v + 3, n + 3),
        (3 + v, 3 + n),
        (v - 5, n - 5),
        (5 - v, 5 - n),
        (v * v, n * n),
        ((v - 9) // 4, (n - 9) // 4),
        (9 // v, 9 // n),
        ((v - 9) % 4, (n - 9) % 4),
        (-v, -n),
        ((v + 1) * (v - 1) // 2, (n + 1) * (n - 1) // 2),
    ]:
        assert sch.get(made) == expected, repr(made)


def test_the_trace_says_what_was_calculated():
    sch, v = sampled()
    sch.annotate(sch.get_block("B"), "width", v * 2)
    assert sch.trace.text().splitlines()[1:] == [
        'b1 = sch.get_block(name="B", func_name="double")',
        'v2 = sch.calculate(operation="*", a=v0, b=2)',
        'sch.annotate(block_or_loop=b1, ann_key="width", ann_val=v2)',
    ]
    assert dict(sch.get(sch.get_block("B")).annotations)["width"] == 2 * sch.get(v)


def test_what_is_no_number_is_refused():
    sch, v = sampled()
    with pytest.raises(tilewright.UserError) as error:
        sch.get(v // 0)
    assert str(error.value) == f"error: calculate: {sch.get(v)} // 0 is no 64-bit integer"
    with pytest.raises(tilewright.UserError) as error:
        sch.calculate("^", v, 2)
    assert (
        str(error.value)
        == 'error: calculate: there is no operation "^"\nhelp: it is one of + - * // % min max'
    )
    with pytest.raises(tilewright.UserError) as error:
        sch.calculate("+", v, None)
    assert str(error.value) == "error: calculate: an operand of + is None"
    with pytest.raises(TypeError):
        v * 2.5


def test_it_is_no_condition():
    _, v = sampled()
    with pytest.raises(tilewright.errors.ArgumentError) as error:
        bool(v * 2)
    assert str(error.value) == (
        "(v0 * 2) is no number yet: what was sampled may be another one when the trace is replayed\n"
        "help: sch.get(...) gives the number of this schedule"
    )
