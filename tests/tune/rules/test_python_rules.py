"""Rules that users write, and rules of single blocks."""

import pytest
from designs import task_of

import tilewright as tw
from tilewright import te, tune


def product():
    a, b = te.placeholder((7, 21), name="A"), te.placeholder((21, 5), name="B")
    k = te.reduce_axis((0, 21), name="k")
    c = te.compute((7, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, te.compute((7, 5), lambda i, j: c[i, j] + 1.0, name="D")])


class Rows(tune.ScheduleRule):
    name = "rows"

    def apply(self, sch, block):
        loops = sch.get_loops(block)
        if len(loops) != 3:
            return f"it has {len(loops)} loops"
        sch.split(loops[0], sch.sample_perfect_tile(loops[0], n=2))
        return [sch]


def test_a_rule_of_python_runs_in_its_place():
    traces, attempts = tune.DefaultSpace(rules=["auto_inline", Rows()]).explained(task_of(product()))
    (trace,) = traces
    assert str(trace).count("sample_perfect_tile") == 1
    assert ("C", "rows", "") in attempts and ("D", "rows", "it has 2 loops") in attempts
    assert [rule for _, rule, _ in attempts] == ["auto_inline"] * 2 + ["rows"] * 2


def test_what_a_primitive_raises_is_a_reason():
    class Wrong(tune.ScheduleRule):
        name = "wrong"

        def apply(self, sch, block):
            sch.split(sch.get_loops(block)[0], [0, 1])

    traces, attempts = tune.DefaultSpace(rules=[Wrong()]).explained(task_of(product()))
    assert traces == []
    assert ("C", "wrong", "split: factor 0 of loop i is below 1") in attempts


def test_a_block_may_name_its_only_rule():
    sch = tw.Schedule(product())
    sch.annotate(sch.get_block("C"), "schedule_rule", "rows")
    func = sch.mod["main"]
    attempts = tune.DefaultSpace(rules=["multi_level_tiling", Rows()]).explained(task_of(func))[1]
    assert [each for each in attempts if each[0] == "C"] == [("C", "rows", "")]
    sch.annotate(sch.get_block("D"), "schedule_rule", "None")
    attempts = tune.DefaultSpace(rules=[Rows()]).explained(task_of(sch.mod["main"]))[1]
    assert attempts == [("C", "rows", "")]
    by_block = {"C": "multi_level_tiling", "D": Rows()}
    attempts = tune.DefaultSpace(rules=[], by_block=by_block).explained(task_of(func))[1]
    assert attempts == [("C", "multi_level_tiling", ""), ("D", "rows", "it has 2 loops")]


def test_rules_that_are_none():
    sch = tw.Schedule(product())
    sch.annotate(sch.get_block("C"), "schedule_rule", "multi_level_tilling")
    with pytest.raises(tw.UserError) as error:
        tune.DefaultSpace().explained(task_of(sch.mod["main"]))
    assert str(error.value).splitlines() == [
        'error: there is no schedule rule "multi_level_tilling"',
        "help: did you mean multi_level_tiling?",
    ]
    with pytest.raises(tw.UserError) as error:
        tune.DefaultSpace(rules=[3])
    assert str(error.value) == (
        "DefaultSpace: rule 3 is no name of a rule, and no object with a name and a method apply\n"
        "help: the rules are auto_inline, dot_products, factor_reduction, rows_together, register_tile, multi_level_tiling, "
        "compute_location, parallel_vectorize"
    )
    with pytest.raises(tw.Unsupported) as error:
        tune.ScheduleRule().apply(None, None)
    assert str(error.value) == (
        "ScheduleRule has no method apply(sch, block)\n"
        "help: return a list of schedules, or a text that says why not"
    )

    class Nothing(tune.ScheduleRule):
        pass

    attempts = tune.DefaultSpace(rules=[Nothing()]).explained(task_of(product()))[1]
    assert ("C", "custom", "Nothing has no method apply(sch, block)") in attempts

    class Number(tune.ScheduleRule):
        def apply(self, sch, block):
            return 3

    with pytest.raises(
        tw.UserError,
        match="rule custom returned 3, expected a list of schedules, or a text that says why there is none",
    ):
        tune.DefaultSpace(rules=[Number()]).explained(task_of(product()))
