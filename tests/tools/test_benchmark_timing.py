"""How benchmarks time calls in rounds, one peer after the other."""

import importlib
import sys
from pathlib import Path

import pytest
import timing


class Remote:
    """A peer in another process, which says itself what calls took."""

    def __init__(self):
        self.asked = []

    def times_of_slice(self, seconds):
        self.asked.append(seconds)
        return [3e-6, 1e-6, 2e-6]


def test_median_and_spread():
    values = [n * 1e-6 for n in (5, 1, 3, 2, 4, 6, 7, 8, 9, 10, 11)]
    assert timing.summary(values) == {
        "median_us": pytest.approx(6),
        "p10_us": pytest.approx(2),
        "p90_us": pytest.approx(10),
        "num_calls": 11,
    }


def test_peers_are_timed_in_rounds(monkeypatch):
    monkeypatch.setattr(timing, "SLICE_S", 0.002)
    order = []
    calls = {"a": lambda: order.append("a"), "b": lambda: order.append("b"), "far": Remote()}
    found = timing.time_in_rounds(calls, seconds=0.004)
    rounds = [name for n, name in enumerate(order) if n == 0 or order[n - 1] != name]
    assert rounds == ["a", "b"] * 3  # the first round warms up
    assert calls["far"].asked == [0.002] * 3
    assert found["rounds"]["far"] == pytest.approx([2, 2])
    assert found["figures"]["far"] == {
        "median_us": pytest.approx(2),
        "p10_us": pytest.approx(1),
        "p90_us": pytest.approx(3),
        "num_calls": 6,
    }
    assert 0 < found["figures"]["a"]["num_calls"] < order.count("a")


@pytest.mark.parametrize("path", ["", "/nowhere/python"])
def test_apache_tvm_is_left_out_without_its_python(monkeypatch, path):
    monkeypatch.setenv("TVM_PYTHON", path)
    monkeypatch.delitem(sys.modules, "peers.apache_tvm", raising=False)
    with pytest.raises(ImportError, match="^TVM_PYTHON does not name a Python with apache-tvm$"):
        importlib.import_module("peers.apache_tvm")


def test_explaining_program_is_that_of_the_package():
    """Found: files of a build folder are links, and what they link to has no program beside it."""
    peer = importlib.import_module("peers.tilewright")
    assert Path(peer.command_line()).is_file()
