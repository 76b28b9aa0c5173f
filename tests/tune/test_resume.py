"""Tuning that goes on: what the database has is not measured again, and records of other extents are where a search begins."""

import hashlib
import json

import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.tune import measure, similar


def matmul(n=32, m=32, names="ABC", dtype="float32"):
    a = te.placeholder((n, m), dtype, name=names[0])
    b = te.placeholder((m, n), dtype, name=names[1])
    k = te.reduce_axis((0, m), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def tiles(sch):
    i, j, k = sch.get_loops("C")
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2, max_innermost_factor=1024))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, max_innermost_factor=1024))
    sch.reorder(i0, j0, k, i1, j1)


SPACE = tune.ScheduleFn(tiles)


def time_of(trace):
    """A time that depends on the trace alone."""
    return 1.5 + int(hashlib.sha256(trace).hexdigest()[:8], 16) / 2**32


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """The traces that are measured, in order; their times depend on the traces alone."""
    traces = []

    def build(program, trace, target):
        return (trace or "").encode()

    def run(code, baseline, shapes, options, is_confirming=False):
        if code:
            traces.append(code.decode())
        return {"seconds": [time_of(code)], "baseline": [1.0] if baseline else [], "has_same_bits": True}

    monkeypatch.setattr(measure, "build_candidate", build)
    monkeypatch.setattr(measure, "measure_candidate", run)
    return traces


class Listens:
    """A cost model that prefers what it knows, and keeps what it is told."""

    def __init__(self):
        self.told = []

    def predict(self, candidates):
        return [-time_of(each.sch.trace().save_json().encode()) for each in candidates]

    def update(self, candidates, seconds):
        self.told += zip((each.sch.trace().save_json() for each in candidates), seconds, strict=True)


def tuned(database, func=None, **options):
    options = {"trials": 8, "quiet": True, "space": SPACE} | options
    return tune.tune(func or matmul(), "llvm -num-cores=1", database=database, **options)[0]


def test_it_goes_on_with_what_there_is(measured, tmp_path):
    database = tune.RecordFile(tmp_path / "tune.db")
    first = tuned(database, trials=10)
    recorded = {each.trace_json: each.median for each in database.records()}
    model = Listens()
    before, measured[:] = list(measured), []
    result = tuned(tune.RecordFile(tmp_path / "tune.db"), trials=1000, resume=True, cost_model=model)
    assert result.trials == len(measured) == 36 - 10
    assert set(before).isdisjoint(measured) and len(set(measured)) == 26
    assert dict(model.told[:10]) == recorded
    assert result.best.median == min(each.median for each in database.records()) <= first.best.median
    measured[:] = []
    result = tuned(tune.RecordFile(tmp_path / "tune.db"), trials=1000, resume=True)
    assert (result.trials, measured) == (0, [])
    assert result.best.median == min(each.median for each in database.records())


def test_without_resume_all_is_measured_anew(measured):
    database = tune.RecordFile()
    tuned(database)
    before, measured[:] = list(measured), []
    tuned(database)
    assert sorted(measured) == sorted(before)


def test_the_same_seed_and_records_give_the_same_candidates(measured, tmp_path):
    tuned(tune.RecordFile(tmp_path / "one.db"), trials=6)
    tune.RecordFile(tmp_path / "one.db").export(tmp_path / "records.jsonl")
    tune.RecordFile(tmp_path / "two.db").import_(tmp_path / "records.jsonl")
    found = []
    for name in ("one.db", "two.db"):
        measured[:] = []
        tuned(tune.RecordFile(tmp_path / name), trials=12, resume=True, seed=3, per_iteration=4)
        found.append(sorted(measured))
    assert found[0] == found[1] and len(found[0]) == 12


def test_traces_without_samples_are_not_measured_again(measured):
    def two(sch):
        other = sch.copy()
        other.parallel(other.get_loops("C")[0])
        return [sch, other]

    database = tune.RecordFile()
    space = tune.ScheduleFn(two)
    assert tuned(database, space=space).trials == 2
    assert tuned(database, space=space, resume=True).trials == 0


def test_other_spaces_and_programs_are_no_records_to_go_on_with(measured):
    database = tune.RecordFile()
    tuned(database, space=tune.ScheduleFn(tiles), trials=36)
    renamed = tune.ScheduleFn(tiles)
    renamed.name = "another"
    assert tuned(database, space=renamed, resume=True, trials=5).trials == 5
    assert tuned(database, matmul(31), resume=True, trials=2).trials == 2


def test_patterns_of_programs():
    one, other = similar.pattern_of(matmul(32)), similar.pattern_of(matmul(48, names="PQR"))
    assert one[0] == other[0] and one[1] != other[1]
    assert 32 in one[1] and 48 in other[1]
    assert similar.pattern_of(matmul(32, dtype="float64"))[0] != one[0]
    assert similar.pattern_of(matmul(32).with_attr("global_symbol", "linear0")) == one


def test_the_nearest_program_comes_first():
    database = tune.RecordFile()
    for n in (1000, 24, 32, 40):
        database.add_program(tune.tasks_of(matmul(n))[0])
    database.add_program(tune.tasks_of(matmul(33, dtype="float64"))[0])
    names = {task.key.program: n for n in (1000, 24, 32, 40) for task in tune.tasks_of(matmul(n))}
    assert [names[each] for each in similar.similar_programs(matmul(32), database)] == [40, 24, 1000]


def decisions(trace):
    return [step["args"]["decision"] for step in json.loads(trace)["steps"] if "decision" in step["args"]]


def decided(func, *factors):
    sch = tw.Schedule(tune.tasks_of(func)[0].module)
    i, j, k = sch.get_loops("C")
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2, decision=factors[0]))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, decision=factors[1]))
    sch.reorder(i0, j0, k, i1, j1)
    return sch.trace.save_json()


@pytest.mark.parametrize(
    ("n", "factors"), [(64, [[16, 4], [4, 16]]), (48, [[12, 4], [3, 16]]), (7, [[7, 1], [1, 7]])]
)
def test_decisions_fit_another_extent(n, factors):
    trace = decided(matmul(32), [8, 4], [2, 16])
    program = tw.Schedule(tune.tasks_of(matmul(n))[0].module, error_render_level="none")
    assert decisions(similar.adapted(program, trace)) == factors


def test_a_trace_that_does_not_apply_is_left_out():
    program = tw.Schedule(tune.tasks_of(matmul(48))[0].module, error_render_level="none")
    trace = decided(matmul(32), [8, 4], [2, 16]).replace('"C"', '"D"')
    assert similar.adapted(program, trace) is None


def test_records_of_another_extent_are_the_first_candidates_and_no_answers(measured):
    database = tune.RecordFile()
    tuned(database, matmul(32), trials=36)
    best = sorted(database.records(), key=lambda record: record.median)[:3]
    measured[:] = []
    assert database.of_space(SPACE.name).schedule_for(matmul(64), "llvm -num-cores=1") is None
    result = tuned(database, matmul(64), trials=16, per_iteration=8)
    program = tw.Schedule(tune.tasks_of(matmul(64))[0].module, error_render_level="none")
    starts = [similar.adapted(program, each.trace_json) for each in best]
    # traces as JSON differ in spaces
    assert {str(decisions(each)) for each in starts} <= {str(decisions(each)) for each in measured[:8]}
    assert result.trials == 16 == len({str(decisions(each)) for each in measured})


def test_a_record_whose_trace_is_damaged_stands_in_nobodys_way(tmp_path):
    database = tune.RecordFile()
    tuned(database, trials=4)
    (task,) = tune.tasks_of(matmul(), "llvm -num-cores=1")
    damaged = tune.Record()
    damaged.key, damaged.target, damaged.space = task.key, str(task.target), SPACE.name
    damaged.trace_json, damaged.seconds, damaged.baseline = '{"tilewright_trace":1,"st', [1e-9], [1.0]
    database.add(damaged)
    result = tuned(database, trials=2, resume=True)
    assert result.trials == 2
    tuned(database, matmul(16, 16), trials=2)  # whose search begins with records of another extent
    tune.report(database, tmp_path / "tune.html")
    assert "damaged" not in (tmp_path / "tune.html").read_text()
