"""Tuning for GPUs: what is not measured is ranked by a model, says so, and never beats what was measured."""

import os

import pytest
from gpu_designs import TARGET, matmul, task_of

import tilewright as tw
from tilewright import tune
from tilewright.schedule import by_rules
from tilewright.tune.device import why_unmeasured


@pytest.fixture(autouse=True)
def no_device(monkeypatch):
    if os.environ.get("TILEWRIGHT_CUDA_EMULATION") != "1" and tw.cuda(0).exist:
        pytest.skip("this machine has a GPU, on which candidates would be measured")


def test_candidates_without_a_device_are_ranked():
    database, func = tune.RecordFile(), matmul(5, 7, 300)
    (result,) = tune.tune(func, TARGET, database=database, trials=8, per_iteration=4, quiet=True)
    assert result.trials == 8 and result.unmeasured
    assert result.latency_s is None and result.default_s is None and result.speedup == 1
    records = database.records()
    assert all(each.estimate > 0 and not each.seconds and not each.failure for each in records)
    assert [each.estimate for each in records] == sorted(each.estimate for each in records)
    assert any(not each.trace_json for each in records)  # the default schedule is one of them
    model = tune.GpuModel(TARGET)
    best, default = database.schedule_for(func, TARGET), by_rules(task_of(func).module, TARGET)
    assert model.cycles(best.mod) == result.best.estimate < model.cycles(default.mod)


def test_an_estimate_loses_to_every_time():
    database, func = tune.RecordFile(), matmul(5, 7, 300)
    tune.tune(func, TARGET, database=database, trials=2, quiet=True)
    (task,) = tune.tasks_of(func, TARGET)
    ranked = database.best(task.key)
    assert ranked.estimate is not None
    measured = tune.Record()
    measured.key, measured.target, measured.space = task.key, TARGET, "default"
    measured.seconds = [1e3]
    database.add(measured)
    assert database.best(task.key).seconds == [1e3]
    assert tune.UnionDatabase(database, tune.RecordFile()).best(task.key).seconds == [1e3]
    database.prune(1)
    assert database.best(task.key).seconds == [1e3]


def test_estimates_are_exported(tmp_path):
    database, record = tune.RecordFile(), tune.Record()
    record.key, record.estimate = tune.tasks_of(matmul(5, 7, 9), TARGET)[0].key, 12.5
    database.add(record)
    database.export(tmp_path / "tune.jsonl")
    other = tune.RecordFile()
    other.import_(tmp_path / "tune.jsonl")
    (found,) = other.records()
    assert (found.estimate, found.seconds, found.failure) == (12.5, [], "")


def test_limits_of_the_target_prune():
    sch = tw.Schedule(matmul(64, 64, 64))
    i, j, _ = sch.get_loops("C")
    model = tune.GpuModel(TARGET + " -max_threads_per_block=64")
    assert model.why_beyond(sch.mod) == "a block of it runs on no thread"
    assert model.cycles(sch.mod) == float("inf")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    assert model.why_beyond(sch.mod) == ""
    less = tune.GpuModel("cuda -arch=sm_60 -max_threads_per_block=32")
    assert less.why_beyond(sch.mod) == "a block would have 64 threads, more than the 32 of the target"


def test_rules_of_gpus_have_names():
    with pytest.raises(tw.UserError) as error:
        tune.DefaultSpace(["product_tile"]).designs(task_of(matmul(5, 7, 9)))
    assert str(error.value).splitlines()[0] == 'error: there is no schedule rule "product_tile" for GPUs'


def test_a_device_of_the_kind_measures():
    if not tw.device("opencl").exist:
        pytest.skip("there is no OpenCL device")
    database = tune.RecordFile()
    options = tune.MeasureOptions(min_repeat_ms=1, rounds=1, timeout=60)
    (result,) = tune.tune(
        matmul(17, 9, 5), "opencl", database=database, trials=2, options=options, quiet=True
    )
    records = database.records(with_failures=True)
    assert result.unmeasured is None
    assert len(records) == 3
    assert [each.failure for each in records] == ["", "", ""]
    assert all(each.seconds and each.estimate is None for each in records)


def test_the_emulation_is_measured_only_if_it_is_asked_for(monkeypatch):
    if not tw.cuda(0).exist:
        pytest.skip("CUDA is not emulated in this process")
    target = tw.Target.from_device("cuda:0")
    assert why_unmeasured(target) == "cuda:0 is emulated, and its times say nothing about a GPU"
    monkeypatch.setenv("TILEWRIGHT_TUNE_ON_EMULATION", "1")
    assert why_unmeasured(target) is None


def test_why_nothing_is_measured():
    if tw.device("metal").exist:
        pytest.skip("this machine has Metal")
    assert why_unmeasured(tw.Target("metal")) == "there is no device metal:0"
    assert why_unmeasured(tw.Target("llvm")) is None
