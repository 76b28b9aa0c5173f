"""Executors that build and measure: pools of processes, a Dask cluster, workers that are lost, and executors that break."""

import os
import random
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from tilewright import te, tune
from tilewright.errors import UserError
from tilewright.tune import batch, measure
from tilewright.tune.measure import MeasureOptions

FAST = MeasureOptions(min_repeat_ms=1, rounds=2)


def matmul(n=32):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def tiles(sch):
    i, j, k = sch.get_loops("C")
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2, max_innermost_factor=1024))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, max_innermost_factor=1024))
    sch.reorder(i0, j0, k, i1, j1)


SPACE = tune.ScheduleFn(tiles)


def tuned(database, *, n=32, **options):
    options = {"trials": 8, "options": FAST, "quiet": True, "space": SPACE} | options
    return tune.tune(matmul(n), "llvm -num-cores=1", database=database, **options)[0]


def outcomes(database):
    return [(each.trace_json, each.failure) for each in database.records(with_failures=True)]


def test_a_pool_of_processes(tmp_path):
    database = tune.RecordFile(tmp_path / "tune.db")
    context = get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as builds,
        ProcessPoolExecutor(1, mp_context=context) as measurements,
    ):
        result = tuned(database, executor=builds, measure_executor=measurements)
    assert result.trials == len(set(outcomes(database))) == 8
    assert [failure for _, failure in outcomes(database) if failure] == []


def test_a_pool_whose_process_was_killed_ends_the_run_and_loses_no_record(tmp_path):
    database = tune.RecordFile(tmp_path / "tune.db")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as measurements:
        (worker,) = [measurements.submit(os.getpid).result()]
        killer = threading.Thread(target=kill_when, args=(worker, lambda: len(outcomes(database)) >= 3))
        killer.start()
        with pytest.raises(UserError) as error:
            tuned(database, n=64, trials=49, measure_executor=measurements)
        killer.join()
    reasons = (  # of Python: when a result is waited for, and when a job is given
        "A process in the process pool was terminated abruptly while the future was running or pending.",
        "A child process terminated abruptly, the process pool is not usable anymore",
    )
    assert str(error.value) in [
        f"the executor is broken: {reason}\n"
        "help: all trials that ended are recorded; make another executor, and go on with resume=True"
        for reason in reasons
    ]
    before = outcomes(database)
    assert len(before) >= 3 and not any(failure for _, failure in before)
    result = tuned(database, n=64, trials=49, resume=True)
    found = outcomes(database)
    assert len(before) + result.trials == len(found) == len({trace for trace, _ in found})
    assert 40 <= len(found) <= 49  # there are 49 tiles of 64 by 64


def kill_when(process, is_time):
    deadline = time.monotonic() + 60
    while not is_time() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)


def test_a_dask_cluster_of_two_workers_one_of_which_is_killed(tmp_path):
    from distributed import Client, LocalCluster

    database = tune.RecordFile(tmp_path / "tune.db")
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path / "dask"),
        ) as cluster,
        Client(cluster) as client,
    ):
        workers = sorted(client.run(os.getpid).values())
        assert len(workers) == 2
        killer = threading.Thread(target=kill_when, args=(workers[0], lambda: len(outcomes(database)) >= 3))
        killer.start()
        pool = client.get_executor()
        result = tuned(database, n=64, trials=24, executor=pool, measure_executor=pool)
        killer.join()
    assert result.trials == len(outcomes(database)) == len(set(outcomes(database))) == 24
    assert [failure for _, failure in outcomes(database) if failure] == []


class Simulated(ThreadPoolExecutor):
    """Workers, a share of which is killed in the middle of its work: futures raise, or are cancelled."""

    def __init__(self, workers, seed, share=0.2):
        super().__init__(workers)
        self._random, self._share, self.killed = random.Random(seed), share, 0

    def submit(self, function, *args):
        draw = self._random.random()
        if draw >= self._share:
            return super().submit(function, *args)
        self.killed += 1
        if draw < self._share / 2:
            return super().submit(self._die)
        cancelled = Future()
        cancelled.cancel()
        cancelled.set_running_or_notify_cancel()
        return cancelled

    @staticmethod
    def _die():
        raise RuntimeError("the worker was killed")


def fake_measurement(code, baseline, shapes, options, is_confirming=False):
    time.sleep(random.Random(code).random() * 0.01)
    return {"seconds": [2.0, 2.0], "baseline": [1.0, 1.0] if baseline else [], "has_same_bits": True}


def fake_build(program, trace, target):
    return (trace or "default").encode()


@pytest.fixture
def simulated(monkeypatch):
    monkeypatch.setattr(measure, "build_candidate", fake_build)
    monkeypatch.setattr(measure, "measure_candidate", fake_measurement)


def test_a_hundred_workers_a_fifth_of_which_is_killed(simulated):
    database = tune.RecordFile()
    with Simulated(100, 1) as builds, Simulated(100, 2) as measurements:
        result = tuned(
            database, n=1024, trials=100, per_iteration=100, executor=builds, measure_executor=measurements
        )
    found = outcomes(database)
    assert builds.killed >= 15 and measurements.killed >= 15
    assert result.trials == len(found) == len({trace for trace, _ in found}) == 100
    for _, failure in found:  # 1 in 125 is lost three times
        assert failure in (
            "",
            "the build was lost 3 times: the worker was killed",
            "the build was lost 3 times: CancelledError",
            "the measurement was lost 3 times: the worker was killed",
            "the measurement was lost 3 times: CancelledError",
        )
    assert sum(bool(failure) for _, failure in found) < 10


def test_what_was_lost_is_measured_when_tuning_goes_on(simulated):
    database = tune.RecordFile()
    with Simulated(4, 1, share=0.9) as measurements:
        tuned(database, trials=8, measure_executor=OnlyAfter(measurements, 1))
    lost = [trace for trace, failure in outcomes(database) if failure]
    assert len(lost) >= 2
    tuned(database, trials=36 - (8 - len(lost)), resume=True)
    measured = [trace for trace, failure in outcomes(database) if not failure]
    assert len(set(lost) & set(measured)) >= len(lost) - 1  # a search may miss one of 36
    assert len(measured) == len(set(measured)) >= 30


class OnlyAfter(Executor):
    """The first jobs go well, e.g. that of the default schedule; another executor gets the others."""

    def __init__(self, executor, count):
        self._executor, self._count = executor, count

    def submit(self, function, *args):
        self._count -= 1
        if self._count < 0:
            return self._executor.submit(function, *args)
        future = Future()
        future.set_result(function(*args))
        return future


class Gone(Executor):
    def submit(self, function, *args):
        raise BrokenExecutor("the cluster is gone")


class Deaf(Executor):
    def submit(self, function, *args):
        future = Future()
        future.set_exception(RuntimeError("nobody is there"))
        return future


def test_an_executor_that_is_broken_from_the_start():
    for options in ({"executor": Gone()}, {"measure_executor": Gone()}):
        with pytest.raises(UserError) as error:
            tuned(tune.RecordFile(), **options)
        assert str(error.value) == (
            "the executor is broken: the cluster is gone\n"
            "help: all trials that ended are recorded; make another executor, and go on with resume=True"
        )
    with pytest.raises(UserError) as error:
        tuned(tune.RecordFile(), executor=Deaf())
    assert str(error.value) == "the executor lost a job 3 times: nobody is there"


def test_a_program_that_cannot_be_built_is_refused_as_by_build():
    with pytest.raises(UserError) as error:
        batch.result_of(OnlyAfter(None, 1), int_of, "x")
    assert str(error.value) == "no number"


def int_of(text):
    raise UserError("no number")


def test_an_executor_that_breaks_in_mid_run(simulated):
    database = tune.RecordFile()
    with pytest.raises(UserError) as error:
        tuned(database, measure_executor=OnlyAfter(Gone(), 4))
    assert str(error.value).startswith("the executor is broken: the cluster is gone\n")
    assert len(outcomes(database)) == 3  # and the default schedule, which this space does not record


def test_a_build_that_takes_too_long_is_given_up(monkeypatch):
    go_on = threading.Event()

    def slow(program, trace, target):
        if trace is not None and '"decision":[1,32]' in trace:
            go_on.wait(60)
        return fake_build(program, trace, target)

    monkeypatch.setattr(measure, "build_candidate", slow)
    monkeypatch.setattr(measure, "measure_candidate", fake_measurement)
    database = tune.RecordFile()
    options = MeasureOptions(build_timeout=0.3)
    with ThreadPoolExecutor(16) as builds:
        result = tuned(database, trials=32, executor=builds, options=options)
        go_on.set()
    failures = [failure for trace, failure in outcomes(database) if '"decision":[1,32]' in trace]
    assert 30 <= result.trials <= 36 and 8 <= len(failures) <= 11
    assert set(failures) == {"its build took longer than 0.3 s"}
    assert sum(bool(failure) for _, failure in outcomes(database)) == len(failures)
