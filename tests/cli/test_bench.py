"""tilewright bench: the figures are there and make sense."""

import json

import pytest


@pytest.fixture
def product(save_model):
    """y = x @ w with x float32[8, 64], w float32[64, 32]."""
    import numpy as np
    from onnx import TensorProto, helper

    return save_model(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        {"x": (TensorProto.FLOAT, [8, 64])},
        {"y": (TensorProto.FLOAT, [8, 32])},
        {"w": np.ones((64, 32), "float32")},
    )


def test_json(command, product):
    result = json.loads(command("bench", product, "--repeat", 20, "--threads", 1, "--json", "-q").out)
    assert result["inputs"] == [{"name": "x", "type": "float32[8, 64]"}]
    assert (result["threads"], result["calls"]) == (1, 20)
    latency = result["latency_s"]
    assert 0 < latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p99"]
    assert result["memory_bytes"]["constants"] == 64 * 32 * 4
    assert result["memory_bytes"]["process_peak"] > 1_000_000
    assert sum(kernel["flops"] for kernel in result["kernels"]) == 2 * 8 * 64 * 32
    assert all(kernel["calls"] == 1 and kernel["seconds"] > 0 for kernel in result["kernels"])


def test_library_knows_its_operations(command, product):
    command("compile", product, "-o", "model.so")
    result = json.loads(command("bench", "model.so", "--repeat", 5, "--json", "-q").out)
    assert result["target"] == "llvm"
    assert sum(kernel["flops"] for kernel in result["kernels"]) == 2 * 8 * 64 * 32


@pytest.mark.parametrize("is_compiled", [False, True], ids=["onnx", "library"])
def test_operations_of_symbolic_shapes(command, affine, is_compiled):
    model, level = affine, ("--opt-level", 0)
    if is_compiled:
        command("compile", affine, "-o", "model.so", *level)
        model, level = "model.so", ()
    result = json.loads(command("bench", model, "--repeat", 5, "--dim", "n=7", "--json", "-q", *level).out)
    flops = {kernel["name"]: kernel["flops"] for kernel in result["kernels"]}
    assert flops == {"matmul": 2 * 7 * 3 * 2, "add": 7 * 2}


def test_table(command, affine):
    done = command("bench", affine, "--repeat", 5, "--threads", 1, "--opt-level", 0)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "input     x  float32[1, 3]"
    assert lines[1].startswith("latency   p50 ") and lines[1].endswith(" us  (5 calls, 1 thread)")
    assert lines[2].startswith("memory    ") and lines[2].endswith(" peak of the process")
    assert lines[4].split() == ["kernel", "calls", "time", "share", "GFLOP/s"]
    assert sorted(line.split()[0] for line in lines[5:]) == ["add", "in", "matmul"]
