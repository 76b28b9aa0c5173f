"""Networks that onnxruntime's quantize_static made, as QDQ and as operators on integers: what stays in bytes between kernels, and the
numbers, against onnxruntime and against a build without fusion."""

import re

import numpy as np
import pytest

import tilewright

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
from quantized_networks import NETWORKS, examples, quantized  # noqa: E402

#: {network: results of kernels that are float32 in any form}: norms before their quantization, and products of two activations with what
#: they read
FLOATS = {"resnet": 0, "mobilenet": 0, "inception": 0, "yolo": 0, "transformer": 10}
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
    results = re.findall(r"(\w+) = R.call_tir\(.*out_sinfo=R.Tensor\(\(([^)]*)\), dtype=\"float32\"\)", main)
    results = results or re.findall(r"(\w+) = R.call_tir\(.*R.Tensor\(\(([^)]*)\), \"float32\"\)\)", main)
    given = set(re.findall(r"R.output\(([^)]*)\)", main)[-1].split(", "))
    return [f"{name}[{shape}]" for name, shape in results if name not in given]
