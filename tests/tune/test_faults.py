"""Tuning survives what candidates, disks and other programs do: each fault has a clear message, and nothing is lost."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import UserError
from tilewright.script import parse
from tilewright.tune import batch, measure
from tilewright.tune.child import Child, ChildFailed
from tilewright.tune.measure import MeasureOptions, build_candidate, measure_candidate

FAST = MeasureOptions(min_repeat_ms=1, rounds=2, timeout=3.0)
HAS_SANITIZERS = "clang_rt." in Path("/proc/self/maps").read_text()
GOOD = "A[0] = T.float32(1)"


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


def replaced(monkeypatch, name, function):
    """Puts `function` in the place of what builds or measures."""
    for module in (measure, batch):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, function)


def tuned(database, **options):
    options = {"trials": 36, "options": FAST, "quiet": True, "space": SPACE} | options
    return tune.tune(matmul(), "llvm -num-cores=1", database=database, **options)[0]


def call(name, *args):
    words = "".join(f", {each}" for each in args)
    return f'T.evaluate(T.call_extern("int32", "{name}"{words}))'


FAULTS = [
    (call("raise", 11), "it read or wrote outside of memory (SIGSEGV)"),
    (call("raise", 4), "it used an instruction that this processor lacks (SIGILL)"),
    (call("abort"), "it aborted (SIGABRT)"),
    (call("raise", 8), "it divided by zero (SIGFPE)"),
    (call("raise", 9), "it was killed, e.g. for lack of memory (SIGKILL)"),
    (call("raise", 7), "it ended (SIGBUS)"),
    (call("raise", 40), "it ended (signal 40)"),
    (call("_exit", 3), "it ended with exit code 3"),
    (call("sleep", 600), "it took longer than 3 s"),
]
PRINTS = call("puts", '"not an answer"') + f"\n    {GOOD}"


def program(statement):
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((64,), "float32")):
    {statement}
""")


def library(statement):
    return build_candidate(tw.ir.save_json(tw.IRModule({"main": program(statement)})), None, "llvm")


@pytest.mark.skipif(HAS_SANITIZERS, reason="sanitizers handle these signals")
def test_a_run_with_candidates_that_do_all_that_is_bad(monkeypatch, capfd):
    """The candidates of a space are replaced by programs that crash, hang, print and so on: each is one record."""
    codes = [library(statement) for statement, _ in FAULTS]
    prints, good = library(PRINTS), library(GOOD)
    order = []

    def build(program, trace, target):
        if trace is None:
            return good
        order.append(trace)
        place = len(order) - 1
        return codes[place] if place < len(codes) else (prints if place == len(codes) else good)

    replaced(monkeypatch, "build_candidate", build)
    monkeypatch.setattr(batch, "parameter_shapes", lambda task: [((64,), "float32")])
    monkeypatch.setattr(tw._core, "num_threads", lambda: 1)  # builds one after the other
    database = tune.RecordFile()
    result = tuned(database, trials=len(FAULTS) + 3)
    found = {each.trace_json: each for each in database.records(with_failures=True)}
    assert result.trials == len(found) == len(FAULTS) + 3
    assert [found[trace].failure for trace in order[: len(FAULTS)]] == [reason for _, reason in FAULTS]
    assert all(found[trace].seconds and not found[trace].failure for trace in order[len(FAULTS) :])
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(HAS_SANITIZERS, reason="they need more addresses than a limit leaves")
def test_a_candidate_that_takes_all_memory():
    statement = "\n    ".join(
        [
            "B = T.alloc_buffer((1 << 34,), 'float32')",
            "for i in range(1 << 34):",
            "    with T.block('B'):",
            "        vi = T.axis.spatial(1 << 34, i)",
            "        B[vi] = T.float32(1)",
            "for i in range(64):",
            "    with T.block('A'):",
            "        vi = T.axis.spatial(64, i)",
            "        A[vi] = B[vi * (1 << 20)]",
        ]
    )
    limited = MeasureOptions(min_repeat_ms=1, rounds=1, memory_mb=4096)
    code = build_candidate(
        tw.ir.save_json(tw.IRModule({"main": program(statement)})),
        '{"tilewright_trace": 1, "steps": []}',
        "llvm -num-cores=1",
    )
    with pytest.raises(ChildFailed) as error:
        measure_candidate(code, None, [((64,), "float32")], limited)
    assert "memory" in str(error.value)
    assert measure_candidate(library(GOOD), None, [((64,), "float32")], limited)["seconds"][0] > 0


def test_processes_with_another_limit_are_others():
    for limit in (4096, 0, 8192):
        options = MeasureOptions(min_repeat_ms=1, rounds=1, memory_mb=0 if HAS_SANITIZERS else limit)
        measure_candidate(library(GOOD), None, [((64,), "float32")], options)
    limits = [each.memory_mb for each in measure._children]
    assert len(limits) == len(set(limits)) or HAS_SANITIZERS


def test_a_measuring_process_is_the_first_to_be_killed_for_memory():
    child = Child()
    child.run(("measure", library(GOOD), "main", None, [((64,), "float32")], vars(FAST), False), 30)
    assert Path(f"/proc/{child._process.pid}/oom_score_adj").read_text() == "1000\n"
    child.close()


def test_a_measuring_process_that_someone_kills_is_started_again():
    child = Child()
    job = ("measure", library(GOOD), "main", None, [((64,), "float32")], vars(FAST), False)
    child.run(job, 30)
    child._process.kill()
    child._process.wait()
    assert child.run(job, 30)["seconds"][0] > 0
    child.close()


def test_the_answer_to_an_interrupted_job_is_not_that_to_the_next(monkeypatch):
    child = Child()
    job = ("measure", library(GOOD), "main", None, [((64,), "float32")], vars(FAST), False)
    child.run(job, 30)

    def receive(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(child, "_receive", receive)
        with pytest.raises(KeyboardInterrupt):
            child.run(job, 30)
    with pytest.raises(ChildFailed) as error:
        child.run(("measure", b"", *job[2:]), 30)
    assert str(error.value) == "cannot load the bytes: it is not a shared library"
    child.close()


def test_a_full_disk_ends_the_run_and_what_was_recorded_stays(tmp_path):
    path = tmp_path / "tune.db"
    database = tune.RecordFile(path)
    database._core.set_most_pages(14)
    with pytest.raises(UserError) as error:
        tuned(database)
    assert str(error.value).replace(str(path), "tune.db") == (
        "error: tune.db cannot grow: database or disk is full\n"
        "help: free some space on its disk; all records before this one are kept"
    )
    before = len(tune.RecordFile(path))
    assert 1 <= before < 36
    database._core.set_most_pages(100_000)
    result = tuned(database, resume=True)
    traces = [each.trace_json for each in database.records(with_failures=True)]
    assert result.trials == len(traces) - before and len(traces) == len(set(traces)) >= 30


TMPFS = """
mount -t tmpfs -o size=96k none "$1" || exit 77
exec "$2" -c "$3" "$1/tune.db"
"""
TUNES = """
import sys
import tilewright as tw
from tilewright import te, tune
{functions}
try:
    result = tuned(tune.RecordFile(sys.argv[1]), trials={trials}, resume={resume})
    print(result.trials)
except tw.UserError as error:
    print(str(error))
print(len(tune.RecordFile(sys.argv[1])), flush=True)
"""


def program_that_tunes(trials=36, resume=False):
    import inspect

    functions = "\n".join(inspect.getsource(each) for each in (matmul, tiles, tuned))
    lines = "from tilewright.tune.measure import MeasureOptions\nFAST = MeasureOptions(min_repeat_ms=1, rounds=2)\n"
    functions = lines + functions.replace("def tuned", "SPACE = tune.ScheduleFn(tiles)\n\n\ndef tuned")
    return TUNES.format(functions=functions, trials=trials, resume=resume)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare of util-linux")
def test_a_disk_that_is_really_full(tmp_path):
    words = ["unshare", "-rm", "sh", "-c", TMPFS, "sh", str(tmp_path), sys.executable, program_that_tunes()]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this user may not mount a small disk")
    assert done.returncode == 0, done.stderr
    text, count = done.stdout.rsplit("\n", 2)[:2]
    assert text.replace(str(tmp_path), "") in (
        "error: /tune.db cannot grow: database or disk is full\n"
        "help: free some space on its disk; all records before this one are kept",
        "error: /tune.db: disk I/O error",
    )
    assert int(count) >= 1


def test_two_tuners_on_one_database(tmp_path):
    path = tmp_path / "tune.db"
    words = [sys.executable, "-c", program_that_tunes(trials=20), str(path)]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    for each in both:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, out.splitlines()[0]) == (0, "20"), err
    database = tune.RecordFile(path)
    assert len(database) == 40 and not any(each.failure for each in database.records(with_failures=True))
    assert len(database.programs()) == 1


def refusal(path):
    before = path.read_bytes()
    with pytest.raises(UserError) as error:
        tuned(tune.RecordFile(path))
    assert path.read_bytes() == before
    return str(error.value).replace(str(path), "tune.db")


def test_a_corrupted_database(tmp_path):
    path = tmp_path / "tune.db"
    tuned(tune.RecordFile(path), trials=3)
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    path.write_bytes(b"?" * 4096 + whole[4096:])
    assert refusal(path) == (
        "error: tune.db is damaged, or no database of tuning records: file is not a database\n"
        "help: it was left as it is; `sqlite3 tune.db .recover` prints what can be read of it"
    )
    path.write_bytes(whole[:4096] + b"?" * (len(whole) - 4096))
    database = tune.RecordFile(path)
    with pytest.raises(UserError) as error:
        tuned(database)
    assert str(error.value).replace(str(path), "tune.db") == (
        "error: tune.db is damaged, or no database of tuning records: database disk image is malformed\n"
        "help: it was left as it is; `sqlite3 tune.db .recover` prints what can be read of it"
    )


def test_a_database_of_a_newer_version(tmp_path):
    path = tmp_path / "tune.db"
    tune.RecordFile(path)
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert refusal(path) == (
        "error: tune.db is a database of version 99, this compiler reads 3\n"
        "help: use the compiler that wrote it, or another file; it was left as it is"
    )


#: says on stdout which trials the database has confirmed
SAYS = """
from tilewright.tune.task_tuner import TaskTuner
record = TaskTuner._record
def says(self, trace, *others):
    made = record(self, trace, *others)
    print("recorded " + made.trace_json, flush=True)
    return made
TaskTuner._record = says
"""


def test_killing_a_tuner_at_random_moments_loses_nothing_that_was_recorded(tmp_path):
    """kill -9 loses at most the trial in flight, and --resume measures each of the others once."""
    path, random_ = tmp_path / "tune.db", random.Random(0)
    said, kills = set(), 0
    for _ in range(12):
        words = [sys.executable, "-c", SAYS + program_that_tunes(resume=True), str(path)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as tuner:
            lines, wanted = 0, random_.randrange(1, 6)
            for line in tuner.stdout:
                if not line.startswith("recorded "):
                    break
                trace = line.removeprefix("recorded ").rstrip("\n")
                assert trace not in said  # none is measured twice
                said.add(trace)
                lines += 1
                if lines == wanted:
                    time.sleep(random_.random() * 0.05)
                    os.kill(tuner.pid, signal.SIGKILL)
                    kills += 1
                    lines = -1000
            tuner.wait()
        known = {each.trace_json for each in tune.RecordFile(path).records(with_failures=True)}
        # what was recorded after the last line that was read
        assert said <= known and len(known - said) <= 2
        said = known
        if tuner.returncode == 0:
            break
    assert kills >= 3 and len(said) >= 30  # there are 36 tiles of 32 by 32
    assert len(tune.RecordFile(path)) == len(said)


def test_a_database_that_another_program_locks_for_long(tmp_path):
    path = tmp_path / "tune.db"
    database = tune.RecordFile(path)
    database._core.set_patience(100)
    holder = subprocess.Popen(
        [
            *(sys.executable, "-c"),
            "import sqlite3, sys, time\n"
            "other = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "other.execute('BEGIN IMMEDIATE')\nprint('locked', flush=True)\nsys.stdin.readline()",
            str(path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UserError) as error:
            tuned(database)
        holder.stdin.close()
    assert str(error.value).replace(str(path), "tune.db") == (
        "error: tune.db is locked by another process: database is locked\n"
        "help: records are added one by one, so that no program should lock it for a minute"
    )


def test_a_build_that_never_ends_is_one_record(monkeypatch):
    go_on = threading.Event()
    real = build_candidate
    stuck = []

    def build(program, trace, target):
        if trace is not None and not stuck:
            stuck.append(trace)
            go_on.wait(120)
        return real(program, trace, target)

    replaced(monkeypatch, "build_candidate", build)
    monkeypatch.setattr(tw._core, "num_threads", lambda: 2)
    database = tune.RecordFile()
    options = MeasureOptions(min_repeat_ms=1, rounds=1, build_timeout=1.0)
    result = tuned(database, trials=6, options=options)
    go_on.set()
    failed = [each for each in database.records(with_failures=True) if each.failure]
    assert result.trials == 6
    assert [(each.trace_json, each.failure) for each in failed] == [
        (stuck[0], "its build took longer than 1 s")
    ]


def test_texts_of_records_are_json(tmp_path):
    database = tune.RecordFile()
    tuned(database, trials=2)
    assert all(json.loads(each.to_json())["tilewright_record"] == 1 for each in database.records())
