"""Figures of processors that default schedules use (target/cores.cc)."""

import re
from pathlib import Path

import pytest

import tilewright
from tilewright import te
from tilewright.target import features

ROOT = Path(__file__).resolve().parents[2]
CORES = re.findall(r'^    \{"([a-z0-9-]+)",', (ROOT / "tilewright/target/cores.cc").read_text(), re.MULTILINE)
ARM = ("apple", "cortex", "neoverse")


def target_of(core):
    triple = "aarch64-linux-gnu" if core.startswith(ARM) else "x86_64-linux-gnu"
    return f"llvm -mtriple={triple} -mcpu={core} -num-cores=1"


def matmul(m, n, k):
    a, b = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    r = te.reduce_axis((0, k), "r")
    return te.create_prim_func(
        [a, b, te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")]
    )


@pytest.mark.parametrize("core", CORES)
def test_every_core_has_the_name_that_llvm_gives_it(core):
    assert "C" in tilewright.build(matmul(5, 7, 127), target=target_of(core)).get_source("asm")


def test_cores_have_schedules_of_their_own():
    programs = {
        core: tilewright.build(matmul(256, 512, 512), target=target_of(core)).get_source("lowered")
        for core in ("haswell", "znver4", "cortex-a72", "neoverse-v1")
    }
    assert len(set(programs.values())) == 4


def test_caches_of_a_named_processor_do_not_depend_on_the_machine():
    """Where code for it runs on this machine, too: plans for haswell were those for the L2 of whoever compiled."""
    for name, l2_bytes in (("haswell", 256 << 10), ("skylake", 256 << 10), ("znver2", 512 << 10)):
        found = features(f"llvm -mtriple=x86_64-pc-linux-gnu -mcpu={name}")
        assert found["l2_bytes"].value == l2_bytes
        assert "system" not in found["l1_bytes"].source + found["line_bytes"].source
