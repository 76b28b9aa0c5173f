"""Records of tuning in SQLite files: queries, several writers, damaged files, schedules of build and compile."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import Unsupported, UserError


def matmul(n=32):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def record(task, seconds, *, sch=None, beats=True, space="test", failure=""):
    made = tune.Record()
    made.key, made.target, made.space = task.key, "llvm", space
    made.trace_json = sch.trace.save_json() if sch is not None else ""
    made.seconds, made.baseline, made.failure, made.beats_default = seconds, [1.0], failure, beats
    return made


def scheduled(task, factor=4):
    sch = tw.Schedule(task.module)
    i, j, k = sch.get_loops("C")
    j0, j1 = sch.split(j, [None, factor])
    sch.reorder(i, j0, k, j1)
    return sch


def test_the_fastest_that_beats_the_default_is_the_best():
    (task,) = tune.tasks_of(matmul())
    database = tune.RecordFile()
    assert database.best(task.key) is None
    for seconds, beats in (([3.0, 1.0, 2.0], True), ([0.5], False), ([4.0, 5.0], True), ([], False)):
        database.add(record(task, seconds, sch=scheduled(task), beats=beats))
    assert database.best(task.key).median == 2.0
    assert [each.median for each in database.records(task.key)] == [0.5, 2.0, 4.5]
    assert [each.median for each in database.records(limit=1)] == [0.5]
    assert len(database) == 4
    assert database.records(with_failures=True)[-1].seconds == []
    assert database.of_space("test").best(task.key).median == 0.5
    assert database.of_space("other").best(task.key) is None
    (other,) = tune.tasks_of(matmul(33))
    assert database.best(other.key) is None


def test_keys_are_of_programs_and_machines():
    def key(func, target="llvm"):
        return tune.tasks_of(func, target)[0].key

    assert key(matmul()) == key(matmul())
    assert key(matmul()).program == key(matmul().with_attr("global_symbol", "another_name")).program
    assert key(matmul()).program != key(matmul(31)).program
    assert key(matmul(), "llvm -num-cores=1").machine != key(matmul(), "llvm -num-cores=7").machine
    assert key(matmul(), "llvm").program == key(matmul(), "c").program
    assert key(matmul(), "llvm").machine != key(matmul(), "c").machine


def test_equal_programs_are_one_task():
    functions = {"f": matmul(), "g": matmul(), "h": matmul(7)}
    mod = tw.IRModule({name: func.with_attr("global_symbol", name) for name, func in functions.items()})
    assert sorted((task.weight, task.key.program[:0]) for task in tune.tasks_of(mod)) == [(1, ""), (2, "")]
    with pytest.raises(UserError) as error:
        tune.RecordFile().schedule_for(mod)
    assert str(error.value) == (
        'the module has 2 different loop programs, expected one\nhelp: take one by tilewright.IRModule.from_expr(mod["name"])'
    )


def test_build_takes_schedules_from_the_database():
    func = matmul()
    (task,) = tune.tasks_of(func)
    database = tune.RecordFile()
    sch = scheduled(task)
    database.add(record(task, [1e-6], sch=sch))
    plain = tw.build(func, "llvm")
    with database:
        tuned = tw.build(func, "llvm")
    assert tuned.get_source("lowered") != plain.get_source("lowered")
    assert tuned.get_source("lowered") == tw.build(sch.mod, "llvm", schedule=False).get_source("lowered")
    assert str(database.schedule_for(func).trace) == str(sch.trace)
    x = np.random.default_rng(0).standard_normal((32, 32)).astype("float32")
    y = tw.tensor(np.zeros((32, 32), "float32"))
    tuned["main"](tw.tensor(x), tw.tensor(x), y)
    np.testing.assert_allclose(y.numpy(), x @ x, rtol=1e-4, atol=1e-5)


def test_a_record_of_the_default_gives_the_rules():
    (task,) = tune.tasks_of(matmul())
    database = tune.RecordFile()
    assert database.schedule_for(matmul()) is None
    database.add(record(task, [1e-6], beats=False))
    assert str(database.schedule_for(matmul()).trace) == str(tw.schedule.by_rules(task.module).trace)
    with database:
        assert tw.build(matmul(), "llvm").get_source("lowered") == tw.build(matmul(), "llvm").get_source(
            "lowered"
        )


def test_a_trace_that_does_not_apply_leaves_the_kernel_to_the_rules():
    (task,) = tune.tasks_of(matmul())
    broken = record(task, [1e-6], sch=scheduled(task))
    broken.trace_json = broken.trace_json.replace('"C"', '"D"')
    database = tune.RecordFile()
    database.add(broken)
    with database:
        tuned = tw.build(matmul(), "llvm")
    assert tuned.get_source("lowered") == tw.build(matmul(), "llvm").get_source("lowered")


def test_graphs_take_schedules_from_the_database():
    mod = tw.script.parse("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((7, 32), "float32"), w: R.Tensor((32, 16), "float32")) -> R.Tensor((7, 16), "float32"):
        with R.dataflow():
            y = R.matmul(x, w)
            R.output(y)
        return y
""")
    plain = tw.compile(mod)
    (task,) = tune.tasks_of(plain.legalized)
    sch = tw.Schedule(task.module)
    database = tune.RecordFile()
    sch.parallel(sch.get_loops(sch.get_child_blocks(sch.get_block("root"))[0])[0])
    database.add(record(task, [1e-6], sch=sch))
    with database:
        tuned = tw.compile(mod)
    assert tuned.kernels.get_source("lowered") != plain.kernels.get_source("lowered")
    x, w = (
        np.random.default_rng(0).standard_normal(shape).astype("float32") for shape in ((7, 32), (32, 16))
    )
    np.testing.assert_allclose(tw.VirtualMachine(tuned)["main"](x, w).numpy(), x @ w, rtol=1e-4, atol=1e-5)


class OfPython(tune.Database):
    def __init__(self, found):
        self.found, self.asked = found, []

    def best(self, key):
        self.asked.append(key)
        return self.found


def test_databases_in_python():
    (task,) = tune.tasks_of(matmul())
    database = OfPython(record(task, [1e-6], sch=scheduled(task)))
    with database:
        tuned = tw.build(matmul(), "llvm")
    assert database.asked == [task.key]
    assert tuned.get_source("lowered") != tw.build(matmul(), "llvm").get_source("lowered")
    slow, fast = OfPython(record(task, [2.0])), OfPython(record(task, [1.0]))
    assert tune.UnionDatabase(OfPython(None), slow, fast).best(task.key).median == 1.0
    assert tune.OrderedUnionDatabase(OfPython(None), slow, fast).best(task.key).median == 2.0
    assert tune.UnionDatabase(OfPython(None)).best(task.key) is None
    assert tune.Database.current() is None


def test_a_database_needs_a_method():
    with pytest.raises(Unsupported) as error:
        tune.Database().best(None)
    assert str(error.value) == "Database has no method best(key)\nhelp: define it, as tune.UnionDatabase does"


def test_merge_and_prune(tmp_path):
    (task,) = tune.tasks_of(matmul())
    one, two = tune.RecordFile(tmp_path / "one.db"), tune.RecordFile(tmp_path / "two.db")
    for seconds in (1.0, 2.0, 3.0):
        one.add(record(task, [seconds]))
    two.add_program(task)
    two.add(record(task, [0.5]))
    two.add(record(task, [], failure="it crashed"))
    assert one.merge(two) == 2
    assert one.merge(two) == 0
    assert [(name, hash) for hash, name, _ in one.programs()] == [("main", task.key.program)]
    assert one.prune(2) == 3
    assert [each.median for each in one.records(with_failures=True)] == [0.5, 1.0]
    with pytest.raises(UserError) as error:
        one.prune(0)
    assert str(error.value) == "error: prune: 0 records are to be kept, expected at least 1"


def refused(path):
    before = path.read_bytes()
    with pytest.raises(UserError) as error:
        tune.RecordFile(path)
    assert path.read_bytes() == before
    return str(error.value).replace(str(path), "tune.db")


def test_damaged_and_foreign_files_are_left_as_they_are(tmp_path):
    path = tmp_path / "tune.db"
    path.write_bytes(b"this is no database" * 100)
    assert refused(path) == (
        "error: tune.db is damaged, or no database of tuning records: file is not a database\n"
        "help: it was left as it is; `sqlite3 tune.db .recover` prints what can be read of it"
    )
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs(title)")
    assert refused(path) == (
        "error: tune.db is a database, but not one of tuning records\n"
        "help: give the path of a new file; it was left as it is"
    )
    path.unlink()
    tune.RecordFile(path)
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 99")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert refused(path) == (
        "error: tune.db is a database of version 99, this compiler reads 3\n"
        "help: use the compiler that wrote it, or another file; it was left as it is"
    )
    with pytest.raises(UserError) as error:
        tune.RecordFile(tmp_path / "nowhere" / "tune.db")
    assert str(error.value).endswith("tune.db: unable to open database file")


def old_file(path, version=1):
    """A file as version 1 made it, with one record: it had no scores and relative times."""
    tune.RecordFile(path).add(record(tune.tasks_of(matmul())[0], [1.0]))
    with sqlite3.connect(path) as other:
        other.execute("DROP INDEX by_key")
        other.execute("CREATE INDEX by_key ON record(program, machine, median)")
        other.execute("ALTER TABLE record DROP COLUMN score")
        other.execute("ALTER TABLE record DROP COLUMN relative")
        other.execute("ALTER TABLE record DROP COLUMN estimate")
        other.execute(f"PRAGMA user_version = {version}")
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()


def test_a_file_of_an_older_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "tune.db"
    old_file(path)
    database = tune.RecordFile(path)
    made = record(tune.tasks_of(matmul())[0], [2.0])
    made.score = 0.5
    database.add(made)
    assert [(each.median, each.score) for each in database.records()] == [(1.0, None), (2.0, 0.5)]
    assert len(tune.RecordFile(path)) == 2


def winner(task, seconds, baseline, beats=True):
    made = record(task, seconds, beats=beats)
    made.trace_json, made.baseline = "[]", baseline
    return made


def test_winners_of_an_older_file_stay_winners(tmp_path):
    path = tmp_path / "tune.db"
    (task,) = tune.tasks_of(matmul())
    tune.RecordFile(path).add(winner(task, [1.0], [2.0]))
    old_file(path)
    database = tune.RecordFile(path)
    assert (database.best(task.key).trace_json, database.best(task.key).relative) == ("[]", 0.5)


def test_a_record_whose_trace_does_not_apply_is_not_in_the_library(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "cache"))
    model = Path(__file__).parents[2] / "examples" / "fashion_mnist" / "fashion_mnist.onnx"
    (task, *_) = tune.tasks_of(tw.compile(model).legalized, "llvm")
    database = tune.RecordFile()
    made = winner(task, [1.0], [2.0])
    sch = tw.Schedule(matmul())
    sch.get_block("C")
    sch.reorder(*reversed(sch.get_loops("C")))
    made.trace_json = sch.trace.save_json().replace('"C"', '"NOSUCH"')
    database.add(made)
    for _ in range(2):  # compiled, and from the cache
        with database:
            tw.compile(model).export_library(str(tmp_path / "model.so"))
        assert tune.records_in(tmp_path / "model.so") == []


def test_prune_keeps_what_kernels_are_scheduled_by():
    database = tune.RecordFile()
    (task,) = tune.tasks_of(matmul())
    database.add(record(task, [2.0]))
    database.add(winner(task, [1.8], [2.0]))
    database.add(winner(task, [1.6], [2.0], beats=False))  # faster, but not surely
    assert database.prune(1) == 1
    assert [each.relative for each in database.records()] == [0.9, 1.0]
    assert database.best(task.key).relative == 0.9


def test_a_full_disk(tmp_path):
    (task,) = tune.tasks_of(matmul())
    path = tmp_path / "tune.db"
    database = tune.RecordFile(path)
    database._core.set_most_pages(12)
    made = record(task, [1.0])
    made.failure = "x" * 1000
    with pytest.raises(UserError) as error:
        for _ in range(100):
            database.add(made)
    assert str(error.value).replace(str(path), "tune.db") == (
        "error: tune.db cannot grow: database or disk is full\n"
        "help: free some space on its disk; all records before this one are kept"
    )
    count = len(tune.RecordFile(path))
    assert 5 <= count < 50
    database._core.set_most_pages(1000)
    database.add(made)
    assert len(tune.RecordFile(path)) == count + 1


def test_records_as_lines_of_json(tmp_path):
    (task,) = tune.tasks_of(matmul())
    database, copy = tune.RecordFile(), tune.RecordFile()
    database.add_program(task)
    database.add(record(task, [0.5, 0.25], sch=scheduled(task)))
    database.add(record(task, [], failure="it crashed"))
    path = tmp_path / "tune.jsonl"
    assert database.export(path) == 2
    assert copy.import_(path) == 2
    assert copy.import_(path) == 0
    assert [each.to_json() for each in copy.records(with_failures=True)] == [
        each.to_json() for each in database.records(with_failures=True)
    ]
    assert [(hash_, name) for hash_, name, _ in copy.programs()] == [(task.key.program, "main")]
    assert tw.ir.structural_equal(copy.programs()[0][2], task.func)
    lines = path.read_text().splitlines()
    for line, reason in (
        ("nothing", "Expecting value: line 1 column 1 (char 0)"),
        ("[]", "this is no record of tuning: []"),
        ('{"tilewright_record": 9}', "a record of version 9, this compiler reads 1"),
        ('{"tilewright_program": 1, "name": "f"}', "'program'"),
    ):
        path.write_text("\n".join([*lines, line]))
        other = tune.RecordFile()
        with pytest.raises(UserError) as error:
            other.import_(path)
        assert str(error.value).replace(str(path), "tune.jsonl") == (
            f"tune.jsonl, line 4: {reason}\nhelp: RecordFile.export writes such files; nothing was added"
        )
        assert len(other) == 0 and other.programs() == []


def test_the_difference_of_two_files():
    tasks = [tune.tasks_of(matmul(n))[0] for n in (5, 6, 7, 8)]
    one, other = tune.RecordFile(), tune.RecordFile()
    for database, times in ((one, (4.0, 3.0, 2.0, None)), (other, (2.0, 3.0, None, 1.0))):
        for task, seconds in zip(tasks, times, strict=True):
            if seconds is not None:
                database.add_program(task)
                database.add(record(task, [seconds]))
    found = tune.difference(one, other)
    assert [(name, a, b) for name, _, a, b in found][0] == ("main", 4.0, 2.0)
    assert {key: (a, b) for _, key, a, b in found} == {
        task.key: times
        for task, times in zip(tasks, [(4.0, 2.0), (3.0, 3.0), (2.0, None), (None, 1.0)], strict=True)
    }


def test_a_file_that_cannot_grow(tmp_path):
    (task,) = tune.tasks_of(matmul())
    path = tmp_path / "tune.db"
    database = tune.RecordFile(path)
    database.add(record(task, [1.0]))
    script = f"""
    import resource, tilewright.tune as tune, pickle
    database = tune.RecordFile({str(path)!r})
    import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
    made = database.records()[0]
    made.trace_json = "x" * 100_000
    try:
        database.add(made)
    except tune_error as error:
        print(error)
    """.replace("tune_error", "__import__('tilewright').UserError")
    out = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert "tune.db cannot grow:" in out.stdout or "disk I/O error" in out.stdout, out.stderr
    assert [each.median for each in tune.RecordFile(path).records()] == [1.0]


HOLDER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], isolation_level=None) as other:
    other.execute("BEGIN IMMEDIATE")
    print("locked", flush=True)
    sys.stdin.readline()
    other.execute("ROLLBACK")
"""


def test_a_file_that_another_process_locks(tmp_path):
    (task,) = tune.tasks_of(matmul())
    path = tmp_path / "tune.db"
    database = tune.RecordFile(path)
    database._core.set_patience(50)
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        with pytest.raises(UserError) as error:
            database.add(record(task, [1.0]))
        holder.stdin.write("\n")
        holder.stdin.close()
    assert str(error.value).replace(str(path), "tune.db") == (
        "error: tune.db is locked by another process: database is locked\n"
        "help: records are added one by one, so that no program should lock it for a minute"
    )
    database.add(record(task, [1.0]))


WRITER = """
import sys, tilewright.tune as tune
from tilewright._core import RecordKey
database = tune.RecordFile(sys.argv[1])
made = tune.Record()
made.key = RecordKey("p", "m")
made.space = sys.argv[2]
for n in range(int(sys.argv[3])):
    made.seconds = [1.0 + n]
    database.add(made)
    print(n, flush=True)
"""


def writer(path, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_add_to_one_file(tmp_path):
    path = tmp_path / "tune.db"
    both = [writer(path, name, 200) for name in ("one", "two")]
    assert [each.wait() for each in both] == [0, 0]
    database = tune.RecordFile(path)
    assert [len(database.of_space(name).records()) for name in ("one", "two")] == [200, 200]


OPENER = """
import sys, time
import tilewright.tune as tune
print("ready", flush=True)
sys.stdin.readline()
tune.RecordFile(sys.argv[1])
"""


def test_processes_that_open_a_new_file_at_once(tmp_path):
    """Found: one saw tables before their version, or the file locked while another one made it a log."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for n in range(8):
        words = [sys.executable, "-c", OPENER, str(tmp_path / f"{n}.db")]
        processes = [subprocess.Popen(words, **pipes) for _ in range(4)]
        for each in processes:
            assert each.stdout.readline() == "ready\n"
        for each in processes:
            each.stdin.write("\n")
            each.stdin.flush()
        for each in processes:
            _, err = each.communicate(timeout=60)
            assert each.returncode == 0, err


def test_killing_a_writer_loses_at_most_one_record(tmp_path):
    path = tmp_path / "tune.db"
    process = writer(path, "one", 100_000)
    seen = [int(process.stdout.readline()) for _ in range(50)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert Path(path).exists()
    assert len(tune.RecordFile(path).records()) >= seen[-1] + 1


READ_ONLY = """
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77
exec "$2" -c "$3" "$1/tune.db"
"""
LOOKS_UP = """
import sys
import tilewright as tw
from tilewright import tune
try:
    database = tune.RecordFile(sys.argv[1])
    print(len(database), database.best(database.records()[0].key).relative)
    database.add(database.records()[0])
except tw.UserError as error:
    print(str(error).replace(sys.argv[1], "tune.db"))
"""


def read_only(folder) -> str:
    """What the program prints where its folder cannot be written."""
    words = ["unshare", "-rm", "sh", "-c", READ_ONLY, "sh", str(folder), sys.executable, LOOKS_UP]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this user may not mount a folder")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare of util-linux")
def test_a_file_that_cannot_be_written_is_read(tmp_path):
    (task,) = tune.tasks_of(matmul())
    tune.RecordFile(tmp_path / "tune.db").add(winner(task, [1.0], [2.0]))
    assert read_only(tmp_path) == (
        "1 0.5\nerror: tune.db cannot be written: attempt to write a readonly database\n"
    )
    (tmp_path / "tune.db").unlink()
    old_file(tmp_path / "tune.db")
    assert read_only(tmp_path) == (
        "error: tune.db is of an older version, and cannot be written to bring it up to date\n"
        "help: copy it to where it can be written\n"
    )


def test_a_file_without_estimates_is_brought_up_to_date(tmp_path):
    path = tmp_path / "tune.db"
    task = tune.tasks_of(matmul())[0]
    tune.RecordFile(path).add(record(task, [1.0]))
    with sqlite3.connect(path) as other:
        other.execute("ALTER TABLE record DROP COLUMN estimate")
        other.execute("PRAGMA user_version = 2")
    other.close()
    database, ranked = tune.RecordFile(path), record(task, [])
    ranked.estimate = 2.5
    database.add(ranked)
    assert [(each.seconds, each.estimate) for each in database.records()] == [([1.0], None), ([], 2.5)]
