"""tilewright quantize: models of integers that give nearly the same here and in onnxruntime, errors by layer, and what is refused."""

import json
import os
import sys

import numpy as np
import pytest

import tilewright
from tilewright import models
from tilewright.models.calibrate import ranges, threshold

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
FLOAT = onnx.TensorProto.FLOAT
node = onnx.helper.make_node


@pytest.fixture(autouse=True)
def this_python(monkeypatch):
    monkeypatch.setenv("TILEWRIGHT_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


@pytest.fixture
def network(save_model, tmp_path):
    """Convolutions with a residual sum and a pool, and a product; x.npz has eleven examples."""
    random = np.random.default_rng(0)

    def weight(*shape):
        return (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("float32")

    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], name="stem", pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"], name="relu"),
        node("Conv", ["r1", "w2"], ["c2"], name="block", pads=[1, 1, 1, 1]),
        node("Add", ["c2", "r1"], ["s"], name="sum"),
        node("MaxPool", ["s"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p", "w3", "b3"], ["c3"], name="last"),
        node("GlobalAveragePool", ["c3"], ["g"], name="mean"),
        node("Flatten", ["g"], ["f"], name="flat"),
        node("Gemm", ["f", "w4", "b4"], ["y"], name="head", transB=1),
    ]
    weights = {
        "w1": weight(8, 3, 3, 3),
        "b1": weight(8),
        "w2": weight(8, 8, 3, 3),
        "w3": weight(16, 8, 1, 1),
        "b3": weight(16),
        "w4": weight(5, 16),
        "b4": weight(5),
    }
    np.savez(tmp_path / "x.npz", x=random.standard_normal((11, 3, 8, 8)).astype("float32"))
    return save_model(nodes, {"x": (FLOAT, ["n", 3, 8, 8])}, {"y": (FLOAT, ["n", 5])}, weights)


def outputs(path, x, level="ORT_DISABLE_ALL"):
    """What tilewright and onnxruntime give for a model."""
    ours = tilewright.VirtualMachine(tilewright.compile(path))["main"](x).numpy()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return ours, session.run(None, {"x": x})[0]


@pytest.mark.parametrize("method", ["minmax", "entropy"])
def test_a_network_of_integers(command, network, tmp_path, method):
    done = command(
        "quantize", network, "-c", "x.npz", "-o", "q.onnx", "--method", method, "--report", "r.json"
    )
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[:5]] == [
        "layer",
        "stem",
        "block",
        "last",
        "head",
    ]
    assert done.out.splitlines()[-1].startswith("wrote q.onnx: ")
    report = json.loads((tmp_path / "r.json").read_text())
    assert [layer["node"] for layer in report["layers"]] == ["stem", "block", "last", "head"]
    assert all(layer["sqnr_db"] > 20 for layer in report["layers"])
    assert report["not_quantized"] == {}
    model = onnx.load(tmp_path / "q.onnx")
    onnx.checker.check_model(model, full_check=True)
    kinds = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    assert not {"w1", "w2", "w3", "w4", "b1", "b3", "b4"} & set(kinds)
    x = np.load(tmp_path / "x.npz")["x"]
    right, _ = outputs(str(tmp_path / network), x)
    ours, theirs = outputs(str(tmp_path / "q.onnx"), x)
    step = np.abs(right).max() / 255
    assert np.abs(ours - right).max() < 8 * step
    assert np.abs(ours - theirs).max() < 2 * step


def test_scales_of_weights_are_by_channel(network, tmp_path):
    x = np.load(tmp_path / "x.npz")["x"]
    made = models.ModelFile(models.quantize(tmp_path / network, {"x": x}).data)
    w1 = models.ModelFile(tmp_path / network).constant("w1")
    scale = made.constant("stem_weight_scale")
    np.testing.assert_allclose(scale, np.abs(w1).max(axis=(1, 2, 3)) / 127, rtol=1e-6)
    back = made.constant("stem_weight_quantized") * scale.reshape(-1, 1, 1, 1)
    assert np.abs(back - w1).max() <= scale.max() / 2 * 1.001
    assert made.constant("head_weight_scale").shape == (5,)
    assert made.constant("head_bias_quantized").dtype == np.int32


def test_values_between_layers_are_rounded_once(network, tmp_path):
    """The sum and the pool are between layers; what only the mean reads stays as it is."""
    x = np.load(tmp_path / "x.npz")["x"]
    made = models.ModelFile(models.quantize(tmp_path / network, {"x": x}).data)
    rounded = {each.inputs[0] for each in made.nodes if each.op == "QuantizeLinear"}
    assert rounded == {"x", "r1", "c2", "s", "p", "f", "g", "c3"}
    np.testing.assert_array_equal(made.constant("s_scale"), made.constant("p_scale"))


def test_weights_of_seven_bits_do_not_overflow_sums_of_sixteen(command, network, tmp_path):
    done = command("quantize", network, "-c", "x.npz", "-o", "q.onnx", "--weight-bits", 7)
    assert done.code == 0
    assert np.abs(models.ModelFile(tmp_path / "q.onnx").constant("stem_weight_quantized")).max() == 63
    x = np.load(tmp_path / "x.npz")["x"]
    right, _ = outputs(str(tmp_path / network), x)
    ours, theirs = outputs(str(tmp_path / "q.onnx"), x, "ORT_ENABLE_ALL")
    step = np.abs(right).max() / 255
    assert np.abs(ours - right).max() < 16 * step and np.abs(ours - theirs).max() < 4 * step


def test_a_layer_that_is_kept(command, network, tmp_path):
    done = command("quantize", network, "-c", "x.npz", "-o", "q.onnx", "--keep", "head", "--keep", "stem")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["block", "last"]
    assert lines[3:5] == ["not quantized: stem: asked for", "not quantized: head: asked for"]
    ours, theirs = outputs(str(tmp_path / "q.onnx"), np.load(tmp_path / "x.npz")["x"])
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_products_of_odd_shapes_and_names_that_are_taken(save_model, tmp_path):
    random = np.random.default_rng(1)
    w, v = (random.standard_normal(shape).astype("float32") for shape in ((7, 5), (5, 127)))
    nodes = [
        node("MatMul", ["x", "w"], ["x_scale"], name="first"),
        node("MatMul", ["x_scale", "v"], ["a"], name="second"),
        node("MatMul", ["a", "a"], ["y"], name="square"),
    ]
    path = save_model(nodes, {"x": (FLOAT, [127, 7])}, {"y": (FLOAT, None)}, {"w": w, "v": v})
    x = random.standard_normal((3, 127, 7)).astype("float32")
    made = models.quantize(tmp_path / path, {"x": x}, tmp_path / "q.onnx")
    assert [layer.node for layer in made.layers] == ["first", "second"]
    assert made.left == {"square": "its weight is no constant"}
    ours, theirs = outputs(str(tmp_path / "q.onnx"), x[0])
    np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=np.abs(theirs).max() * 0.01)


def refused(model, calibration, **options):
    with pytest.raises((tilewright.UserError, tilewright.Unsupported)) as error:
        models.quantize(model, calibration, **options)
    return str(error.value)


def test_what_is_refused(network, save_model, tmp_path):
    path, x = tmp_path / network, np.load(tmp_path / "x.npz")["x"]
    assert refused(path, {"x": x}, method="mean") == (
        'the method of calibration is "mean"\nhelp: it is minmax or entropy'
    )
    assert refused(path, {"x": x}, weight_bits=4) == "weight_bits is 4\nhelp: it is 7 or 8"
    assert refused(path, {"x": x}, keep=["stm"]) == (
        'keep: there is no node "stm"\nhelp: names of nodes are needed'
    )
    assert refused(path, {"x": x[0, 0]}) == (
        'the examples of input "x" have shape [8, 8], but it has 4 dimensions\nhelp: the first axis counts samples'
    )
    assert refused(path, {"x": x[:0]}) == (
        "there is no example\nhelp: --calibration takes an .npz file with arrays of the inputs"
    )
    assert refused(path, {"x": x * np.inf}) == (
        'value "x" goes from -inf to inf over the examples\nhelp: `tilewright diff --watch inf` says where that begins'
    )
    assert refused(path, {"x": x}, path=tmp_path / "no/q.onnx") == (
        f'"{tmp_path}/no/q.onnx" cannot be written: No such file or directory\nhelp: name another file'
    )
    plain = save_model(
        [node("MatMul", ["x", "x"], ["y"], name="square")], {"x": (FLOAT, [3, 3])}, {"y": (FLOAT, None)}
    )
    assert refused(tmp_path / plain, {"x": np.ones((3, 3), "float32")}) == (
        "the model has no layer to quantize: square: its weight is no constant\n"
        "help: convolutions and matrix products with constant weights of float32 can be"
    )
    assert refused(tmp_path / plain, {"x": np.ones((4, 3), "float32")}) == (
        'the examples of input "x" have 4 rows, which are no multiple of 3\nhelp: the first axis counts samples'
    )


def test_transposed_convolutions(save_model, tmp_path):
    random = np.random.default_rng(2)
    w, v, b = (
        random.standard_normal(shape).astype("float32") for shape in ((4, 7, 3, 3), (8, 3, 2, 2), (7,))
    )
    nodes = [
        node("ConvTranspose", ["x", "w", "b"], ["a"], name="up", strides=[2, 2]),
        node("Relu", ["x"], ["r"]),
        node("Concat", ["r", "x"], ["c"], axis=1),
        node("ConvTranspose", ["c", "v"], ["d"], name="groups", group=2),
        node("GlobalAveragePool", ["d"], ["g"]),
        node("GlobalAveragePool", ["a"], ["h"]),
        node("Concat", ["g", "h"], ["y"], axis=1),
    ]
    path = save_model(
        nodes, {"x": (FLOAT, ["n", 4, 5, 7])}, {"y": (FLOAT, ["n", 13, 1, 1])}, {"w": w, "v": v, "b": b}
    )
    x = random.standard_normal((5, 4, 5, 7)).astype("float32")
    made = models.quantize(tmp_path / path, {"x": x}, tmp_path / "q.onnx")
    assert [layer.node for layer in made.layers] == ["up", "groups"]
    assert all(layer.sqnr_db > 30 for layer in made.layers)
    read = models.ModelFile(made.data)
    scale = read.constant("up_weight_scale")
    np.testing.assert_allclose(scale, np.abs(w).max(axis=(0, 2, 3)) / 127, rtol=1e-6)
    assert read.constant("groups_weight_scale").shape == (3,)  # shared by the groups
    assert read.constant("up_bias_quantized").dtype == np.int32
    onnx.checker.check_model(onnx.load(tmp_path / "q.onnx"), full_check=True)
    ours, theirs = outputs(str(tmp_path / "q.onnx"), x)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_layers_of_branches_stay_as_they_are(save_model, tmp_path):
    random = np.random.default_rng(3)
    w = random.standard_normal((7, 7)).astype("float32")
    value = onnx.helper.make_tensor_value_info
    then = onnx.helper.make_graph([node("MatMul", ["a", "w"], ["t"])], "then", [], [value("t", FLOAT, None)])
    other = onnx.helper.make_graph([node("Neg", ["a"], ["e"])], "else", [], [value("e", FLOAT, None)])
    nodes = [
        node("MatMul", ["x", "w"], ["a"], name="first"),
        node("ReduceSum", ["a"], ["s"], keepdims=0),
        node("Greater", ["s", "zero"], ["is_more"]),
        node("If", ["is_more"], ["b"], name="either", then_branch=then, else_branch=other),
        node("MatMul", ["b", "w"], ["y"], name="last"),
    ]
    constants = {"w": w, "zero": np.float32(0)}
    constants = {name: np.asarray(array) for name, array in constants.items()}
    path = save_model(nodes, {"x": (FLOAT, ["n", 7])}, {"y": (FLOAT, None)}, constants)
    x = random.standard_normal((5, 7)).astype("float32")
    made = models.quantize(tmp_path / path, {"x": x}, tmp_path / "q.onnx")
    assert made.left == {"either": '1 layer inside of If node "either", whose graphs stay as they are'}
    assert [layer.node for layer in made.layers] == ["first", "last"]
    ours, theirs = outputs(str(tmp_path / "q.onnx"), x)
    np.testing.assert_allclose(ours, theirs, atol=np.abs(theirs).max() * 0.01)


def test_models_of_float16(save_model, tmp_path):
    half = onnx.TensorProto.FLOAT16
    path = save_model(
        [node("MatMul", ["x", "w"], ["y"], name="product")],
        {"x": (half, [3, 3])},
        {"y": (half, None)},
        {"w": np.ones((3, 3), "float16")},
    )
    assert refused(tmp_path / path, {"x": np.ones((3, 3), "float16")}) == (
        "the model has no layer to quantize: product: its weight is float16\n"
        "help: convolutions and matrix products with constant weights of float32 can be"
    )


def test_parts_that_only_a_concat_reads_have_its_range(save_model, tmp_path):
    random = np.random.default_rng(4)
    w, v = random.standard_normal((7, 5)).astype("float32"), random.standard_normal((10, 3)).astype("float32")
    nodes = [
        node("MatMul", ["x", "w"], ["a"], name="first"),
        node("MatMul", ["x", "w9"], ["b"], name="second"),
        node("Concat", ["a", "b"], ["c"], axis=1),
        node("MatMul", ["c", "v"], ["y"], name="last"),
    ]
    constants = {"w": w, "w9": w * 9, "v": v}
    path = save_model(nodes, {"x": (FLOAT, ["n", 7])}, {"y": (FLOAT, None)}, constants)
    x = random.standard_normal((127, 7)).astype("float32")
    made = models.ModelFile(models.quantize(tmp_path / path, {"x": x}, tmp_path / "q.onnx").data)
    np.testing.assert_array_equal(made.constant("a_scale"), made.constant("c_scale"))
    np.testing.assert_array_equal(made.constant("b_scale"), made.constant("c_scale"))
    ours, theirs = outputs(str(tmp_path / "q.onnx"), x)
    np.testing.assert_allclose(ours, theirs, atol=np.abs(theirs).max() * 0.01)


def test_inputs_with_different_numbers_of_examples(save_model, tmp_path):
    kinds = {"x": (FLOAT, [3, 3]), "z": (FLOAT, [3, 3])}
    path = save_model(
        [node("MatMul", ["x", "w"], ["a"]), node("Add", ["a", "z"], ["y"])],
        kinds,
        {"y": (FLOAT, None)},
        {"w": np.ones((3, 3), "float32")},
    )
    text = refused(tmp_path / path, {"x": np.ones((6, 3), "float32"), "z": np.ones((3, 3), "float32")})
    assert text == (
        "the examples of the inputs are for different numbers of calls: 2 of x, 1 of z\nhelp: the first axis counts samples"
    )


def test_the_command_says_what_is_wrong(command, network):
    done = command("quantize", network, "-c", "x.npz", "-o", "no/q.onnx")
    assert (done.code, done.err) == (
        2,
        'error: "no/q.onnx" cannot be written: No such file or directory\nhelp: name another file\n',
    )
    done = command("quantize", network, "-c", "x.npz", "-o", "q.onnx", "--report", "no/r.json")
    assert (
        done.err
        == 'error: "no/r.json" cannot be written: No such file or directory\nhelp: name another file\n'
    )


def test_ranges_are_cut_where_that_loses_least():
    even = np.full(2048, 100.0)
    assert threshold(even, 128) == 1
    few = np.floor(1e5 * np.exp(-np.arange(2048) / 60))
    few[-1] = 1
    assert 0.1 < threshold(few, 128) < 0.5
    assert threshold(np.zeros(2048), 128) == 1


def test_zeros_cut_no_range(save_model, tmp_path):
    """They are represented exactly: how many a relu makes says nothing about what clipping loses."""
    path = save_model([node("Relu", ["x"], ["y"])], {"x": (FLOAT, ["n", 127])}, {"y": (FLOAT, None)})
    model = models.ModelFile(tmp_path / path)
    x = np.random.default_rng(5).standard_normal((32, 127)).astype("float32")
    found = [
        ranges(model, ["y"], [{"x": each}], "entropy")["y"] for each in (x, np.concatenate([x, -np.abs(x)]))
    ]
    assert found[0] == found[1] and 0.3 * x.max() < found[0][1] <= x.max()
