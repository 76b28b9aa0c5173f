"""Each model of ../shared/models gives the same bits in Python, by the command line and in a C program without compiler."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from c_programs import ROOT, make_program, run_program

import tilewright

MODELS = Path(__file__).resolve().parents[3] / "shared/models"
FILES = sorted(str(path.relative_to(MODELS)) for path in MODELS.glob("**/*.onnx"))
BUILT = ROOT / "build/bin/tilewright"
COMMAND = shutil.which("tilewright") or BUILT

pytestmark = [
    pytest.mark.skipif(not FILES, reason="../shared is absent"),
    pytest.mark.skipif(not BUILT.exists(), reason="build/bin/tilewright is not built"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return make_program(ROOT, ROOT / "build/lib", tmp_path_factory.mktemp("c") / "run_model")


def inputs_of(path) -> dict:
    """Arrays for what the model takes, by name; a dimension without a size is 3, the samples of a sound are 576."""
    model = onnx.load(path)
    weights = {tensor.name for tensor in model.graph.initializer}
    rng, arrays = np.random.default_rng(37), {}
    for value in (value for value in model.graph.input if value.name not in weights):
        kind = value.type.tensor_type
        shape = [dim.dim_value or {"sequence": 576}.get(dim.dim_param, 3) for dim in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        numbers = rng.integers(-128, 128, shape) if dtype == np.int8 else rng.random(shape)
        arrays[value.name] = np.asarray(16000 if dtype == np.int64 else numbers, dtype)  # the rate of a sound
    return arrays


def by_command(path, arrays, folder) -> list:
    np.savez(folder / "x.npz", **arrays)
    for words in (["compile", path, "-o", "model.so"], ["run", "model.so", "-i", "x.npz", "-o", "y.npz"]):
        subprocess.run([COMMAND, *words, "-q"], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    with np.load(folder / "y.npz") as outputs:
        return [outputs[value.name] for value in onnx.load(path).graph.output]


def in_python(executable, arrays) -> list:
    results = tilewright.VirtualMachine(executable)["main"](*arrays.values())
    return [each.numpy() for each in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("file", FILES)
def test_same_bits_three_ways(file, program, tmp_path):
    arrays = inputs_of(MODELS / file)
    expected = in_python(tilewright.compile(MODELS / file), arrays)
    assert all(np.isfinite(each).all() and each.size for each in expected)
    by_command_line = by_command(MODELS / file, arrays, tmp_path)
    without_compiler = run_program(program, tmp_path / "model.so", list(arrays.values()), tmp_path)
    for found in (by_command_line, without_compiler):
        for got, want in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, want)
