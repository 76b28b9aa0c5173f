"""A sample of candidates is compared with its program on the interpreter."""

import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.tune import check, task_tuner


def product(n=8):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def columns(sch):
    j = sch.get_loops("C")[1]
    sch.split(j, sch.sample_perfect_tile(j, n=2))


def test_a_right_schedule_and_a_large_one_have_no_objection():
    for n in (8, 256):  # the second has more iterations than the interpreter is given
        sch = tw.Schedule(product(n))
        columns(sch)
        assert check.objection(sch) is None


class Wrong(tw.Schedule):
    """What the check of a schedule with a bug would say."""

    def verify(self, **_):
        raise tw.errors.UserError("verify: main gives C[0, 1] = 2 instead of 3")


def test_other_numbers_are_the_reason():
    assert check.objection(Wrong(product())) == "on the interpreter, main gives C[0, 1] = 2 instead of 3"


def test_a_candidate_that_the_interpreter_refuses_is_one_failed_record(monkeypatch):
    seen = []

    def refuse_first(sch):
        seen.append(sch)
        return "on the interpreter, no" if len(seen) == 1 else None

    monkeypatch.setattr(task_tuner, "objection", refuse_first)
    database = tune.RecordFile()
    (result,) = tune.tune(
        product(),
        "llvm -num-cores=1",
        database=database,
        space=tune.ScheduleFn(columns),
        trials=4,
        per_iteration=2,
        options=tune.MeasureOptions(min_repeat_ms=1),
        quiet=True,
    )
    assert result.trials == 4 and len(seen) == 2  # one of each iteration
    assert [each.failure for each in database.records(with_failures=True) if each.failure] == [
        "on the interpreter, no"
    ]


@pytest.mark.parametrize("space", [tune.DefaultSpace(), tune.DefaultSpace(plans=False)])
def test_candidates_of_the_default_space_have_the_numbers_of_the_interpreter(space):
    (task,) = tune.tasks_of(product(7), "llvm -num-cores=2")
    program = tw.Schedule(task.module)._core
    search = tw._core.Search(program, [*space.designs(task), *space.plans(task)], [], None, 0, 32, 1)
    candidates = search.ask(24)
    assert len(candidates) >= 16
    for each in candidates:
        assert tw.Schedule._of(each.sch).verify(samples=1).samples
