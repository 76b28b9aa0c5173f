"""Trained networks through target "c": no warning from the C compiler, and the numbers of target "llvm"."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tilewright

MODELS = Path(__file__).resolve().parents[3] / "shared/models"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not MODELS.is_dir(), reason="../shared is absent")]

INPUTS = {
    "fashion_mnist/mlp.onnx": (1, 784),
    "zoo/mnist_8/model.onnx": (1, 1, 28, 28),
    "mlperf_tiny/vww96_mobilenetv1_fp32.onnx": (1, 3, 96, 96),
    "ultraface/version-RFB-320.onnx": (1, 3, 240, 320),
}


def outputs(executable, x):
    result = tilewright.VirtualMachine(executable)["main"](tilewright.tensor(x))
    return [each.numpy() for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", INPUTS)
def test_c_gives_what_llvm_gives(name, tmp_path):
    x = np.random.default_rng(0).random(INPUTS[name], dtype="float32")
    compiled = tilewright.compile(MODELS / name, target="c")
    for c, llvm in zip(outputs(compiled, x), outputs(tilewright.compile(MODELS / name), x), strict=True):
        np.testing.assert_allclose(c, llvm, rtol=1e-4, atol=1e-5)
    compiled.export_library(tmp_path / "model.c")
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    done = subprocess.run(
        ["cc", *strict, tmp_path / "model.c", "-o", tmp_path / "model.so", "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    (first, *_) = outputs(tilewright.load_module(str(tmp_path / "model.so")), x)
    np.testing.assert_allclose(first, outputs(compiled, x)[0], rtol=1e-4, atol=1e-5)
