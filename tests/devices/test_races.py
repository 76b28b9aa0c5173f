"""Programs of the course under oclgrind: there is no race in them, and one where any of their barriers is blanked out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from devices.schedules import matmul, row_by_threads, scheduled, shared_blocking, softmax

import tilewright as tw

OCLGRIND = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
BARRIER = b"barrier(CLK_LOCAL_MEM_FENCE);"
pytestmark = pytest.mark.skipif(not OCLGRIND.exists(), reason="oclgrind is not installed")

SCRIPT = """
import sys
import numpy as np
import tilewright as tw
module = tw.load_module(sys.argv[1])
shapes = [tuple(map(int, each.split("x"))) for each in sys.argv[2:]]
module["main"](*[tw.tensor(np.ones(shape, "float32"), "opencl") for shape in shapes])
tw.opencl(0).sync()
"""
PROGRAMS = {
    "shared_blocking": (scheduled(matmul(32, 32, 16), shared_blocking), "32x16", "16x32", "32x32"),
    "softmax": (scheduled(softmax(3, 37), lambda sch: row_by_threads(sch, 16)), "3x37", "3x37"),
}


def findings(library, shapes, folder):
    """What oclgrind reports about a run."""
    (folder / "oclgrind.icd").write_text(f"{OCLGRIND}\n")
    log = folder / "log"
    log.write_text("")
    environment = {
        "OCL_ICD_VENDORS": f"{folder}/",
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_LOG": str(log),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(library), *shapes],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return log.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_barrier_is_needed(name, tmp_path):
    module, *shapes = PROGRAMS[name]
    library = tmp_path / "whole.so"
    tw.build(module, "opencl").export_library(library)
    assert findings(library, shapes, tmp_path) == ""
    first, *others = library.read_bytes().split(BARRIER)
    assert len(others) >= 2
    for missing in range(len(others)):
        text = first
        for n, part in enumerate(others):
            text += (b" " * (len(BARRIER) - 1) + b";" if n == missing else BARRIER) + part
        changed = tmp_path / f"without_{missing}.so"
        changed.write_bytes(text)
        assert "data race" in findings(changed, shapes, tmp_path), f"without barrier {missing}"
