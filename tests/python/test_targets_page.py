"""The examples of docs/targets.md run, in their order."""

import re
from pathlib import Path

from tilewright.target import features

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
    assert [known[name].source for name in ("num_cores", "l2_bytes", "fma_latency", "vector_bytes")] == [
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
