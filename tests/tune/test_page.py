"""The page about tuning: curves, scores beside speeds, failures, and what the fastest does otherwise."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

import tilewright as tw
from tilewright import te, tune
from tilewright.errors import UserError
from tilewright.tune import page, plot

VOID = {"meta", "br"}


def matmul(n=32):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def record(task, seconds, time, *, factor=None, beats=False, failure="", score=None):
    made = tune.Record()
    made.key, made.target, made.space = task.key, "llvm -num-cores=1", "default"
    made.seconds, made.failure, made.score, made.time = seconds, failure, score, time
    made.processor, made.beats_default = "<a processor>", beats
    if factor is not None:
        sch = tw.Schedule(task.module)
        i, j, k = sch.get_loops("C")
        j0, j1 = sch.split(j, [None, factor])
        sch.reorder(i, j0, k, j1)
        made.trace_json, made.baseline = sch.trace.save_json(), [4.0] * len(seconds)
    return made


@pytest.fixture
def database():
    """The default takes 4 s; trials: 8 s, a failure, 2 s as the winner, 3 s."""
    (task,) = tune.tasks_of(matmul(), "llvm -num-cores=1")
    records = tune.RecordFile()
    records.add_program(task)
    records.add(record(task, [4.0], 100.0))
    records.add(record(task, [8.0] * 6, 101.0, factor=2, score=1.0))
    records.add(record(task, [], 102.0, factor=4, failure="it aborted (SIGABRT) & <ended>", score=2.0))
    records.add(record(task, [2.0] * 6, 103.0, factor=8, beats=True, score=3.0))
    records.add(record(task, [3.0] * 6, 104.5, factor=16, beats=True, score=2.5))
    return records


class Page(HTMLParser):
    """Checks that tags are nested, and keeps texts by tag."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.attributes = [], {}, []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]][-1] += data


def test_the_page(database, tmp_path):
    tune.report(database, tmp_path / "tune.html")
    text = (tmp_path / "tune.html").read_text()
    read = Page(text)
    assert read.texts["p"][0] == "1 kernel, 4 trials on <a processor>; 1 faster than by the default schedule."
    assert read.texts["th"] == [
        *("Kernel", "Trials", "Failed", "Default\xa0us", "Fastest\xa0us", "Speedup", "95\xa0%")
    ]
    assert read.texts["td"] == ["", "4", "1", "4000000.00", "2000000.00", "2.00", "2.00 to 2.00"]
    assert read.texts["a"] == ["main"]
    assert read.texts["li"] == ["1 times: it aborted (SIGABRT) & <ended>"]
    assert any("+ " in line and "split" in line for line in read.texts["ins"])
    assert read.texts["del"]
    assert len(read.texts["svg"]) == 3
    # nothing comes from elsewhere
    assert not [value for name, value in read.attributes if name in ("src", "href") and value[0] != "#"]
    assert "prefers-color-scheme: dark" in text and "script" not in read.texts
    for each in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(each)


def test_curves(database):
    (story,) = page.stories_of(database)
    assert page.best_so_far(story, lambda n, record: n) == [(0, 1.0), (3, 2.0)]
    root = ElementTree.fromstring(page.curve(story))
    space = "{http://www.w3.org/2000/svg}"
    assert [each[0].text for each in root.iter(f"{space}circle")] == [
        *("trials 1: 0.50", "trials 3: 2.00", "trials 4: 1.33", "the fastest: 2.00")
    ]
    root = ElementTree.fromstring(page.curve(story, by_time=True, is_alone=True))
    assert "seconds 4.5: 1.33" in [each[0].text for each in root.iter(f"{space}circle")]
    assert root.find(f"{space}style") is not None


def test_scores_beside_speeds(database):
    (story,) = page.stories_of(database)
    text, correlation = page.scores_plot(story)
    assert text.count("<circle") == 3 and correlation == 1
    assert page.rank_correlation([1, 2, 3], [3, 2, 1]) == -1
    assert page.rank_correlation([1, 1, 1], [3, 2, 1]) == 0
    assert page.rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9487, abs=1e-4)


def test_a_default_that_stays(tmp_path):
    (task,) = tune.tasks_of(matmul(), "llvm -num-cores=1")
    records = tune.RecordFile()
    records.add(record(task, [4.0], 1.0))
    records.add(record(task, [3.9] * 3, 1.0, factor=2))
    tune.report(records, tmp_path / "tune.html")
    read = Page((tmp_path / "tune.html").read_text())
    assert read.texts["td"][-3:] == ["4000000.00", "1.00", "-"]
    assert "No candidate is surely faster than the default schedule, which stays." in read.texts["p"]
    assert len(read.texts["svg"]) == 2  # one score would show nothing


def test_a_page_of_results(tmp_path):
    options = tune.MeasureOptions(min_repeat_ms=1, rounds=2)
    results = tune.tune(
        matmul(), "llvm -num-cores=1", database=tune.RecordFile(), trials=4, options=options, quiet=True
    )
    tune.report(results, tmp_path / "tune.html")
    read = Page((tmp_path / "tune.html").read_text())
    assert read.texts["td"][1] == "4"


def test_nothing_to_report(tmp_path):
    with pytest.raises(UserError) as error:
        tune.report(tune.RecordFile(), tmp_path / "tune.html")
    assert str(error.value) == "there are no records to report\nhelp: tune something first"
    assert not (tmp_path / "tune.html").exists()


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 64, [0, 20, 40, 60]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 1.1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-3, 7, [-2, 0, 2, 4, 6]),
        (0, 0.007, [0, 0.002, 0.004, 0.006]),
    ],
)
def test_ticks(low, high, ticks):
    assert plot.ticks_of(low, high) == pytest.approx(ticks)
