"""The examples of docs/targets.md run, in their order."""

import re
from pathlib import Path

import pytest

from tilewright.target import costs, features

PAGE = (Path(__file__).resolve().parents[2] / "docs/targets.md").read_text()


def test_its_examples_run(capsys):
    scope = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "docs/targets.md", "exec"), scope)
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0]
        == "vector_bytes                 32 bytes      one vector register: Arm Neoverse V1 Software Optimization Guide"
    )
    assert lines[-3:] == ["32 True False", "64 True False", "64 False True"]


def test_options_of_a_target_are_what_is_known():
    known = features("llvm -num-cores=3 -l1_cache_size_bytes=65536 -l2_cache_size_bytes=2097152")
    assert (known["num_cores"].value, known["l1_bytes"].value, known["l2_bytes"].value) == (3, 65536, 2097152)
    assert known["l2_bytes"].unit == "bytes"
    assert [known[name].source for name in ("num_cores", "l2_bytes", "page_bytes", "vector_bytes")] == [
        "-num-cores",
        "-l2_cache_size_bytes",
        "a common core",
        "features of the processor",
    ]
    assert features("llvm -vector-width=128")["vector_bytes"].source == "-vector-width"
    a64fx = features("llvm -mtriple=aarch64-linux-gnu -mcpu=a64fx")["vector_bytes"]
    assert (a64fx.value, a64fx.source) == (64, "the manual of a64fx")
    assert features("c -mcpu=haswell -vector-width=128")["vector_bytes"].value == 16
    arm = features("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")
    assert arm["l1_ways"].source == "Arm Cortex-A72 Software Optimization Guide"


@pytest.mark.parametrize(
    ("cpu", "source"),
    [
        ("cortex-a53", "LLVM's scheduling model of cortex-a53"),
        ("cortex-a72", "Arm Cortex-A72 Software Optimization Guide"),
        ("thunderx3t110", "LLVM's scheduling model of thunderx3t110"),
    ],
)
def test_rates_of_a_core_have_a_source(cpu, source):
    known = features(f"llvm -mtriple=aarch64-linux-gnu -mcpu={cpu}")
    assert known["fma_per_cycle"].source == source
    assert known["fma_per_cycle"].value > 0 and known["issue_width"].value >= 2


def test_a_processor_without_a_scheduling_model_is_a_common_one():
    known = features("llvm -mtriple=riscv64-linux-gnu -mcpu=generic-rv64 -mattr=+v")
    assert known["fma_per_cycle"].source == "a common core"


def test_each_cost_has_a_value_a_meaning_and_a_source():
    known = costs()
    assert known["piece_cycles"].value == 10.0 and known["widest_lanes"].value == 16
    for name, cost in known.items():
        assert cost.value > 0 and cost.doc and cost.source, name


@pytest.mark.parametrize(
    ("cpu", "work"), [("haswell", 196_608), ("skylake-avx512", 393_216), ("znver4", 196_608)]
)
def test_loops_become_parallel_when_their_work_takes_longer_than_threads_need(cpu, work):
    known = features(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    per_cycle = known["fma_per_cycle"].value * known["vector_bytes"].value / 4
    assert known["parallel_cycles"].value * per_cycle == work
