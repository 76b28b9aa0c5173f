"""Models of older opsets become models of opset 13 that compute the same."""

import numpy as np
import pytest

import tilewright
from tilewright import models
from tilewright.models import opsets

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
FLOAT, INT = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
node = onnx.helper.make_node


def model(nodes, opset, shape=(3, 4, 5), constants=None, outputs=("y",)):
    tensors = [
        onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()
    ]
    graph = onnx.helper.make_graph(
        nodes,
        "g",
        [onnx.helper.make_tensor_value_info("x", FLOAT, shape)],
        [onnx.helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        tensors,
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=4)
    return made.SerializeToString()


def outputs(data, x):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


CHANGED = {
    "squeeze": (9, [node("Unsqueeze", ["x"], ["a"], axes=[0, 2]), node("Squeeze", ["a"], ["y"], axes=[0])]),
    "slice": (9, [node("Slice", ["x"], ["y"], starts=[1, 0], ends=[9, -1], axes=[0, 2])]),
    "slice of all": (9, [node("Slice", ["x"], ["y"], starts=[1, 0], ends=[2, 3])]),
    "clip": (10, [node("Clip", ["x"], ["y"], min=-0.5, max=0.25)]),
    "half a clip": (10, [node("Clip", ["x"], ["y"], max=0.25)]),
    "split": (11, [node("Split", ["x"], ["y", "z"], axis=1, split=[1, 3])]),
    "sum": (12, [node("ReduceSum", ["x"], ["y"], axes=[1], keepdims=0)]),
    "sum of all": (12, [node("ReduceSum", ["x"], ["y"])]),
    "softmax": (12, [node("Softmax", ["x"], ["y"])]),
    "softmax of the last": (9, [node("Softmax", ["x"], ["y"], axis=2)]),
    "logarithms": (11, [node("LogSoftmax", ["x"], ["y"], axis=0)]),
    "nothing": (8, [node("Relu", ["x"], ["y"])]),
}


@pytest.mark.parametrize("kind", CHANGED)
def test_computes_the_same(kind):
    opset, nodes = CHANGED[kind]
    names = list(nodes[-1].output)
    data = model(nodes, opset, outputs=names)
    made = opsets.raised(models.ModelFile(data))
    assert (made.opset, made.outputs) == (13, names)
    written = made.changed(made.nodes, {})
    x = np.random.default_rng(0).standard_normal((3, 4, 5)).astype("float32")
    for ours, theirs in zip(outputs(written, x), outputs(data, x), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_what_has_another_meaning():
    scales = {"s": np.ones(3, "float32")}
    data = model([node("Upsample", ["x", "s"], ["y"], name="up")], 9, constants=scales)
    assert opsets.raised(models.ModelFile(data)) == 'Upsample node "up"'
    read = models.ModelFile(model([node("Relu", ["x"], ["y"])], 13))
    assert opsets.raised(read) is read


@pytest.mark.parametrize("op", opsets.SAME_SINCE)
def test_the_list_agrees_with_the_definitions(op):
    """Between the opset that is listed and 13 no attribute goes or gets another default, no input goes, and all that came may be
    left out."""
    since, last = opsets.SAME_SINCE[op], onnx.defs.get_schema(op, 13)
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    for opset in range(max(since, 1), 13):
        first = onnx.defs.get_schema(op, opset)
        gone = set(first.attributes) - set(last.attributes) - {"consumed_inputs"}
        assert not gone, (op, opset, gone)
        assert not [
            name for name in set(last.attributes) - set(first.attributes) if last.attributes[name].required
        ]
        for name in set(first.attributes) & set(last.attributes):
            before, after = first.attributes[name].default_value, last.attributes[name].default_value
            assert before.SerializeToString() == after.SerializeToString(), (op, opset, name)
        added = list(last.inputs)[len(first.inputs) :]
        assert len(last.inputs) >= len(first.inputs) and all(each.option == optional for each in added)


def test_old_models_are_quantized_by_channel():
    random = np.random.default_rng(1)
    w = (random.standard_normal((8, 4, 3)) * np.arange(1, 9).reshape(8, 1, 1)).astype("float32")
    data = model([node("Conv", ["x", "w"], ["y"], name="c")], 8, constants={"w": w})
    made = models.quantize(data, {"x": random.standard_normal((9, 4, 5)).astype("float32")})
    assert made.notes == ["opset 8 became 13"]
    assert models.ModelFile(made.data).constant("c_weight_scale").shape == (8,)


def test_models_that_cannot_be_raised_have_one_scale():
    random = np.random.default_rng(1)
    w, s = random.standard_normal((8, 4, 3)).astype("float32"), np.array([1, 1, 2], "float32")
    nodes = [node("Conv", ["x", "w", "b"], ["c"], name="c"), node("Upsample", ["c", "s"], ["y"], name="up")]
    constants = {"w": w, "s": s, "b": random.standard_normal(8).astype("float32")}
    old = model(nodes, 9, constants=constants)
    with pytest.raises(tilewright.Unsupported) as error:
        models.quantize(old, {"x": np.ones((3, 4, 5), "float32")})
    assert str(error.value) == (
        'the model has opset 9, quantized layers need 10, and Upsample node "up"'
        " has another meaning there\n"
        "help: export it with a later opset, or convert it by onnx.version_converter"
    )
    nodes[1] = node("Resize", ["c", "s"], ["y"], name="up")
    data = model(nodes, 10, constants=constants)
    x = random.standard_normal((3, 4, 5)).astype("float32")
    made = models.quantize(data, {"x": x})
    assert made.notes == [
        'each weight has one scale: those by channel need opset 13, where Resize node "up" has another meaning'
    ]
    assert models.ModelFile(made.data).constant("c_weight_scale").shape == ()
    assert "note: each weight has one scale" in str(made)
    assert made.layers[0].sqnr_db > 30
    theirs = outputs(made.data, x)[0]
    ours = tilewright.VirtualMachine(tilewright.compile(made.data))["main"](x).numpy()
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_weights_that_a_node_reshapes_are_constants():
    w = np.random.default_rng(1).standard_normal((5, 7)).astype("float32")
    nodes = [node("Reshape", ["w", "s"], ["v"]), node("MatMul", ["x", "v"], ["y"], name="product")]
    constants = {"w": w.reshape(1, 5, 7), "s": np.array([5, -1])}
    made = models.quantize(model(nodes, 8, constants=constants), {"x": np.ones((6, 4, 5), "float32")})
    assert [layer.node for layer in made.layers] == ["product"]
    read = models.ModelFile(made.data)
    np.testing.assert_allclose(read.constant("product_weight_scale"), np.abs(w).max(axis=0) / 127, rtol=1e-6)
