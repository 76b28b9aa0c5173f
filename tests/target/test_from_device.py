"""Target.from_device: targets of devices as drivers describe them."""

import os
import subprocess
import sys

import pytest

import tilewright as tw

PROGRAM = """
import tilewright as tw
from tilewright.compat.target import Target

target, device = tw.Target.from_device("cuda:0"), tw.cuda(0)
print(target.kind, target.attrs["arch"], device.compute_version)
for name, value in (
    ("max_threads_per_block", device.max_threads_per_block),
    ("max_shared_memory_per_block", device.max_shared_memory_per_block),
    ("registers_per_block", device.max_registers_per_block),
    ("thread_warp_size", device.warp_size),
    ("num-cores", device.multi_processor_count),
):
    assert target.attrs[name] == value > 0, name
assert str(tw.Target.from_device(device)) == str(target) == str(Target.from_device("cuda:0"))
print(tw.Target.from_device(device, "llvm").host)
try:
    tw.Target.from_device("cuda:7")
except tw.UserError as error:
    print(error)
"""

PRINTED = """\
cuda sm_90 9.0
llvm
Target.from_device: there is no device cuda:7
help: name the machine instead, e.g. Target("nvidia/nvidia-h100")
"""


def test_of_the_emulation():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == PRINTED


def test_of_the_cpu():
    assert str(tw.Target.from_device("cpu")) == str(tw.Target("llvm"))
    assert str(tw.Target.from_device(tw.cpu(0))) == str(tw.Target("llvm"))


def test_without_the_device():
    if tw.device("metal").exist:
        pytest.skip("this machine has Metal")
    with pytest.raises(tw.UserError) as error:
        tw.Target.from_device("metal:0")
    assert str(error.value) == (
        "Target.from_device: there is no device metal:0\n"
        'help: name the machine instead, e.g. Target("nvidia/nvidia-h100")'
    )
