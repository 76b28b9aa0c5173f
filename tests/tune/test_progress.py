"""What tuning shows: the table, time that is left, lines where there is no terminal, and what Ctrl-C does."""

import os
import signal
import sys
import threading
import time

import pytest

from tilewright import te, tune
from tilewright.tune import batch, measure, progress
from tilewright.tune.measure import MeasureOptions
from tilewright.tune.stop import Stop

FAST = MeasureOptions(min_repeat_ms=1, rounds=2)


def matmul(n=32):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def replaced(monkeypatch, name, function):
    """Puts `function` in the place of what builds or measures."""
    for module in (measure, batch):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, function)


def result(seconds, *, default=2e-6, trials=5, is_done=False, weight=2):
    task = tune.tasks_of(matmul())[0]
    task.weight = weight
    made = tune.TaskResult(task)
    made.default_s, made.trials, made.is_done = default, trials, is_done
    if seconds is not None:
        made.best = tune.Record()
        made.best.trace_json, made.best.seconds, made.best.baseline = "{}", [seconds], [default]
    return made


def test_the_table():
    results = [result(1e-6, is_done=True), result(None, default=None, trials=0, weight=1)]
    rows = [
        "ID | Name |  FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done | "
        "Default (us) | Speedup",
        " 0 | main | 65536 |      2 |          65.54 |         1.00 |                  2.00 |      5 |    Y | "
        "        2.00 |    2.00",
        " 1 | main | 65536 |      1 |            N/A |          N/A |                   N/A |      0 |      | "
        "         N/A |     N/A",
    ]
    line = "-" * len(rows[0])
    assert progress.table_text(results).splitlines() == [
        *(rows[0], line, rows[1], rows[2], line),
        "Total trials: 5",
        "Total latency (us): 2.00",
    ]


def test_what_is_left(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    shown = progress.Progress(False, 64, Stop())
    assert shown.left_text(0) == "0 of 64 trials"
    now[0] = 10.0
    assert shown.left_text(16) == "16 of 64 trials, 30 s left"
    assert progress.Progress(False).left_text(3) == "3 trials"
    limited = progress.Progress(False, 1000, Stop(600))
    now[0] = 20.0
    assert limited.left_text(1) == "1 of 1000 trials, 10 min left"
    assert [progress.duration_text(each) for each in (0.4, 119, 120, 7200)] == [
        *("0 s", "119 s", "2 min", "2.0 h")
    ]


def test_lines_where_there_is_no_terminal(capsys):
    space = tune.DefaultSpace()
    tune.tune(
        matmul(), "llvm -num-cores=1", database=tune.RecordFile(), trials=4, per_iteration=2, options=FAST,
        space=space,
    )  # fmt: skip
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("cost model: ")]
    assert out == ""
    assert lines[0].startswith("main: 2 trials, best ") and "; 2 of 4 trials, " in lines[0]
    assert lines[0].endswith(" left")
    assert lines[1].startswith("main: 4 trials, best ")
    assert lines[2].split(" | ")[1].strip() == "Name" and lines[-2] == "Total trials: 4"


def test_quiet(capsys):
    tune.tune(matmul(), database=tune.RecordFile(), trials=2, options=FAST, quiet=True)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_the_table_after_each_trial(monkeypatch, capsys):
    rich_live = pytest.importorskip("rich.live")
    shown = []

    class Live:
        def __init__(self, **options):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *what):
            pass

        def update(self, text, refresh):
            shown.append(str(text))

    monkeypatch.setattr(rich_live, "Live", Live)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    tune.tune(matmul(), "llvm -num-cores=1", database=tune.RecordFile(), trials=3, options=FAST)
    assert [text.split("Total trials: ")[1][0] for text in shown] == ["0", "1", "2", "3", "3"]
    assert "2 of 3 trials, " in shown[2]
    err = capsys.readouterr().err
    assert not [line for line in err.splitlines() if not line.startswith("cost model: ")]


def pressed_ctrl_c(monkeypatch, when, database, **options):
    """Tunes while Ctrl-C is pressed during the measurement of number `when`."""
    count = [0]

    def run(code, baseline, shapes, options, is_confirming=False):
        count[0] += 1
        if count[0] == when:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        return {"seconds": [2.0], "baseline": [1.0] if baseline else [], "has_same_bits": True}

    replaced(monkeypatch, "measure_candidate", run)
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return tune.tune(
            matmul(), "llvm -num-cores=1", database=database, options=FAST, trials=100, **options
        )[0]
    finally:
        assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


def test_ctrl_c_ends_after_the_trial_in_flight_with_the_table(monkeypatch, capsys):
    database = tune.RecordFile()
    found = pressed_ctrl_c(monkeypatch, 4, database)
    assert (
        found.is_done and 3 <= found.trials <= 4
    )  # the fourth is in flight; the default schedule was the first
    assert len(database) == found.trials + 1
    err = capsys.readouterr().err
    assert "interrupted: all trials so far are recorded\n" in err
    assert err.splitlines()[-2] == f"Total trials: {found.trials}"


def test_ctrl_c_before_the_first_trial(monkeypatch):
    database = tune.RecordFile()
    found = pressed_ctrl_c(monkeypatch, 1, database, quiet=True)
    assert (found.trials, len(database)) == (0, 1)


def test_a_time_limit_ends_in_the_middle_of_an_iteration(monkeypatch):
    def run(code, baseline, shapes, options, is_confirming=False):
        time.sleep(0.1)
        return {"seconds": [2.0], "baseline": [1.0] if baseline else [], "has_same_bits": True}

    replaced(monkeypatch, "measure_candidate", run)
    replaced(monkeypatch, "build_candidate", lambda program, trace, target: b"")
    database = tune.RecordFile()
    begin = time.monotonic()
    tune.tune(
        matmul(), database=database, trials=1000, per_iteration=100, time_limit=1.0, options=FAST, quiet=True
    )
    assert time.monotonic() - begin < 30
    assert 1 <= len(database) <= 12


def test_stops_of_other_threads_leave_signals_alone():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def enter():
        with Stop() as stop:
            seen.append((signal.getsignal(signal.SIGINT), stop.is_set()))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [(before, False)]


def test_a_second_ctrl_c_interrupts_at_once():
    stop = Stop()
    stop._interrupt()
    assert stop.is_set()
    with pytest.raises(KeyboardInterrupt):
        stop._interrupt()
