"""Runs the program `tilewright` as a user does, on small ONNX models made here."""

import dataclasses
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "bin" / "tilewright"
PROGRAM = shutil.which("tilewright") or (str(BUILT) if BUILT.exists() else None)


@dataclasses.dataclass
class Done:
    """The output and the exit code of one run of the program."""

    code: int
    out: str
    err: str


@pytest.fixture
def program():
    """The path of the program."""
    if PROGRAM is None:
        pytest.skip("tilewright is not built")
    return PROGRAM


@pytest.fixture
def command(program, tmp_path):
    """command("run", "model.onnx", ...): runs the program in tmp_path."""

    def run(*words: object) -> Done:
        done = subprocess.run(
            [program, *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def save_model(tmp_path):
    """save_model(nodes, inputs, outputs, initializers): writes tmp_path/model.onnx and returns its name.

    nodes         onnx nodes
    inputs        {name: (element type, shape)}, likewise outputs
    initializers  {name: array or TensorProto}
    """
    onnx = pytest.importorskip("onnx")

    def save(nodes, inputs, outputs, initializers=None, name="model.onnx"):
        values = [
            [onnx.helper.make_tensor_value_info(key, *value) for key, value in values.items()]
            for values in (inputs, outputs)
        ]
        tensors = []
        for key, value in (initializers or {}).items():
            tensors.append(
                onnx.numpy_helper.from_array(value, key) if isinstance(value, np.ndarray) else value
            )
        graph = onnx.helper.make_graph(nodes, "graph", *values, tensors)
        opsets = [onnx.helper.make_opsetid("", 17)]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
        (tmp_path / name).write_bytes(model.SerializeToString())
        return name

    return save


@pytest.fixture
def affine(save_model):
    """A model y = x @ w + b with x float32[n, 3], y float32[n, 2]; its arrays are affine_weights()."""
    from onnx import TensorProto, helper

    w, b = affine_weights()
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="gemm")]
    return save_model(
        nodes,
        {"x": (TensorProto.FLOAT, ["n", 3])},
        {"y": (TensorProto.FLOAT, ["n", 2])},
        {"w": w, "b": b},
    )


def affine_weights():
    return np.array([[1, 2], [3, 4], [5, 6]], "float32"), np.array([0.5, -0.5], "float32")
