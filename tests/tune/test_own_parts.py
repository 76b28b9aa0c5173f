"""Every part of the tuner written in Python: schedulers, strategies, postprocessors, mutators, callbacks, builders, runners."""

import json
import math

import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import Unsupported, UserError
from tilewright.script import parse

FAST = tune.MeasureOptions(min_repeat_ms=1, rounds=2)
TARGET = "llvm -num-cores=1"


def matmul(n=32):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def columns(sch):
    i, j, k = sch.get_loops("C")
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2))
    sch.reorder(i, j0, k, j1)


COLUMNS = tune.ScheduleFn(columns)


def tuned(mod=None, database=None, **options):
    database = database or tune.RecordFile()
    options = {"trials": 8, "options": FAST, "quiet": True, "space": COLUMNS} | options
    return tune.tune(mod or matmul(), TARGET, database=database, **options), database


def columns_of(record) -> int:
    """The inner factor that a record's trace decided."""
    steps = json.loads(record.trace_json)["steps"]
    return next(each["args"]["decision"][1] for each in steps if each["primitive"] == "sample_perfect_tile")


def refused(**options) -> str:
    with pytest.raises((UserError, Unsupported)) as error:
        tuned(**options)
    return str(error.value)


# ---------------------------------------------------------------- schedulers


class Backwards(tune.TaskScheduler):
    def __init__(self):
        self.order = []

    def next_task(self, tasks):
        left = [n for n, each in enumerate(tasks) if not each.result.is_done]
        self.order += left[-1:]
        return left[-1] if left else None


TWO = tw.IRModule({name: matmul(n).with_attr("global_symbol", name) for name, n in (("a", 8), ("b", 16))})


def test_a_scheduler_of_ones_own():
    scheduler = Backwards()
    results, _ = tuned(TWO, scheduler=scheduler, trials=4, per_iteration=1)
    assert scheduler.order == [1, 1, 1, 1]
    assert [each.trials for each in results] == [0, 4]


def test_round_robin():
    results, _ = tuned(TWO, scheduler=tune.RoundRobin(), trials=4, per_iteration=1)
    assert [each.trials for each in results] == [2, 2]


def test_trials_of_one_task_at_most():
    results, _ = tuned(TWO, scheduler=Backwards(), trials=6, trials_per_task=3, per_iteration=2)
    assert [each.trials for each in results] == [3, 3]
    assert refused(trials_per_task=0) == "tune: trials_per_task is 0, expected a whole number from 1 on"


class Wrong(tune.TaskScheduler):
    def __init__(self, answer):
        self.answer = answer

    def next_task(self, tasks):
        return self.answer


def test_wrong_schedulers():
    assert refused(scheduler=Wrong(1)) == "Wrong.next_task gave 1, expected 0 to 0 or None"
    assert refused(scheduler=Wrong(0), trials=100) == (
        "Wrong.next_task gave task 0, which has no candidates left\nhelp: look at tasks[n].result.is_done"
    )
    assert refused(scheduler=tune.TaskScheduler()) == (
        "TaskScheduler has no method next_task(tasks)\nhelp: define it, as tune.RoundRobin does"
    )
    assert refused(scheduler=3) == "tune: scheduler is a Python int, expected tune.TaskScheduler"
    with pytest.raises(UserError) as error:
        tune.Gradient(2)
    assert str(error.value) == "Gradient: least_gain is 2, expected 0 to 1"


# ---------------------------------------------------------------- strategies


class EightColumns(tune.SearchStrategy):
    """Asks for the candidate with eight columns, then for no other."""

    told = []

    def initialize(self):
        self.is_asked = False

    def ask(self, count):
        if self.is_asked:
            return []
        self.is_asked = True
        sch = tw.Schedule(self.context.task.module)
        i, j, k = sch.get_loops("C")
        j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, decision=[4, 8]))
        sch.reorder(i, j0, k, j1)
        return [sch]

    def tell(self, candidates, seconds):
        self.told.append((candidates, seconds))


def test_a_strategy_of_ones_own():
    (result,), database = tuned(strategy=EightColumns())
    assert [columns_of(each) for each in database.records()] == [8]
    assert result.trials == 1 and result.is_done
    ((candidates, seconds),) = EightColumns.told
    assert isinstance(candidates[0], tw.Schedule) and 0 < seconds[0] < math.inf


@pytest.mark.parametrize("strategy", [tune.ReplayTrace(), tune.ReplayFunction(), tune.Evolutionary(16, 1)])
def test_strategies(strategy):
    (result,), database = tuned(strategy=strategy, trials=20)
    assert result.trials == 5  # 1, 2, 4, 8 and 16 columns
    assert sorted(columns_of(each) for each in database.records()) == [1, 2, 4, 8, 16]


def test_a_function_that_looks_at_its_samples_is_called_again():
    def either(sch):
        i, j, _ = sch.get_loops("C")
        choice = sch.sample_categorical([0, 1], [0.5, 0.5])
        sch.unroll(i if sch.get(choice) == 0 else j)

    (result,), database = tuned(space=tune.ScheduleFn(either), strategy=tune.ReplayFunction(), trials=20)
    assert result.trials == 2
    loops = {json.loads(each.trace_json)["steps"][-1]["args"]["loop"]["loop"] for each in database.records()}
    assert len(loops) == 2


class Numbers(tune.SearchStrategy):
    def ask(self, count):
        return [3]


def test_wrong_strategies():
    assert refused(strategy=Numbers()) == "Numbers.ask gave a Python int, expected Schedules"
    assert refused(strategy=tune.SearchStrategy()) == (
        "SearchStrategy has no method ask(count)\nhelp: define it, as tune.ReplayFunction does"
    )
    assert refused(strategy="evolutionary") == "tune: strategy is a Python str, expected tune.SearchStrategy"
    assert refused(strategy=tune.Evolutionary(mutation_share=2)) == (
        "error: mutation_share is 2, expected 0 to 1"
    )
    assert (
        refused(strategy=tune.Evolutionary(random_share=-1)) == "error: random_share is -1, expected 0 to 1"
    )


# ---------------------------------------------------------------- postprocessors


class FewColumns(tune.Postproc):
    kept = []

    def apply(self, sch):
        self.kept.append(sch)
        return int(sch.get(sch.get_loops("C")[3]).extent) <= 4


@pytest.mark.parametrize("strategy", [tune.ReplayFunction(), tune.Evolutionary(16, 1)])
def test_a_postprocessor_of_ones_own(strategy):
    _, database = tuned(postprocs=[FewColumns()], strategy=strategy)
    assert sorted(columns_of(each) for each in database.records(with_failures=True)) == [1, 2, 4]
    assert "C" in str(FewColumns.kept[-1].mod)  # a schedule that was kept stays


class Fails(tune.Postproc):
    def apply(self, sch):
        sch.get_block("nowhere")
        return True


def test_a_postprocessor_whose_step_is_refused_leaves_the_candidate_out():
    (result,), _ = tuned(postprocs=[Fails()])
    assert result.trials == 0


def test_wrong_postprocessors():
    assert refused(postprocs=[3]) == "postprocs has a Python int, expected tune.Postproc"
    assert refused(postprocs=[tune.Postproc()]) == (
        "Postproc has no method apply(sch)\nhelp: define it, as tune.DisallowDynamicLoop does"
    )


def annotated(sch):
    columns(sch)
    root = sch.get_block("root")
    for key, value in (("parallel", 32), ("vectorize", 16), ("unroll_explicit", 16)):
        sch.annotate(root, f"meta_schedule.{key}", value)


def test_annotations_become_loops():
    postprocs = [tune.RewriteParallelVectorizeUnroll(), tune.RewriteReductionBlock()]
    _, database = tuned(space=tune.ScheduleFn(annotated), postprocs=postprocs, trials=3)
    best = database.records()[0]
    view = database.of_space(tune.ScheduleFn(annotated).name)
    sch = view.schedule_for(matmul(), TARGET)
    text = str(sch.mod)
    assert "T.parallel(" in text and "T.vectorized(" in text and "C_init" in text
    assert "pragma_auto_unroll_max_step" in text and "meta_schedule." not in text
    assert [each["primitive"] for each in json.loads(best.trace_json)["steps"]].count("enter_postproc") == 1


def test_loops_of_unknown_extent():
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    func = te.create_prim_func([x, te.compute((n,), lambda i: x[i] + 1.0, name="Y")])
    assert not tune.DisallowDynamicLoop().apply(tw.Schedule(func))
    assert tune.DisallowDynamicLoop().apply(tw.Schedule(matmul()))


def test_blocks_become_intrinsics():
    from tilewright.tir.tensor_intrin import x86

    func = parse("""
@T.prim_func
def main(A: T.Buffer((4,), "uint8"), B: T.Buffer((16, 4), "int8"), C: T.Buffer((16,), "int32")):
    for i, k in T.grid(16, 4):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vi, vk])
""")
    sch = tw.Schedule(func)
    block = sch.blockize(sch.get_loops("C")[0])
    sch.annotate(block, "meta_schedule.auto_tensorize", x86.VNNI_DOT_16x4_INTRIN)
    assert tune.RewriteTensorize().apply(sch)
    assert "auto_tensorize" not in str(sch.mod) and "tensorize" in str(sch.trace)


# ---------------------------------------------------------------- mutators


class ToTwo(tune.Mutator):
    def __init__(self):
        self.seeds = set()

    def apply(self, trace, seed):
        self.seeds.add(seed)
        steps = json.loads(trace.save_json())
        for each in steps["steps"]:
            if each["primitive"] == "sample_perfect_tile":
                each["args"]["decision"] = [16, 2]
        return tw.schedule.Trace.load_json(json.dumps(steps))


def test_a_mutator_of_ones_own():
    mutator = ToTwo()
    strategy = tune.Evolutionary(population=16, generations=1, mutation_share=1.0)
    tuned(mutators={mutator: 0.5, tune.MutateSamples(): 0.5}, strategy=strategy, trials=2)
    assert 0 < len(mutator.seeds) < 17


def test_samples_of_some_primitives():
    sch = tw.Schedule(matmul(), seed=3)
    columns(sch)
    assert tune.MutateSamples("sample_categorical").apply(sch.trace, 1) is None
    changed = tune.MutateSamples("sample_perfect_tile").apply(sch.trace, 1)
    assert changed.save_json() != sch.trace.save_json()
    assert "decision" not in str(tune.undecided(sch.trace))


def test_wrong_mutators():
    assert refused(mutators=[3]) == "mutators has a Python int, expected tune.Mutator"
    assert refused(mutators={ToTwo(): 0}) == "mutators gives ToTwo the weight 0, expected more than 0"
    with pytest.raises(UserError) as error:
        tune.MutateSamples("split")
    assert str(error.value).startswith(
        'MutateSamples: "split" draws nothing\nhelp: one of sample_categorical, '
    )
    assert refused(mutators=[tune.Mutator()]) == (
        "Mutator has no method apply(trace, seed)\nhelp: define it, as tune.MutateSamples does"
    )
    with pytest.raises(UserError) as error:
        program = tw.Schedule(matmul())
        tw._core.Search(program._core, [program.trace], [], None, 0, 8, 1, [([], -1.0)])
    assert str(error.value) == "error: a mutator has weight -1, expected a number above 0"


# ---------------------------------------------------------------- callbacks, profiler


class Keeps(tune.MeasureCallback):
    def __init__(self):
        self.calls = []

    def measured(self, result, candidates, records):
        self.calls.append((result.trials, candidates, records))


def test_a_callback_of_ones_own():
    callback = Keeps()
    _, database = tuned(callbacks=[callback], per_iteration=2, trials=4)
    assert [trials for trials, _, _ in callback.calls] == [2, 4]
    for _, candidates, records in callback.calls:
        for sch, record in zip(candidates, records, strict=True):
            assert sch.trace.save_json() == record.trace_json and sch.verify(samples=1)
    assert len(database) == 4


def test_wrong_callbacks():
    assert refused(callbacks=[print]) == (
        "callbacks has a Python builtin_function_or_method, expected MeasureCallback"
    )
    assert refused(callbacks=[tune.MeasureCallback()]) == (
        "MeasureCallback has no method measured(result, candidates, records)\nhelp: define it"
    )


def test_where_the_time_goes():
    with tune.Profiler() as profiler:
        assert tune.Profiler.current() is profiler
        tuned(trials=2)
        with tune.Profiler.timeit("mine"):
            pass
    assert tune.Profiler.current() is None
    parts = profiler.get()
    assert set(parts) == {"Total", "default", "generation", "build", "measure", "model", "mine"}
    assert parts["Total"] >= parts["measure"] > 0 and parts["build"] > 0
    lines = profiler.table().splitlines()
    assert lines[0].split() == ["Part", "|", "Seconds", "|", "Percent"]
    assert lines[1].startswith("Total") and lines[1].endswith("100.00") and len(lines) == 8


# ---------------------------------------------------------------- builders and runners


class Watches(tune.Builder):
    def __init__(self):
        self.count = 0

    def build(self, module, target):
        self.count += 1
        assert str(target).startswith("llvm") and "main" in str(module)
        if self.count == 2:
            raise UserError("no second one")
        return super().build(module, target)


def test_a_builder_of_ones_own():
    builder = Watches()
    (result,), database = tuned(builder=builder, trials=3)
    assert builder.count == result.trials == 3
    failures = [each.failure for each in database.records(with_failures=True)]
    assert sorted(failures) == ["", "", "no second one"]


class Invents(tune.Runner):
    """Measures nothing: all take one second."""

    def run(self, library, baseline, shapes, options):
        assert shapes == [((32, 32), "float32")] * 3
        return {"seconds": [1.0]} if library else {}


class Empty(tune.Builder):
    def build(self, module, target):
        return ""


def test_a_runner_of_ones_own():
    (result,), database = tuned(runner=Invents(), trials=3)
    assert result.latency_s == 1.0 and all(each.seconds == [1.0] for each in database.records())
    assert all(each.changes_sums for each in database.records())  # nobody has compared results
    (result,), database = tuned(builder=Empty(), runner=Invents(), trials=1)
    (record,) = database.records(with_failures=True)
    assert record.failure == 'Invents.run gave {}, expected {"seconds": [...], ...}'


def test_wrong_parts():
    assert refused(builder=3) == "tune: builder is a Python int, expected tune.Builder"
    assert refused(runner=3) == "tune: runner is a Python int, expected tune.Runner"
    assert refused(space=3) == "tune: space is a Python int, expected tune.SpaceGenerator"


# ---------------------------------------------------------------- unions of spaces


def rows(sch):
    i = sch.get_loops("C")[0]
    sch.split(i, sch.sample_perfect_tile(i, n=2, max_innermost_factor=2))


def test_a_union_of_spaces():
    space = tune.SpaceUnion(COLUMNS, tune.ScheduleFn(rows))
    (result,), database = tuned(space=space, trials=20)
    assert result.trials == 7
    assert {each.space for each in database.records()} == {space.name}
    with pytest.raises(UserError) as error:
        tune.SpaceUnion()
    assert str(error.value) == "SpaceUnion: there is no space"
    with pytest.raises(UserError) as error:
        tune.SpaceUnion(3)
    assert str(error.value) == "SpaceUnion: a Python int is no SpaceGenerator"
