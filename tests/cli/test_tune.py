"""tilewright tune: records of a model's kernels, what it refuses, and --db of the other commands."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tilewright
from tilewright import UserError, tune
from tilewright.models.program import dims_of
from tilewright.tune import command as program_of_tune
from tilewright.tune.command import seconds_of

onnx = pytest.importorskip("onnx")
FLOAT = onnx.TensorProto.FLOAT


@pytest.fixture(autouse=True)
def this_python(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


@pytest.fixture
def model(save_model):
    """relu(x[n, 48] @ w), and the same once more: a kernel that is called twice."""
    w = np.random.default_rng(0).standard_normal((48, 48)).astype("float32")
    nodes = [
        onnx.helper.make_node("MatMul", ["x", "w"], ["a"]),
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("MatMul", ["b", "w"], ["c"]),
        onnx.helper.make_node("Relu", ["c"], ["y"]),
    ]
    return save_model(nodes, {"x": (FLOAT, ["n", 48])}, {"y": (FLOAT, None)}, {"w": w})


def test_a_model_is_tuned_and_compiled_with_its_records(command, model, tmp_path):
    done = command("tune", model, "--db", "tune.db", "--trials", 6, "--fix", "n=7", "--threads", 1)
    assert done.code == 0, done.err
    assert "kernels are faster than by their default schedules" in done.out
    assert "Total trials: 6" in done.err
    database = tune.RecordFile(tmp_path / "tune.db")
    assert len(database) == 7  # and the default schedule
    (task,) = tune.tasks_of(tilewright.compile(tmp_path / model, shapes={"n": 7}).legalized)
    assert task.weight == 2
    for words in (
        ("compile", model, "-o", "model.so"),
        ("run", model, "--random", 0),
        ("bench", model, "-n", 1),
    ):
        done = command(*words, "--db", "tune.db", "--fix", "n=7", "-q")
        assert done.code == 0, done.err


def test_the_schedule_of_a_record_is_used(command, model, tmp_path):
    (task,) = tune.tasks_of(tilewright.compile(tmp_path / model, shapes={"n": 7}).legalized)
    sch = tilewright.Schedule(task.module)
    sch.parallel(sch.get_loops(sch.get_child_blocks(sch.get_block("root"))[0])[0])
    record = tune.Record()
    record.key, record.trace_json, record.seconds = task.key, sch.trace.save_json(), [1e-9]
    record.beats_default = True
    tune.RecordFile(tmp_path / "tune.db").add(record)
    plain = command("compile", model, "-o", "plain.ll", "--fix", "n=7", "-q")
    tuned = command("compile", model, "-o", "tuned.ll", "--fix", "n=7", "--db", "tune.db", "-q")
    assert (plain.code, tuned.code) == (0, 0)
    assert (tmp_path / "plain.ll").read_text() != (tmp_path / "tuned.ll").read_text()


def test_a_library_carries_its_records(command, model, tmp_path):
    (task,) = tune.tasks_of(tilewright.compile(tmp_path / model, shapes={"n": 7}).legalized)
    sch = tilewright.Schedule(task.module)
    sch.parallel(sch.get_loops(sch.get_child_blocks(sch.get_block("root"))[0])[0])
    record = tune.Record()
    record.key, record.trace_json, record.seconds = task.key, sch.trace.save_json(), [1e-5]
    record.baseline, record.beats_default, record.space = [2e-5], True, "default"
    record.processor, record.version = "some processor", "0.1.0"
    tune.RecordFile(tmp_path / "tune.db").add(record)
    command("compile", model, "-o", "model.so", "--fix", "n=7", "--db", "tune.db", "-q")
    done = command("inspect", "model.so", "--tuning")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"# {task.name}: 10.0 us, 2.00 times as fast as the default schedule\n"
        "# space default, measured on some processor by tilewright 0.1.0\n" + str(sch.trace)
    )
    done = command("inspect", "model.so", "--tuning", "--json")
    ((name, carried),) = tune.records_in(tmp_path / "model.so")
    assert json.loads(done.out) == [{"kernel": task.name, "record": json.loads(carried.to_json())}]
    assert (name, carried.to_json()) == (
        task.name,
        tune.RecordFile(tmp_path / "tune.db").records()[0].to_json(),
    )
    done = command("inspect", "model.so", "--tuning", "--function", "another")
    assert done.code == 2 and done.err.startswith('error: there is no kernel "another"\n')


def test_models_without_records(command, model):
    command("compile", model, "-o", "model.so", "-q")
    done = command("inspect", "model.so", "--tuning")
    assert (done.code, done.err) == (
        2,
        'error: "model.so" carries no records of tuning\n'
        "help: `tilewright compile --db` takes those of its kernels from a database\n",
    )
    done = command("inspect", model, "--tuning")
    assert (done.code, done.err) == (
        2,
        'error: "model.onnx" is not compiled: only libraries carry records of tuning\n'
        "help: compile it with --db, and give the library\n",
    )


def test_it_goes_on_and_writes_a_page(command, model, tmp_path):
    words = ("tune", model, "--db", "tune.db", "--fix", "n=7", "--threads", 1, "--only", "matmul")
    assert command(*words, "--trials", 3, "-q").code == 0
    before = {each.trace_json for each in tune.RecordFile(tmp_path / "tune.db").records(with_failures=True)}
    done = command(*words, "--trials", 4, "--resume", "--cold", "--report", "tune.html")
    assert done.code == 0, done.err
    assert done.out.endswith("wrote tune.html\n")
    assert "<svg" in (tmp_path / "tune.html").read_text()
    records = tune.RecordFile(tmp_path / "tune.db").records(with_failures=True)
    assert len({each.trace_json for each in records} - before) == 4
    assert sum(each.is_cold for each in records) == 5  # and the default schedule


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("--trials", "5"),
            "error: there is no kernel with known extents to tune\n"
            "help: fix open dimensions by shapes=, or --fix, and see `tilewright explain` for the names of kernels\n",
        ),
        (
            ("--fix", "n=7", "--only", "conv"),
            "error: there is no kernel 'conv' with known extents to tune\n"
            "help: fix open dimensions by shapes=, or --fix, and see `tilewright explain` for the names of kernels\n",
        ),
        (("--time-limit", "3x"), 'error: --time-limit is "3x", expected e.g. 90s, 10m or 2h\n'),
        (("--time-limit", "0s"), 'error: --time-limit is "0s", expected e.g. 90s, 10m or 2h\n'),
        (("--fix", "n"), 'error: --fix is "n", expected a name and a number, e.g. batch=1\n'),
        (
            ("--report", "nowhere/page.html"),
            'error: --report: there is no folder "nowhere"\nhelp: make it, or name a file in another one\n',
        ),
        (
            ("--report", "."),
            'error: --report: "." is a folder\nhelp: name a file in it, e.g. tune.html\n',
        ),
    ],
)
def test_refused(command, model, words, error):
    done = command("tune", model, "--db", "tune.db", *words)
    assert (done.code, done.out, done.err) == (1, "", error)


def test_a_page_that_cannot_be_written(command, model):
    words = ("--trials", 1, "--fix", "n=7", "--threads", 1, "--only", "matmul", "-q")
    done = command("tune", model, "--db", "tune.db", *words, "--report", "/dev/full")
    assert (done.code, done.err) == (
        1,
        'error: --report: "/dev/full" cannot be written: No space left on device\n'
        'help: all trials are in "tune.db", which tilewright.tune.report takes as a RecordFile\n',
    )


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (OSError(24, "Too many open files"), 1, "error: [Errno 24] Too many open files\n"),
        (FileNotFoundError(2, "No such file or directory", "x"), 1, "error: x: No such file or directory\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_of_the_machine_have_no_traceback(monkeypatch, capsys, error, code, text):
    def tune_(asked):
        raise error

    monkeypatch.setattr(program_of_tune, "_tune", tune_)
    assert program_of_tune.main("{}") == code
    assert capsys.readouterr() == ("", text)


def test_interrupting_while_python_starts(command, model, monkeypatch, tmp_path):
    """A package in the place of tilewright, in whose import Ctrl-C is pressed."""
    (tmp_path / "tilewright/tune").mkdir(parents=True)
    (tmp_path / "tilewright/__init__.py").write_text("raise KeyboardInterrupt\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = command("tune", model, "--db", "tune.db")
    assert (done.code, done.out, done.err) == (130, "", "")


def test_without_the_package_or_python(command, model, monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "")
    (tmp_path / "python").write_text("#!/bin/sh\nexec " + sys.executable + ' -S -I "$@"\n')
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setenv("TILEWRIGHT_PYTHON", str(tmp_path / "python"))
    done = command("tune", model, "--db", "tune.db")
    assert done.code == 1
    assert done.err == (
        "error: tuning needs the Python package: No module named 'tilewright'\n"
        "help: pip install tilewright[tune], or name its Python by TILEWRIGHT_PYTHON\n"
    )
    monkeypatch.delenv("TILEWRIGHT_PYTHON")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    done = command("tune", model, "--db", "tune.db")
    assert (done.code, done.err) == (
        2,
        "error: tuning needs Python, and there is no python3 in PATH\n"
        "help: pip install tilewright[tune], or name its Python by TILEWRIGHT_PYTHON\n",
    )
    monkeypatch.setenv("TILEWRIGHT_PYTHON", "nowhere/python3")
    done = command("tune", model, "--db", "tune.db")
    assert (done.code, done.err) == (
        2,
        "error: nowhere/python3 cannot be started: No such file or directory\n",
    )


def test_a_library_and_a_missing_database(command, model):
    command("compile", model, "-o", "model.so", "-q")
    done = command("tune", "model.so", "--db", "tune.db")
    assert (done.code, done.err) == (
        2,
        'error: "model.so" is compiled already\nhelp: give the ONNX model it was compiled from\n',
    )
    done = command("compile", model, "-o", "other.so", "--db", "tune.db", "-q")
    assert (done.code, done.err) == (
        2,
        'error: there is no file "tune.db"\nhelp: `tilewright tune` makes it\n',
    )


def test_interrupting_keeps_all_records(program, model, tmp_path):
    command = [
        program,
        "tune",
        model,
        "--db",
        "tune.db",
        "--trials",
        "100000",
        "--fix",
        "n=7",
        "--threads",
        "1",
    ]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # jobs in the background of a shell ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if (tmp_path / "tune.db").exists() and len(tune.RecordFile(tmp_path / "tune.db")) >= 3:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "interrupted: all trials so far are recorded" in err and "Total trials: " in err
    assert len(tune.RecordFile(tmp_path / "tune.db")) >= 3


def test_time_limits_and_dims():
    assert [seconds_of(text) for text in ("90", "90s", "1.5m", "2h")] == [90, 90, 90, 7200]
    assert dims_of(["batch=1", "x.0=3"], "--fix") == {"batch": 1, "x.0": 3}
    begin = time.monotonic()
    a = tilewright.te.placeholder((7, 7), name="A")
    func = tilewright.te.create_prim_func(
        [a, tilewright.te.compute((7, 7), lambda i, j: a[i, j] * 2.0, name="B")]
    )
    tune.tune(func, database=tune.RecordFile(), trials=10**6, time_limit=0.1, quiet=True)
    assert time.monotonic() - begin < 60
    with pytest.raises(UserError):
        seconds_of("")


def test_comparing_a_model(model, tmp_path):
    x = np.random.default_rng(0).standard_normal((7, 48)).astype("float32")
    found = tune.compare(tmp_path / model, tune.RecordFile(), [x], shapes={"n": 7}, rounds=5)
    assert found["low"] <= found["high"] and found["default_s"] > 0 and found["tuned_s"] > 0
