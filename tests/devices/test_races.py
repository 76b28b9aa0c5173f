"""Programs of the course under oclgrind: there is no race in them, and one where a barrier is blanked out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from devices.schedules import matmul, row_by_threads, scheduled, shared_blocking, softmax

import tilewright as tw

OCLGRIND = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
BARRIER = b"barrier(CLK_LOCAL_MEM_FENCE);"
MASK = 2**64 - 1
pytestmark = pytest.mark.skipif(not OCLGRIND.exists(), reason="oclgrind is not installed")

SCRIPT = """
import sys
import numpy as np
import tilewright as tw
module = tw.load_module(sys.argv[1])
shapes = [tuple(map(int, each.split("x"))) for each in sys.argv[2:]]
# oclgrind ignores what is written where it is already: each step that looks for the largest finds a larger one here
arrays = [np.arange(np.prod(shape), dtype="float32").reshape(shape) / 100 for shape in shapes]
for each in arrays:
    each[:, 3] += 1
module["main"](*[tw.tensor(each, "opencl") for each in arrays])
tw.opencl(0).sync()
"""
PROGRAMS = {
    "shared_blocking": (scheduled(matmul(32, 32, 16), shared_blocking), "32x16", "16x32", "32x32"),
    "softmax": (scheduled(softmax(3, 37), lambda sch: row_by_threads(sch, 16)), "3x37", "3x37"),
}


def checksum(data):
    """What device code has at its beginning, as runtime/vm/checksum.h computes it."""
    prime, word = 0x9E3779B97F4A7C15, lambda part: int.from_bytes(part, "little")

    def mixed(sum, other, bits):
        value = (sum ^ other) * prime & MASK
        return (value << bits | value >> (64 - bits)) & MASK

    lanes = [0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89]
    whole = len(data) // 32 * 32
    for at in range(0, whole, 32):
        lanes = [mixed(lane, word(data[at + 8 * n :][:8]), 29) for n, lane in enumerate(lanes)]
    sum = len(data) * prime & MASK
    for lane in lanes:
        sum = mixed(sum, lane, 31)
    for at in range(whole, len(data), 8):
        sum = mixed(sum, word(data[at : at + 8]), 29)
    return (sum ^ sum >> 32) * prime & MASK


def without_barrier(library, number):
    """The library with spaces for one barrier of its text, and the checksum of what it is then."""
    data = bytearray(library)
    at = -1
    for _ in range(number + 1):
        at = data.index(BARRIER, at + 1)
    data[at : at + len(BARRIER)] = b";".rjust(len(BARRIER))
    begin = data.index(b"TWDC")
    size = int.from_bytes(data[begin + 8 :][:8], "little")
    assert 24 < size <= len(data) - begin
    data[begin + 16 : begin + 24] = checksum(bytes(data[begin + 24 : begin + size])).to_bytes(8, "little")
    return bytes(data[:-1])  # a file without a seal at its end


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
    whole = library.read_bytes()
    assert whole.count(BARRIER) >= 2
    caught = set()
    for number in range(whole.count(BARRIER)):
        changed = tmp_path / f"without_{number}.so"
        changed.write_bytes(without_barrier(whole, number))
        if "data race" in findings(changed, shapes, tmp_path):
            caught.add(number)
    assert caught == set(range(whole.count(BARRIER)))
