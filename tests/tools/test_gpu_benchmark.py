"""benchmarks/gpu.py runs where there is no GPU, and both of its sides compute the same."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilewright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from gpu_networks import Eager, Program, encoder, resnet50  # noqa: E402


@pytest.mark.parametrize("only", ["matmul 7", "softmax 16", "transformer"])
def test_small_cases(only):
    if only == "transformer" and not tilewright.opencl(0).exist:
        pytest.skip("there is no device of opencl here")
    device = "opencl:0" if tilewright.opencl(0).exist else "cuda:0"
    done = subprocess.run(
        [
            *(sys.executable, ROOT / "benchmarks/gpu.py", "--small", "--no-tests", "--device", device),
            *("--only", only, "--peer", "none"),
        ],
        env=os.environ | {"TILEWRIGHT_CUDA_EMULATION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith(f"| {only}")]
    assert len(rows) == 2 and all(float(row[1]) > 0 for row in rows)


def test_a_device_that_is_not_there():
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/gpu.py", "--small", "--device", "opencl:9"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (
        1,
        "there is no device opencl:9; TILEWRIGHT_CUDA_EMULATION=1 and --small run the kernels on the CPU\n",
    )


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda net: resnet50(net, 1, 32, 4), (1, 3, 32, 32)),
        (lambda net: encoder(net, 2, 7, 24, 3, layers=2), (2, 7, 24)),
    ],
    ids=["resnet50", "encoder"],
)
def test_both_sides_compute_the_same(build, shape):
    torch = pytest.importorskip("torch")
    program = Program("float32")
    module = program.module(build(program))
    x = np.random.default_rng(1).standard_normal(shape, "float32")
    found = tilewright.VirtualMachine(tilewright.compile(module))["main"](x, *program.weights).numpy()
    weights = [torch.from_numpy(weight) for weight in program.weights]
    expected = build(Eager(torch, torch.from_numpy(x), weights)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
