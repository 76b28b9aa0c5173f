"""The trained networks of ../shared/models through `tilewright run` at every level, against the outputs kept beside them."""

import gzip
from pathlib import Path

import numpy as np
import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
MODELS = SHARED / "models"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is absent"),
]
LEVELS = pytest.mark.parametrize("opt_level", [0, 1, 2, 3])


@pytest.fixture
def run(command, tmp_path):
    """run(model, {input: array}, words...): the outputs of `tilewright run`, by name."""

    def run(model, inputs, *words):
        np.savez(tmp_path / "x.npz", **inputs)
        done = command("run", model, "-i", "x.npz", "-o", "y.npz", "--force", "-q", *words)
        assert (done.code, done.err) == (0, "")
        with np.load(tmp_path / "y.npz") as outputs:
            return {name: outputs[name] for name in outputs.files}

    return run


@pytest.fixture
def compiled(command):
    """compiled(model, opt_level): the library that `tilewright compile` made of it, for several runs."""

    def compile(model, opt_level):
        assert command("compile", model, "-o", "model.so", "--opt-level", opt_level, "-q").code == 0
        return "model.so"

    return compile


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-4)


@LEVELS
def test_fashion_mnist(run, opt_level):
    folder = SHARED / "data/fashion_mnist"
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        x = (np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255).astype("float32")
    params = np.load(folder / "fasionmnist_mlp_params.npz")
    expected = np.maximum(x @ params["w0"].T + params["b0"], 0) @ params["w1"].T + params["b1"]
    logits = run(MODELS / "fashion_mnist/mlp.onnx", {"x": x}, "--opt-level", opt_level)["logits"]
    close(logits, expected)
    assert np.array_equal(logits.argmax(axis=1), expected.argmax(axis=1))


def tensor_of(path):
    onnx = pytest.importorskip("onnx")
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return onnx.numpy_helper.to_array(tensor)


@LEVELS
def test_mnist_8(run, compiled, opt_level):
    folder = MODELS / "zoo/mnist_8"
    library = compiled(folder / "model.onnx", opt_level)
    for n in range(3):
        data = folder / f"test_data_set_{n}"
        outputs = run(library, {"Input3": tensor_of(data / "input_0.pb")})
        np.testing.assert_allclose(
            outputs["Plus214_Output_0"], tensor_of(data / "output_0.pb"), rtol=1e-3, atol=1e-3
        )


@LEVELS
def test_super_resolution(run, opt_level):
    folder = MODELS / "zoo/super_resolution_10"
    io = np.load(folder / "io.npz")
    outputs = run(folder / "model.onnx", {"input": io["input"]}, "--opt-level", opt_level)
    close(outputs["output"], io["output"])


@LEVELS
def test_ultraface_finds_35_85_and_16_faces(run, compiled, opt_level):
    io = np.load(MODELS / "ultraface/io_RFB-320.npz")
    library = compiled(MODELS / "ultraface/version-RFB-320.onnx", opt_level)
    found = []
    for image, scores, boxes in zip(io["input"], io["scores"], io["boxes"], strict=True):
        outputs = run(library, {"input": image[None]})
        close(outputs["scores"][0], scores)
        close(outputs["boxes"][0], boxes)
        found.append(int((outputs["scores"][0, :, 1] > 0.7).sum()))
    assert found == [35, 85, 16]


@LEVELS
def test_visual_wake_words(run, compiled, opt_level):
    folder = MODELS / "mlperf_tiny"
    io = np.load(folder / "vww_io.npz")
    library = compiled(folder / "vww96_mobilenetv1_fp32.onnx", opt_level)
    for image, expected in zip(io["images_uint8"], io["output_fp32"], strict=True):
        x = (image.reshape(1, 3, 96, 96) / 255).astype("float32")
        close(run(library, {"input": x})["output"][0], expected)
