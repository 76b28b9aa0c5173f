"""Tuning as programs of 2026 spell it: a graph is tuned and compiled with its records, TVM's files are read and written."""

import tempfile
from pathlib import Path

import numpy as np
import tvm
from tvm import relax
from tvm.s_tir import meta_schedule as ms
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class MLP:
    @R.function
    def main(
        x: R.Tensor((1, 24), "float32"), w: R.Tensor((24, 16), "float32"), b: R.Tensor((16,), "float32")
    ):
        with R.dataflow():
            y = R.nn.relu(R.add(R.matmul(x, w), b))
            R.output(y)
        return y


target = tvm.target.Target({"kind": "llvm", "num-cores": 1})
random = np.random.default_rng(0)
x, w, b = (random.standard_normal(shape).astype("float32") for shape in ((1, 24), (24, 16), (16,)))
expected = np.maximum(x @ w + b, 0)


def check(executable, *inputs):
    machine = relax.VirtualMachine(executable, tvm.cpu())
    np.testing.assert_allclose(
        machine["main"](*(tvm.runtime.tensor(each) for each in inputs)).numpy(),
        expected,
        rtol=1e-4,
        atol=1e-5,
    )


quick = ms.runner.LocalRunner(evaluator_config=ms.runner.EvaluatorConfig(number=1, repeat=2, min_repeat_ms=1))

# ---- tune_relax, compile_relax, tasks

with tempfile.TemporaryDirectory() as work_dir:
    database = ms.relax_integration.tune_relax(
        mod=MLP, params={"w": w, "b": b}, target=target, work_dir=work_dir, max_trials_global=2, runner=quick
    )
    assert len(database) >= 2
    check(ms.relax_integration.compile_relax(database, MLP, target, params={"w": w, "b": b}), x)
    with database:
        check(tvm.compile(MLP, target), x, w, b)
        check(relax.build(MLP, target), x, w, b)

lowered = relax.get_pipeline("zero")(MLP)
tasks = ms.relax_integration.extract_tasks(lowered, target)
assert tasks and tasks[0].weight == 1 and tasks[0].dispatched[0] is tasks[0].mod
contexts, weights = ms.relax_integration.extracted_tasks_to_tune_contexts(
    tasks, work_dir="unused", space="post-order-apply", strategy="replay-trace", seed=1
)
with tempfile.TemporaryDirectory() as work_dir:
    database = ms.tune_tasks(
        tasks=contexts, task_weights=weights, work_dir=work_dir, max_trials_global=2, runner=quick
    )
    assert len(database) >= 2

# ---- passes

with tempfile.TemporaryDirectory() as work_dir:
    with target, tvm.transform.PassContext(opt_level=3):
        tuned = relax.transform.MetaScheduleTuneTIR(work_dir=work_dir, max_trials_global=2)(lowered)
        applied = relax.transform.MetaScheduleApplyDatabase(work_dir)(tuned)
        check(relax.build(applied, target), x, w, b)
        whole = relax.transform.MetaScheduleTuneIRMod({}, work_dir, 1)(MLP)
        check(relax.build(whole, target), x, w, b)


def unrolled(sch):
    (block,) = sch.get_child_blocks(sch.get_sblock("root"))[-1:]
    sch.unroll(sch.get_loops(block)[-1])
    return True


with target, ms.database.ScheduleFnDatabase(unrolled):
    applied = relax.transform.MetaScheduleApplyDatabase()(lowered)
assert "T.unroll" in applied.script()
check(relax.build(applied, target), x, w, b)
with tempfile.TemporaryDirectory() as work_dir:
    pipeline = relax.pipeline.static_shape_tuning_pipeline(total_trials=1, target=target, work_dir=work_dir)
    check(relax.build(pipeline(MLP), target), x, w, b)

# ---- files of TVM's form

with tempfile.TemporaryDirectory() as work_dir:
    program = lowered[
        [var for var, func in lowered.functions_items() if isinstance(func, tvm.tirx.PrimFunc)][0]
    ]
    database = ms.database.JSONDatabase(work_dir=work_dir)
    sch = tvm.s_tir.Schedule(program)
    sch.parallel(sch.get_loops(sch.get_child_blocks(sch.get_sblock("root"))[0])[0])
    workload = database.commit_workload(program)
    database.commit_tuning_record(ms.database.TuningRecord(sch.trace, workload, [1e-5], target))
    database.save_json()
    lines = Path(work_dir, "database_tuning_record.json").read_text().splitlines()
    assert len(lines) == 1 and '"Parallel"' in lines[0] and '"TENSOR"' in lines[0]
    Path(work_dir, "tune.db").unlink()
    again = ms.database.create("json", work_dir=work_dir)
    assert again.refused == [] and len(again) == 1
    (record,) = again.get_all_tuning_records()
    assert record.run_secs == [1e-5] and record.trace.as_json() == sch.trace.as_json()
    with Path(work_dir, "database_tuning_record.json").open("a") as file:
        file.write(lines[0].replace("Parallel", "Hover") + "\n[7]\n")
    assert ms.database.JSONDatabase(work_dir=work_dir).refused == [
        (2, 'InstructionKind.get: there is no kind of instruction called "Hover"'),
        (3, "this is no line of a workload and a record"),
    ]
    assert len(ms.database.JSONDatabase(work_dir=work_dir)) == 1  # what is known is not added again

seeds = ms.utils.fork_seed(3, n=2)
assert len(set(seeds)) == 2 and seeds == ms.utils.fork_seed(3, n=2)
print("ok")
