"""Memory of a process after it compiled a model: weights as kernels read them, not those that it began with as well."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

PROGRAM = """
import sys, tilewright

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])

def compiled(file):
    return tilewright.compile(file, target="llvm")

compiled(sys.argv[1])  # whatever a first compilation needs
before = resident()
executable = compiled(sys.argv[2])
print(resident() - before)
"""


def model_file(path, num_layers, size):
    """Products of 32 rows by different weights; the path of an ONNX file."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.random((size, size), "float32"), f"w{n}") for n in range(num_layers)
    ]
    nodes = [helper.make_node("MatMul", [f"x{n}", f"w{n}"], [f"x{n + 1}"]) for n in range(num_layers)]
    ends = [helper.make_tensor_value_info(f"x{n}", TensorProto.FLOAT, [32, size]) for n in (0, num_layers)]
    graph = helper.make_graph(nodes, "products", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.skipif(
    "clang_rt." in Path("/proc/self/maps").read_text(), reason="sanitizers keep what is freed"
)
def test_weights_are_there_once(tmp_path):
    """Found: 65 MB of weights as they were stayed for tensors of the same sizes, which never came."""
    files = [
        str(model_file(tmp_path / "small.onnx", 1, 130)),
        str(model_file(tmp_path / "large.onnx", 6, 1500)),
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *files], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    weight_bytes = 6 * 4 * 1500 * 1500
    assert 0.9 < int(done.stdout) / weight_bytes < 1.5
