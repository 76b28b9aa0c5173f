"""Networks that onnxruntime's quantize_static made, as QDQ and as operators on integers: what stays in bytes between kernels, and the
numbers, against onnxruntime and against a build without fusion."""

import re

import numpy as np
import pytest

import tilewright

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from quantized_networks import NETWORKS, examples, quantized  # noqa: E402

#: {network: most results of kernels that are float32 in any form}: what products of two activations read; a copy with
#: channels last of what a nearest resize, which has none, leaves with channels first
FLOATS = {"resnet": 0, "mobilenet": 0, "inception": 0, "yolo": 1, "transformer": 4}
KINDS = [
    ("QDQ", "QUInt8", "QInt8", True, False),
    ("QDQ", "QInt8", "QInt8", True, True),
    ("QDQ", "QInt8", "QInt8", False, False),
    ("QDQ", "QUInt8", "QUInt8", False, False),
    ("QOperator", "QUInt8", "QInt8", True, False),
    ("QOperator", "QInt8", "QInt8", False, True),
]


def compiled(path, activations="uint8", **context):
    config = {"integer_products.activations": activations} | context.pop("config", {})
    with tilewright.transform.PassContext(config=config, **context):
        return tilewright.compile(str(path))


def call(executable, x):
    return tilewright.VirtualMachine(executable)["main"](x).numpy()


def onnxruntime_of(path, x):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def float_buffers(executable):
    """The results of kernels of the graph that are float32 and are not what main returns."""
    script = executable.legalized.script()
    main = script[script.index("def main(") :]
    main = main[: main.index("return ")]
    results = dict(re.findall(r"(\w+): R\.Tensor\(\((.*?)\), dtype=\"float32\"\) = R\.call_tir\(", main))
    names = dict(re.findall(r"(\w+): R\.Tensor\(.*\) = (?:R\.reshape\()?(\w+)(?:,|$)", main, re.MULTILINE))
    given = re.findall(r"R\.output\((.*?)\)", main)[-1].split(", ")
    while given:
        results.pop(given[0], None)
        given = [*given[1:], *filter(None, [names.get(given[0])])]
    return results


def last_step(path):
    """The scale of what the network gives."""
    model = onnx.load(path)
    node = [each for each in model.graph.node if each.op_type == "DequantizeLinear"][-1]
    scale = next(each for each in model.graph.initializer if each.name == node.input[1])
    return float(onnx.numpy_helper.to_array(scale))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))
def test_bytes_between_layers(name, kind, tmp_path):
    form, activation, weight, per_channel, symmetric = kind
    model = NETWORKS[name]()
    path = quantized(
        model, tmp_path / "q.onnx", form=form, activation=activation, weight=weight,
        per_channel=per_channel, symmetric=symmetric,
    )  # fmt: skip
    executable = compiled(path)
    assert len(float_buffers(executable)) <= FLOATS[name], float_buffers(executable)
    step = last_step(path)
    unfused = compiled(path, disabled_pass=["quantize_before_moves"], config={"fuse_ops.max_size": 1})
    for x in examples(model, 3, 7):
        found = call(executable, x)
        np.testing.assert_array_equal(found, call(unfused, x))
        assert np.abs(found - onnxruntime_of(path, x)).max() < 1.01 * step


def test_machines_without_such_products_give_the_same(tmp_path):
    model = NETWORKS["resnet"]()
    path = quantized(model, tmp_path / "q.onnx")
    for x in examples(model, 3, 7):
        floats = call(compiled(path, ""), x)
        assert np.abs(floats - onnxruntime_of(path, x)).max() < 1.01 * last_step(path)
