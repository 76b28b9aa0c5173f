"""Tuning: spaces of functions, the default space, candidates that crash, hang, print or fail, records of all of them."""

import math
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import Unsupported, UserError
from tilewright.script import parse
from tilewright.tune.child import ChildFailed
from tilewright.tune.measure import MeasureOptions, build_candidate, measure_candidate

FAST = MeasureOptions(min_repeat_ms=1, rounds=2)


def matmul(n=32):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def split_columns(sch):
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2))
    sch.reorder(i, j0, k, j1)
    sch.decompose_reduction(block, k)


SPLIT = tune.ScheduleFn(split_columns).name


def tuned(func, database, **options):
    options = {"trials": 8, "options": FAST, "quiet": True} | options
    return tune.tune(func, "llvm -num-cores=1", database=database, **options)


def test_the_space_of_a_function():
    database = tune.RecordFile()
    (result,) = tuned(matmul(), database, space=tune.ScheduleFn(split_columns))
    records = database.records(with_failures=True)
    assert result.trials == len(records) == 5  # 1, 2, 4, 8 and 16 columns
    assert [each.failure for each in records if each.failure] == []
    assert all(len(each.seconds) >= 1 for each in records)
    assert {each.space for each in records} == {SPLIT}
    view = database.of_space(SPLIT)
    sch = view.schedule_for(matmul(), "llvm -num-cores=1")
    assert sch.trace.save_json() == result.best.trace_json == records[0].trace_json
    assert result.best.relative == min(each.relative for each in records)
    assert sch.verify(samples=1)
    assert [name for _, name, _ in database.programs()] == ["main"]


def test_the_default_schedule_is_the_first_candidate_of_the_default_space():
    database = tune.RecordFile()
    (result,) = tuned(matmul(), database, trials=1)
    first = min(database.records(with_failures=True), key=lambda record: record.id)
    assert first.trace_json == "" and first.space == "default"
    assert result.speedup >= 1
    rules = tw.schedule.by_rules(tune.tasks_of(matmul())[0].module, "llvm -num-cores=1")
    if result.best.trace_json == "":
        assert str(database.schedule_for(matmul(), "llvm -num-cores=1").trace) == str(rules.trace)


def test_the_same_seed_asks_for_the_same_candidates():
    def traces(seed):
        database = tune.RecordFile()
        tuned(matmul(60), database, space=tune.ScheduleFn(split_columns), trials=4, seed=seed)
        return sorted(each.trace_json for each in database.records(with_failures=True))

    assert traces(3) == traces(3)


def test_a_space_function_may_return_schedules():
    def two(sch):
        other = sch.copy()
        split_columns(sch)
        other.parallel(other.get_loops("C")[0])
        return [sch, other]

    database = tune.RecordFile()
    (result,) = tuned(matmul(), database, space=tune.ScheduleFn(two), trials=20)
    assert result.trials == 6

    three = tune.ScheduleFn(lambda sch: 3)
    with pytest.raises(UserError) as error:
        tuned(matmul(), database, space=three)
    assert str(error.value) == (
        f"{three.name} returned 3, expected None, a Schedule "
        "or a list of them\nhelp: a space function changes the schedule that it is given"
    )
    with pytest.raises(UserError) as error:
        tune.ScheduleFn(3)
    assert str(error.value) == "ScheduleFn: a Python int cannot be called"


def test_a_space_needs_a_method():
    with pytest.raises(Unsupported) as error:
        tuned(matmul(), tune.RecordFile(), space=tune.SpaceGenerator())
    assert str(error.value) == (
        "SpaceGenerator has no method designs(task)\nhelp: define it, as tune.ScheduleFn does"
    )


@pytest.mark.parametrize("name", ["trials", "per_iteration"])
def test_wrong_counts(name):
    with pytest.raises(UserError) as error:
        tuned(matmul(), tune.RecordFile(), **{name: 0})
    assert str(error.value) == f"tune: {name} is 0, expected a whole number from 1 on"


def test_open_extents_are_refused():
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    func = te.create_prim_func([x, te.compute((n,), lambda i: x[i] + 1.0, name="Y")])
    with pytest.raises(UserError) as error:
        tuned(func, tune.RecordFile())
    assert str(error.value) == (
        "a kernel with open extents, or with parameters that are no buffers, cannot be measured\n"
        "help: fix its extents, e.g. by compile(..., shapes={...})"
    )


class Preference:
    """A cost model that prefers many columns."""

    def __init__(self):
        self.told = []

    def predict(self, candidates):
        return [len(each.sch.trace().save_json()) for each in candidates]

    def update(self, candidates, seconds):
        self.told += seconds


def test_cost_models_in_python():
    model = Preference()
    tuned(matmul(), tune.RecordFile(), space=tune.ScheduleFn(split_columns), cost_model=model)
    assert len(model.told) == 5 and all(0 < each < math.inf for each in model.told)


class Silent(Preference):
    def predict(self, candidates):
        return []


def test_wrong_models_and_spaces():
    with pytest.raises(UserError) as error:
        tuned(matmul(), tune.RecordFile(), space=tune.ScheduleFn(split_columns), cost_model=Silent())
    assert str(error.value) == "error: the cost model gave 0 scores for 5 candidates"
    core = tw._core
    program = tw.Schedule(matmul())._core
    with pytest.raises(UserError) as error:
        core.Search(program, [], [], None, 0, 8, 1)
    assert str(error.value) == "error: the space has no design"
    for population, generations, text in (
        (0, 1, "error: population is 0, expected at least 1"),
        (8, -1, "error: generations is -1, expected at least 0"),
    ):
        with pytest.raises(UserError) as error:
            core.Search(program, [tw.Schedule(matmul()).trace], [], None, 0, population, generations)
        assert str(error.value) == text
    search = core.Search(program, [tw.Schedule(matmul()).trace], [], None, 0, 8, 1)
    with pytest.raises(UserError) as error:
        search.ask(0)
    assert str(error.value) == "error: ask: count is 0, expected at least 1"
    with pytest.raises(UserError) as error:
        search.tell([], [1.0])
    assert str(error.value) == "error: tell: 1 times for 0 candidates"


def test_any_executor_builds_and_measures():
    database = tune.RecordFile()
    with ThreadPoolExecutor(2) as builds, ThreadPoolExecutor(1) as measurements:
        (result,) = tuned(
            matmul(),
            database,
            space=tune.ScheduleFn(split_columns),
            executor=builds,
            measure_executor=measurements,
        )
    assert result.trials == 5 and result.best is not None


def program(statement, name="main"):
    return parse(f"""
@T.prim_func
def {name}(A: T.Buffer((64,), "float32")):
    {statement}
""")


def measured(func, timeout=3.0, **options):
    module = tw.IRModule({"main": func})
    code = build_candidate(tw.ir.save_json(module), '{"tilewright_trace": 1, "steps": []}', "llvm")
    limits = MeasureOptions(min_repeat_ms=1, rounds=1, timeout=timeout, **options)
    return measure_candidate(code, None, [((64,), "float32")], limits)


GOOD = "A[0] = T.float32(1)"


@pytest.mark.skipif(
    "clang_rt." in Path("/proc/self/maps").read_text(), reason="sanitizers handle these signals"
)
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ('T.evaluate(T.call_extern("int32", "abort"))', "it aborted (SIGABRT)"),
        ('T.evaluate(T.call_extern("int32", "raise", 11))', "it read or wrote outside of memory (SIGSEGV)"),
        (
            'T.evaluate(T.call_extern("int32", "raise", 4))',
            "it used an instruction that this processor lacks (SIGILL)",
        ),
        ('T.evaluate(T.call_extern("int32", "_exit", 3))', "it ended with exit code 3"),
        ('T.evaluate(T.call_extern("int32", "sleep", 60))', "it took longer than 3 s"),
    ],
)
def test_what_a_candidate_does_ends_its_process_alone(statement, reason):
    with pytest.raises(ChildFailed) as error:
        measured(program(statement))
    assert str(error.value) == reason
    assert measured(program(GOOD))["seconds"][0] > 0  # the next one runs


def test_what_a_candidate_prints_is_not_taken_for_an_answer(capfd):
    found = measured(program('T.evaluate(T.call_extern("int32", "puts", "printed"))'))
    assert found["seconds"][0] > 0
    assert capfd.readouterr() == ("", "")


HANGS = """
import tilewright as tw, tilewright.tune.measure as measure
from tilewright.script import parse
func = parse('''
@T.prim_func
def main(A: T.Buffer((64,), "float32")):
    T.evaluate(T.call_extern("int32", "sleep", 600))
''')
code = measure.build_candidate(tw.ir.save_json(tw.IRModule({"main": func})), None, "llvm")
print("measuring", flush=True)
measure.measure_candidate(code, None, [((64,), "float32")], measure.MeasureOptions(timeout=600))
"""


def children_of(process):
    """The process IDs of the children of a process."""
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_candidate_that_hangs_ends_with_the_program_that_measures_it():
    with subprocess.Popen([sys.executable, "-c", HANGS], stdout=subprocess.PIPE, text=True) as tuner:
        assert tuner.stdout.readline() == "measuring\n"
        deadline = time.monotonic() + 30
        while not (children := children_of(tuner.pid)) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(2)  # the candidate runs
        tuner.kill()
    (child,) = children
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and Path(f"/proc/{child}/exe").exists():
        time.sleep(0.1)
    assert not Path(f"/proc/{child}/exe").exists()


def test_a_time_out_takes_as_long_as_it_says():
    begin = time.monotonic()
    with pytest.raises(ChildFailed):
        measured(program('T.evaluate(T.call_extern("int32", "sleep", 60))'), timeout=0.5)
    assert time.monotonic() - begin < 20


def test_a_candidate_that_cannot_be_built_is_a_record():
    def wrong(sch):
        split_columns(sch)
        sch.vectorize(sch.get_loops("C_update")[2])  # a sum: it is refused when it is built, if not before

    database = tune.RecordFile()
    with pytest.raises(UserError):
        tuned(matmul(), database, space=tune.ScheduleFn(wrong), trials=3)
    assert len(database) == 0
    task = tune.tasks_of(matmul(), "llvm -num-cores=1")[0]
    with pytest.raises(UserError):
        build_candidate(tw.ir.save_json(task.module), '{"tilewright_trace": 99, "steps": []}', "llvm")


def test_kernels_of_any_name_are_tuned():
    func = matmul().with_attr("global_symbol", "linear0")
    database = tune.RecordFile()
    (result,) = tuned(func, database, space=tune.ScheduleFn(split_columns), trials=2)
    assert result.task.name == "linear0" and result.best is not None
    assert database.of_space(SPLIT).schedule_for(matmul(), "llvm -num-cores=1") is not None


def test_results_of_the_winner_are_right():
    database = tune.RecordFile()
    tuned(matmul(31), database, space=tune.ScheduleFn(split_columns))
    with database.of_space(SPLIT):
        lib = tw.build(matmul(31), "llvm -num-cores=1")
    x, y = (np.random.default_rng(seed).standard_normal((31, 31)).astype("float32") for seed in (0, 1))
    out = tw.tensor(np.zeros((31, 31), "float32"))
    lib["main"](tw.tensor(x), tw.tensor(y), out)
    np.testing.assert_allclose(out.numpy(), x @ y, rtol=1e-4, atol=1e-5)


def test_the_default_space_tiles_and_keeps_the_bits():
    database = tune.RecordFile()
    (result,) = tuned(matmul(24), database, trials=6)
    records = database.records(with_failures=True)
    assert result.trials == 6 and len(records) == 7  # and the default schedule
    assert not any(each.failure or each.changes_sums for each in records)
    assert result.speedup >= 1


def cut_sum(sch):
    block = sch.get_block("C")
    k = sch.get_loops(block)[2]
    _, k1 = sch.split(k, sch.sample_perfect_tile(k, n=2))
    sch.rfactor(k1, 0)


def test_candidates_with_other_bits_are_recorded_as_such():
    database = tune.RecordFile()
    tuned(matmul(64), database, space=tune.ScheduleFn(cut_sum), trials=5)
    records = database.records(with_failures=True)
    assert any(each.changes_sums for each in records)
    assert not any(each.changes_sums and each.beats_default for each in records)


def test_a_candidate_with_other_numbers_is_a_failure():
    one, two = (
        build_candidate(
            tw.ir.save_json(tw.IRModule({"main": program(f"A[5] = T.float32({value})")})), None, "llvm"
        )
        for value in (1, 2)
    )
    shapes = [((64,), "float32")]
    with pytest.raises(ChildFailed) as error:
        measure_candidate(one, ("two", two), shapes, FAST)
    assert str(error.value) == (
        "ValueError: argument 0 has other numbers than after the default schedule, first at [5]"
    )


def test_functions_of_one_name_are_spaces_of_their_own():
    def halves(sch):
        sch.split(sch.get_loops("C")[0], [None, 2])

    before = tune.ScheduleFn(halves)

    def halves(sch):
        sch.split(sch.get_loops("C")[0], [None, 4])

    after = tune.ScheduleFn(halves)
    assert before.name != after.name and before.name.startswith("function test_functions_of_one_name")
    assert tune.ScheduleFn(halves).name == after.name
    rules = [
        tune.DefaultSpace(),
        tune.DefaultSpace(rules=["auto_inline"]),
        tune.DefaultSpace(by_block={"C": "auto_inline"}),
    ]
    assert [each.name for each in rules] == ["default", "default by auto_inline", "default by C: auto_inline"]


def test_what_changes_sums_does_not_win_for_runs_that_forbid_it():
    database = tune.RecordFile()
    (task,) = tune.tasks_of(matmul(), "llvm -num-cores=1")
    sch = tw.Schedule(task.module)
    split_columns(sch)
    other = tune.Record()
    other.key, other.target, other.space = task.key, "llvm -num-cores=1", "default"
    other.trace_json, other.seconds, other.baseline = sch.trace.save_json(), [1e-9], [1.0]
    other.beats_default = other.changes_sums = True
    database.add(other)
    for allowed in (False, True):
        (result,) = tuned(matmul(), database, trials=1, resume=True, allow_reassociation=allowed)
        assert (result.best.trace_json == other.trace_json) == allowed


def test_a_default_schedule_that_cannot_be_measured_ends_the_run():
    with pytest.raises(UserError) as error:
        tuned(matmul(), tune.RecordFile(), options=tune.MeasureOptions(memory_mb=1))
    assert str(error.value).startswith("main: the default schedule cannot be measured: ")
