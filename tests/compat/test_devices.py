"""Devices under TVM's names, in a process that runs on the emulated CUDA."""

import os
import subprocess
import sys

PROGRAM = """
import numpy as np
import tvm

dev = tvm.cuda(0)
print(dev.exist, dev.device_name, dev.driver_version, dev.api_version, dev.compute_version, dev.warp_size)
print(tvm.cpu().device_name, tvm.cpu().api_version, tvm.metal().exist)
numbers = np.arange(35, dtype="float32").reshape(5, 7)
for make in (tvm.nd.array, tvm.runtime.tensor):
    x = make(numbers, dev)
    print(x.device, (x.numpy() == numbers).all(), x.copyto(tvm.cpu()).device)
y = tvm.nd.empty((5, 7), "float32", dev)
y.copyfrom(numbers)
print(y.asnumpy()[4, 6])
stream = dev.create_raw_stream()
dev.set_raw_stream(stream)
y.copyfrom(numbers + 1)
dev.sync(stream)
dev.set_raw_stream(None)
dev.free_raw_stream(stream)
print(y.numpy()[4, 6])
"""

PRINTED = """\
True emulated GPU CUDA 13.0 13000 9.0 32
None None False
cuda:0 True cpu:0
cuda:0 True cpu:0
34.0
35.0
"""


def test_cuda(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-m", "tilewright.compat", str(tmp_path / "program.py")],
        env=os.environ | {"TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout + run.stderr == PRINTED
