"""Wrong arguments of tuning, and parts of the user's that raise or answer nonsense: each has a message that names it."""

import math
import subprocess
import sys

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import InternalError, Unsupported, UserError
from tilewright.tune.child import ChildFailed, reason_of
from tilewright.tune.measure import measure_candidate

FAST = tune.MeasureOptions(min_repeat_ms=1, rounds=2)
TARGET = "llvm -num-cores=1"


def matmul(n=16):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def columns(sch):
    i, j, k = sch.get_loops("C")
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2))
    sch.reorder(i, j0, k, j1)


COLUMNS = tune.ScheduleFn(columns)


def tuned(mod=None, **options):
    options = {"database": tune.RecordFile(), "trials": 3, "options": FAST, "quiet": True} | options
    return tune.tune(mod or matmul(), TARGET, **({"space": COLUMNS} | options))


def text_of(function, *args, **options) -> str:
    with pytest.raises(UserError) as error:
        function(*args, **options)
    return str(error.value)


MODEL = ", expected an object with predict(candidates) and update(candidates, seconds)\nhelp: tune.default_model() makes one"
WRONG = [
    ("trials", True, "is True, expected a whole number from 1 on"),
    ("trials", 1.5, "is 1.5, expected a whole number from 1 on"),
    ("per_iteration", 0, "is 0, expected a whole number from 1 on"),
    ("seed", -1, "is -1, expected a whole number from 0 to 9223372036854775807"),
    ("seed", 2**63, "is 9223372036854775808, expected a whole number from 0 to 9223372036854775807"),
    ("seed", "a", "is 'a', expected a whole number from 0 to 9223372036854775807"),
    ("seed", None, "is None, expected a whole number from 0 to 9223372036854775807"),
    ("time_limit", "10m", "is '10m', expected a finite number above 0"),
    ("time_limit", -1, "is -1, expected a finite number above 0"),
    ("time_limit", 0, "is 0, expected a finite number above 0"),
    ("time_limit", math.nan, "is nan, expected a finite number above 0"),
    ("time_limit", math.inf, "is inf, expected a finite number above 0"),
    ("database", None, "is a Python NoneType, expected tune.RecordFile"),
    ("database", "x.db", "is a Python str, expected tune.RecordFile"),
    ("options", 1, "is a Python int, expected tune.MeasureOptions"),
    ("options", {}, "is a Python dict, expected tune.MeasureOptions"),
    ("executor", 3, "is a Python int, expected concurrent.futures.Executor"),
    ("measure_executor", "pool", "is a Python str, expected concurrent.futures.Executor"),
    ("cost_model", "xgb", f"is a Python str{MODEL}"),
    ("cost_model", 1, f"is a Python int{MODEL}"),
    ("postprocs", None, "is a Python NoneType, expected a list"),
    ("postprocs", tune.DisallowDynamicLoop(), "is a Python DisallowDynamicLoop, expected a list"),
    ("callbacks", print, "is a Python builtin_function_or_method, expected a list"),
    ("mutators", None, "is a Python NoneType, expected {mutator: weight} or a list"),
    ("mutators", tune.MutateSamples(), "is a Python MutateSamples, expected {mutator: weight} or a list"),
    ("allow_reassociation", "no", "is 'no', expected True or False"),
    ("resume", None, "is None, expected True or False"),
    ("quiet", 1, "is 1, expected True or False"),
]


@pytest.mark.parametrize(("name", "value", "text"), WRONG)
def test_wrong_arguments(name, value, text):
    assert text_of(tuned, **{name: value}) == f"tune: {name} {text}"


def test_the_largest_seed():
    assert tuned(seed=2**63 - 1)[0].trials == 3


def test_numbers_of_numpy():
    one, two = np.int64(1), np.int32(2)
    options = tune.MeasureOptions(min_repeat_ms=one, rounds=two, timeout=np.float32(5), memory_mb=np.int64(0))
    (result,) = tuned(
        trials=two,
        per_iteration=one,
        seed=np.int64(3),
        options=options,
        strategy=tune.ReplayFunction(two),
        time_limit=np.float32(100),
    )
    assert (type(options.rounds), type(options.timeout)) == (int, float)
    assert result.trials == 2 and result.default_s > 0 and all(each.seconds for each in result.records)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("rounds", 0, "a whole number from 1 on"),
        ("rounds", 1.5, "a whole number from 1 on"),
        ("min_repeat_ms", 0, "a whole number from 1 on"),
        ("timeout", 0, "a finite number above 0"),
        ("timeout", "10s", "a finite number above 0"),
        ("build_timeout", -1.0, "a finite number above 0"),
        ("hopeless", 1, "a finite number above 1"),
        ("cache_flush_bytes", 2**30 + 1, "a whole number from 0 to 1073741824"),
        ("num_threads", -1, "a whole number from 0 to 1024"),
        ("memory_mb", -1, "a whole number from 0 on"),
    ],
)
def test_wrong_options_of_measurements(name, value, expected):
    text = text_of(tune.MeasureOptions, **{name: value})
    assert text == f"MeasureOptions: {name} is {value!r}, expected {expected}"


def unmeasurable(**options) -> str:
    """Why the default schedule cannot be measured."""
    with pytest.raises(UserError) as error:
        tuned(**options)
    text = str(error.value)
    begin = "main: the default schedule cannot be measured: "
    assert text.startswith(begin)
    return text.removeprefix(begin)


def test_the_shortest_time_limit_of_a_candidate():
    options = tune.MeasureOptions(min_repeat_ms=1, rounds=1, timeout=1e-6)
    assert unmeasurable(options=options) == "it took longer than 1e-06 s"


# ---------------------------------------------------------------- strategies


class Eager(tune.SearchStrategy):
    """Asks for five candidates, whatever it is asked for."""

    told = []

    def ask(self, count):
        return [sch for seed in range(5) if (sch := self.context.replay(self.context.designs[0], seed))]

    def tell(self, candidates, seconds):
        self.told.append(len(candidates))


def test_a_strategy_that_asks_for_too_many():
    (result,) = tuned(strategy=Eager(), trials=3, per_iteration=2)
    assert result.trials == 3 and Eager.told == [2, 1]


class Number(tune.SearchStrategy):
    def ask(self, count):
        return 3


def test_a_strategy_that_gives_no_list():
    assert text_of(tuned, strategy=Number()) == "Number.ask gave a Python int, expected a list of Schedules"


@pytest.mark.parametrize("number", [0, -1, "all"])
def test_failures_of_a_replayed_function(number):
    assert text_of(tune.ReplayFunction, number) == (
        f"ReplayFunction: most_failures is {number!r}, expected a whole number from 1 on"
    )


# ---------------------------------------------------------------- builders and runners that raise


class Raises(tune.Builder):
    def build(self, module, target):
        raise KeyError("no such\nkey")


class Answers(tune.Runner):
    def __init__(self, answer):
        self.answer = answer

    def run(self, library, baseline, shapes, options):
        return self.answer() if callable(self.answer) else self.answer


def failures(**options):
    database = tune.RecordFile()
    tuned(database=database, trials=2, **options)
    return {each.failure for each in database.records(with_failures=True)}


def fails():
    raise RuntimeError


def test_builders_and_runners_that_raise():
    assert failures(builder=Raises()) == {"KeyError: 'no such\\nkey'"}
    assert unmeasurable(runner=Answers(fails)) == "RuntimeError"


NOT_TIMES = ", expected finite numbers above 0"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"seconds": [1.0, 0.0]}, f"gave 0.0 among seconds{NOT_TIMES}"),
        ({"seconds": [-1]}, f"gave -1 among seconds{NOT_TIMES}"),
        ({"seconds": [math.nan]}, f"gave nan among seconds{NOT_TIMES}"),
        ({"seconds": [math.inf]}, f"gave inf among seconds{NOT_TIMES}"),
        ({"seconds": ["1 s"]}, f"gave '1 s' among seconds{NOT_TIMES}"),
        ({"seconds": [1.0], "baseline": [None]}, f"gave None among baseline{NOT_TIMES}"),
        ({"seconds": 1.0}, "gave {'seconds': 1.0}, expected {\"seconds\": [...], ...}"),
        ({"seconds": []}, "gave {'seconds': []}, expected {\"seconds\": [...], ...}"),
        (
            {"seconds": [1.0], "baseline": 2},
            "gave {'seconds': [1.0], 'baseline': 2}, expected {\"seconds\": [...], ...}",
        ),
        (None, 'gave None, expected {"seconds": [...], ...}'),
    ],
)
def test_runners_that_give_no_times(answer, text):
    assert unmeasurable(runner=Answers(answer)) == f"Answers.run {text}"


def test_times_of_numpy():
    (result,) = tuned(runner=Answers({"seconds": np.array([2, 1, 3], "float32")}))
    assert {tuple(each.seconds) for each in result.records} == {(2.0, 1.0, 3.0)}


def test_reasons_of_errors():
    assert reason_of(UserError("error: it is wrong\nhelp: mend it")) == "it is wrong"
    assert reason_of(Unsupported("unsupported: not yet")) == "unsupported: not yet"
    assert reason_of(ChildFailed("it aborted (SIGABRT)")) == "it aborted (SIGABRT)"
    assert reason_of(InternalError()) == "InternalError"
    assert reason_of(ValueError("a\nb")) == "ValueError: a"


def test_the_reason_of_a_measuring_process():
    with pytest.raises(ChildFailed) as error:
        measure_candidate(b"", None, [], FAST)
    assert str(error.value) == "cannot load the bytes: it is not a shared library"


# ---------------------------------------------------------------- time limits, comparisons, texts


def test_a_time_limit_that_is_over_before_the_second_program():
    two = tw.IRModule({name: matmul(n).with_attr("global_symbol", name) for name, n in (("a", 8), ("b", 16))})
    (result,) = tuned(two, time_limit=1e-9)
    assert result.trials == 0 and result.is_done and result.default_s > 0


def test_comparing_inside_of_a_database(monkeypatch):
    seen = []

    class Machine:
        def __init__(self, executable):
            seen.append(tune.Database.current())

        def __getitem__(self, name):
            return lambda *inputs: None

    monkeypatch.setattr(tw.runtime, "VirtualMachine", Machine)
    monkeypatch.setattr(sys.modules["tilewright.build"], "compile", lambda *_, **__: None)
    database, outer = tune.RecordFile(), tune.RecordFile()
    with outer:
        tune.compare("model", database, [], rounds=1)
    assert seen[0] not in (outer, database) and len(seen[0]) == 0 and seen[1] is database
    assert text_of(tune.compare, "model", database, [], rounds=0) == (
        "compare: rounds is 0, expected a whole number from 1 on"
    )


def test_texts_are_utf_8_in_every_locale(tmp_path):
    (task,) = tune.tasks_of(matmul(), TARGET)
    record = tune.Record()
    record.key, record.target, record.space, record.seconds = task.key, TARGET, "default", [1.0]
    record.processor, record.trace_json = "Prozessor®", ""
    tune.RecordFile(tmp_path / "tune.db").add(record)
    (tmp_path / "lines.json").write_text('"®"\n', encoding="utf-8")
    program = (
        "from tilewright import tune\n"
        "from tilewright.compat.meta_schedule.json_files import _lines\n"
        "tune.report(tune.RecordFile('tune.db'), 'page.html')\n"
        "assert _lines('lines.json') == [chr(174)]\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", program],
        cwd=tmp_path,
        env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Prozessor®" in (tmp_path / "page.html").read_text(encoding="utf-8")
