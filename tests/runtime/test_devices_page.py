"""The example of docs/devices.md runs on the emulation and prints this."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs/devices.md").read_text()

PRINTED = """\
cuda:0 emulated GPU 9.0 132 32
cuda:0 cpu:0 [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
cpu:0 [3.5, 3.5, 3.5, 3.5, 3.5]
['llvm:0', 'cuda:0']
"""


def test_its_example_runs(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    example = tmp_path / "example.py"  # scripts are read from their file
    example.write_text("\n".join(blocks))
    run = subprocess.run(
        [sys.executable, str(example)],
        env=os.environ | {"TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout + run.stderr == PRINTED
