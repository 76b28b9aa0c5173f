"""Files that onnxruntime's optimizers and its quantizer write run, and give what onnxruntime gives."""

import contextlib
import io

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import tilewright

pytestmark = pytest.mark.timeout(120)
#: by network of export_testing: what onnxruntime makes of it
NETWORKS = {
    "Bert": {"FusedMatMul", "SkipLayerNormalization"},
    "GPT2": {"FusedMatMul", "FastGelu", "SkipLayerNormalization"},
    "Llama": {"FusedMatMul", "QuickGelu"},
    "CLIP vision": {"FusedMatMul", "QuickGelu", "SkipLayerNormalization"},
    "MobileNetV2": {"FusedConv"},
}


def operators_of(path) -> set:
    return {node.op_type for node in onnx.load(path).graph.node if node.domain == "com.microsoft"}


def runs_as_onnxruntime(path, inputs, rtol=1e-3, atol=2e-4):
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    expected = session.run(None, dict(zip(names, inputs, strict=True)))
    main = tilewright.VirtualMachine(tilewright.compile(str(path)))["main"]
    found = main(*map(tilewright.tensor, inputs))
    found = found if isinstance(found, tuple) else (found,)
    for got, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(got.numpy(), right, rtol=rtol, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_optimized_networks(name, tmp_path):
    import onnxruntime

    for package in ("torch", "transformers"):
        pytest.importorskip(package)
    import export_testing

    with contextlib.redirect_stdout(io.StringIO()):
        network, inputs = export_testing.network_of(name)
        model = export_testing.exported(network, inputs, False)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model, options)
    assert operators_of(options.optimized_model_filepath) == NETWORKS[name]
    runs_as_onnxruntime(options.optimized_model_filepath, [each.numpy() for each in inputs])


def small_network(path) -> None:
    """Convolutions with a residual sum, a pool and a product."""
    rng = np.random.default_rng(0)

    def weight(name, *shape):
        return numpy_helper.from_array(rng.standard_normal(shape).astype("float32") / 4, name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b1"], ["c2"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "r1"], ["s"]),
        helper.make_node("Sigmoid", ["s"], ["g"]),
        helper.make_node("Mul", ["s", "g"], ["m"]),
        helper.make_node("AveragePool", ["m"], ["a"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["a"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"]),
    ]
    weights = [
        weight("w1", 8, 3, 3, 3),
        weight("b1", 8),
        weight("w2", 8, 8, 3, 3),
        weight("w3", 8, 5),
        weight("b3", 5),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", 1, [1, 3, 12, 12])], [value("y", 1, [1, 5])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)


def test_quantized_network(tmp_path):
    quantization = pytest.importorskip("onnxruntime.quantization")
    rng = np.random.default_rng(1)
    pictures = [rng.standard_normal((1, 3, 12, 12)).astype("float32") for _ in range(4)]

    class Reader(quantization.CalibrationDataReader):
        rest = iter([{"x": each} for each in pictures])

        def get_next(self):
            return next(self.rest, None)

    small_network(tmp_path / "m.onnx")
    quantization.quantize_static(
        tmp_path / "m.onnx",
        tmp_path / "q.onnx",
        Reader(),
        quant_format=quantization.QuantFormat.QOperator,
    )
    assert {"QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearAveragePool", "QGemm"} <= operators_of(
        tmp_path / "q.onnx"
    )
    (step,) = [
        numpy_helper.to_array(each)
        for each in onnx.load(tmp_path / "q.onnx").graph.initializer
        if each.name == "y_scale"
    ]
    runs_as_onnxruntime(tmp_path / "q.onnx", pictures[:1], rtol=0, atol=1.01 * float(step))
