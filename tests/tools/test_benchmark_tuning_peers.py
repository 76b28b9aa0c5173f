"""benchmarks/tuning_peers.py: the tables, how they are counted, and a row without apache-tvm."""

import argparse

import pytest
import tuning_peers


class Trial:
    """What the benchmark reads of a record."""

    def __init__(self, relative, changes_sums=False):
        self.relative, self.changes_sums = relative, changes_sums
        self.seconds = [] if relative is None else [relative]


def test_speed_after_trials_is_a_share_of_the_best():
    trials = [Trial(None), Trial(4.0), Trial(1.0, changes_sums=True), Trial(2.0), Trial(8.0)] + [
        Trial(1.6)
    ] * 4
    assert tuning_peers.curve_of(trials) == [0, pytest.approx(0.8), 1, None, None, None]
    assert tuning_peers.curve_of([Trial(1.0, changes_sums=True)] * 4) == [None] * 6


RESULTS = [
    {
        "program": "matmul_128",
        "threads": 1,
        "rounds": {"default": [40.0, 44.0], "ours": [20.0, 20.0], "apache-tvm": [30.0, 32.0]},
        "tuning": {"ours": [6.5], "apache-tvm": [65.04, 61.75]},
        "candidates": {"ours": 2800.4, "apache-tvm": 886.0},
        "curve": [0.5, 0.75, 0.9, 0.96, 0.96, 1.0],
    },
    {
        "program": "softmax",
        "threads": 2,
        "rounds": {"default": [40.0, 44.0], "ours": [40.0, 44.0]},
        "tuning": {"ours": [6.5]},
        "candidates": {"ours": 500.0},
        "curve": [1.0, 1.0, None, None, None, None],
    },
]
TABLES = """\
| program | threads | default us | ours us | apache-tvm us | default / ours | apache-tvm / ours |
| --- | --- | --- | --- | --- | --- | --- |
| matmul_128 | 1 | 42.0 | 20.0 | 31.0 | 2.10 (2.00..2.20) | 1.55 (1.50..1.60) |
| softmax | 2 | 42.0 | 42.0 | - | 1.00 (1.00..1.00) | - |

| program | threads | ours s | apache-tvm s | without its start | times as long | ours /s | apache-tvm /s |
| --- | --- | --- | --- | --- | --- | --- | --- |
| matmul_128 | 1 | 6.5 | 65.0 | 61.8 | 9.5 | 2800 | 886 |
| softmax | 2 | 6.5 | - | - | - | 500 | - |

| program | threads | after 1 | after 4 | after 8 | after 16 | after 32 | after 64 |
| --- | --- | --- | --- | --- | --- | --- | --- |
| matmul_128 | 1 | 0.50 | 0.75 | 0.90 | 0.96 | 0.96 | 1.00 |
| softmax | 2 | 1.00 | 1.00 | - | - | - | - |"""


def test_tables():
    assert tuning_peers.tables(RESULTS) == TABLES


def test_convolution_is_the_operator_alone():
    make, _ = tuning_peers.PROGRAMS["conv2d_64x56x56_3x3"]
    assert tuning_peers.task_of(make(), 1).name.startswith("conv2d")


@pytest.mark.slow
def test_row_without_apache_tvm(monkeypatch):
    monkeypatch.setattr(tuning_peers, "PYTHON", "")
    args = argparse.Namespace(trials=4, seed=0, min_repeat_ms=1, seconds=0.1)
    found = tuning_peers.result_of("matmul_128", 1, args)
    assert set(found["rounds"]) == {"default", "ours"}
    assert found["curve"][1] == 1
    assert found["candidates"]["ours"] > 100
    assert found["trace"]
