"""The steps of docs/gpu-matmul.md run on the emulation, and the lint says what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs/gpu-matmul.md").read_text()


def test_its_steps_run(tmp_path):
    script = tmp_path / "page.py"
    script.write_text("\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)))
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^([a-z ]+):$", done.stdout, flags=re.MULTILINE)
    said = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert (
        "coalescing: a warp reads A in 16 sectors of 32 bytes where 4 would do"
        in said["neighbours in different rows"]
    )
    assert "coalescing" not in said["neighbours in one row"]
    assert "coalescing: a warp writes C" in said["blocks of registers"]
    assert "coalescing: a warp reads" not in said["tiles in shared memory"]
    assert "2 barriers" in said["tiles in shared memory"]
    assert "banks: a warp reads A_shared" in said["tiles in shared memory"]
    assert "banks: a warp reads A_shared" not in said["longer rows"]
    assert "3 barriers" in said["pipeline"]
    assert "coalescing" not in said["default schedule"]
