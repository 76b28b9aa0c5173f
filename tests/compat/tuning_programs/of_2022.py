"""Tuning as programs of 2022 to 2024 spell it: every part written in Python drives a small matmul."""

import random
import tempfile

import numpy as np
import tvm
from tvm import meta_schedule as ms
from tvm.meta_schedule.builder import BuilderInput, BuilderResult, LocalBuilder, PyBuilder
from tvm.meta_schedule.runner import EvaluatorConfig, LocalRunner, PyRunner, RunnerFuture, RunnerResult
from tvm.meta_schedule.utils import derived_object
from tvm.script import tir as T
from tvm.target import Target


@tvm.script.ir_module
class Matmul:
    @T.prim_func
    def main(a: T.handle, b: T.handle, c: T.handle) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        A = T.match_buffer(a, (32, 32), "float32")
        B = T.match_buffer(b, (32, 32), "float32")
        C = T.match_buffer(c, (32, 32), "float32")
        for i, j, k in T.grid(32, 32, 32):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


def tiles(sch: tvm.tir.Schedule) -> None:
    block = sch.get_block("matmul")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, sch.sample_perfect_tile(i, n=2))
    j_0, j_1 = sch.split(j, sch.sample_perfect_tile(j, n=2))
    sch.reorder(i_0, j_0, k, i_1, j_1)


target = Target("llvm --num-cores=1")
quick = LocalRunner(timeout_sec=10, evaluator_config=EvaluatorConfig(number=1, repeat=2, min_repeat_ms=1))


def tuned(trials=4, **options):
    options = {"space": ms.space_generator.ScheduleFn(tiles), "runner": quick} | options
    options.setdefault("database", ms.database.MemoryDatabase())
    with tempfile.TemporaryDirectory() as work_dir:
        return ms.tune_tir(
            mod=Matmul,
            target=target,
            work_dir=work_dir,
            max_trials_global=trials,
            num_trials_per_iter=2,
            **options,
        )


# ---- a search strategy, a scheduler, a cost model, a callback of one's own


@derived_object
class Drawn(ms.search_strategy.PySearchStrategy):
    log = []

    def _initialize_with_tune_context(self, context: ms.TuneContext) -> None:
        assert context.target.kind.name == "llvm" and context.mod is not None

    def pre_tuning(self, max_trials, num_trials_per_iter, design_spaces, database=None, cost_model=None):
        self.spaces, self.left, self.count = design_spaces, max_trials, num_trials_per_iter
        self.log.append("pre")

    def post_tuning(self):
        self.log.append("post")

    def generate_measure_candidates(self):
        found = []
        while self.left and len(found) < self.count:
            self.left -= 1
            trace = random.choice(self.spaces).trace
            sch = tvm.tir.Schedule(Matmul, seed=random.randrange(1, 1 << 30))
            tvm.tir.schedule.Trace(trace.insts).apply_to_schedule(sch, remove_postproc=False)
            found.append(ms.MeasureCandidate(sch, ms.arg_info.ArgInfo.from_entry_func(sch.mod)))
        return found or None

    def notify_runner_results(self, measure_candidates, results):
        assert all(result.run_secs and result.error_msg is None for result in results)
        self.log.append(len(measure_candidates))


@derived_object
class Task0(ms.task_scheduler.PyTaskScheduler):
    def next_task_id(self) -> int:
        for task_id, task in enumerate(self._outer().tasks_):
            if not task.is_terminated:
                self.touch_task(task_id)
                return task_id
        return -1


@derived_object
class Zeros(ms.cost_model.PyCostModel):
    updates = 0

    def predict(self, context, candidates):
        assert isinstance(candidates[0].sch, tvm.tir.Schedule)
        return np.zeros(len(candidates))

    def update(self, context, candidates, results):
        self.updates += len(results)


@derived_object
class Told(ms.measure_callback.PyMeasureCallback):
    def __init__(self):
        self.calls = []

    def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
        self.calls.append((task_id, len(measure_candidates), runner_results[0].run_secs))


told, model = Told(), Zeros()
database = tuned(
    strategy=Drawn(),
    task_scheduler=Task0(),
    cost_model=model,
    measure_callbacks=[ms.measure_callback.AddToDatabase(), told],
)
assert Drawn.log == ["pre", 2, 2, "post"] and len(told.calls) == 2 and told.calls[0][:2] == (0, 2)
assert len(database) == 4
tuned(cost_model=model, task_scheduler="round-robin")
assert model.updates == 4

# ---- builders and runners of one's own


class Notes(PyBuilder):
    built = 0

    def build(self, build_inputs: list[BuilderInput]) -> list[BuilderResult]:
        Notes.built += len(build_inputs)
        return LocalBuilder().build(build_inputs)


class Constant(PyRunner):
    def run(self, runner_inputs):
        assert runner_inputs[0].device_type == "cpu" and len(runner_inputs[0].args_info) == 3
        return [RunnerFuture(lambda: True, lambda: RunnerResult([0.5, 0.5], None)) for _ in runner_inputs]


database = tuned(builder=Notes(), runner=Constant())
assert Notes.built == 4
assert all(record.run_secs == [0.5, 0.5] for record in database.get_all_tuning_records())

# ---- postprocessors and mutators


@derived_object
class Narrow(ms.postproc.PyPostproc):
    def apply(self, sch) -> bool:
        return sch.get(sch.get_loops(sch.get_block("matmul"))[-1]).extent <= 4


@derived_object
class Keep(ms.mutator.PyMutator):
    count = 0

    def apply(self, trace, _):
        Keep.count += 1
        return trace


space = ms.space_generator.ScheduleFn(
    tiles, sch_rules=[], postprocs=[Narrow()], mutator_probs={Keep(): 0.5, ms.mutator.MutateTileSize(): 0.5}
)
strategy = ms.search_strategy.EvolutionarySearch(population_size=16, genetic_num_iters=1)
database = tuned(space=space, strategy=strategy)
assert Keep.count > 0
for record in database.get_all_tuning_records():
    sch = tvm.tir.Schedule(Matmul)
    record.trace.apply_to_schedule(sch, remove_postproc=True)
    assert sch.get(sch.get_loops(sch.get_block("matmul"))[-1]).extent <= 4
assert [type(each).__name__ for each in ms.postproc.Postproc.create("llvm")][0] == "DisallowDynamicLoop"
for strategy in ("replay-trace", "replay-func"):
    assert 3 <= len(tuned(strategy=strategy)) <= 4
union = ms.space_generator.SpaceGeneratorUnion(
    [ms.space_generator.ScheduleFn(tiles), ms.space_generator.ScheduleFn(lambda sch: sch)]
)
assert len(tuned(space=union)) == 4

# ---- databases

memory = ms.database.MemoryDatabase()
workload = memory.commit_workload(Matmul)
assert memory.has_workload(Matmul)
for n, factors in enumerate(([8, 4], [2, 16])):
    sch = tvm.tir.Schedule(Matmul)
    sch.split(sch.get_loops(sch.get_block("matmul"))[0], factors=factors)
    memory.commit_tuning_record(
        ms.database.TuningRecord(
            sch.trace,
            workload,
            [2.0 - n, 2.5 - n],
            target,
            ms.arg_info.ArgInfo.from_prim_func(Matmul["main"]),
        )
    )
assert len(memory.get_all_tuning_records()) == 2
(first,) = memory.get_top_k(workload, 1)
assert [float(each) for each in first.run_secs] == [1.0, 1.5]
assert memory.query_tuning_record(Matmul, target, "main").trace.as_json() == first.trace.as_json()
assert "16" in str(memory.query(Matmul, target, kind="ir_module"))
assert isinstance(memory.query(Matmul, target), tvm.tir.Schedule)
assert memory.query(Matmul, target, kind="record").workload == workload
assert memory.query_schedule(Matmul, Target("llvm --num-cores=7"), "main") is None
other = ms.database.MemoryDatabase()
memory.dump_pruned(other)
assert len(other) == 1
for union in (ms.database.UnionDatabase(other, memory), ms.database.OrderedUnionDatabase(memory, other)):
    assert union.query_tuning_record(Matmul, target, "main").run_secs == [1.0, 1.5]
with memory:
    assert ms.database.Database.current() is memory and isinstance(memory, ms.Database)


def fuse(sch):
    sch.fuse(*sch.get_loops(sch.get_block("matmul"))[:2])
    return True


assert "i_j_fused" in str(ms.database.ScheduleFnDatabase(fuse).query_ir_module(Matmul, target, "main"))


class Listed(ms.database.PyDatabase):
    def __init__(self):
        self.records = []

    def commit_tuning_record(self, record):
        self.records.append(record)

    def get_all_tuning_records(self):
        return self.records


mine = tuned(database=Listed())
assert len(mine.records) == 4 and ms.tir_integration.compile_tir(mine, Matmul, target) is not None

# ---- time by part, contexts

with ms.Profiler() as profiler:
    with ms.Profiler.timeit("Everything"):
        tuned()
assert "Everything" in profiler.get() and "Total" in profiler.table()
context = ms.TuneContext(
    mod=Matmul,
    target=target,
    space_generator=ms.space_generator.ScheduleFn(tiles),
    search_strategy="replay-trace",
)
context.pre_tuning(max_trials=3, num_trials_per_iter=2)
candidates = context.generate_measure_candidates()
assert len(candidates) == 2
context.notify_runner_results(candidates, [RunnerResult([1.0], None)] * 2)
assert len(context.generate_measure_candidates()) == 1 and context.generate_measure_candidates() is None
context.post_tuning()
sch = ms.tune_tir(
    Matmul,
    target,
    ms.TuneConfig(max_trials_global=2, num_trials_per_iter=2),
    tempfile.mkdtemp(),
    space=tiles,
    runner=quick,
)
assert isinstance(sch, tvm.tir.Schedule)
print("ok")
