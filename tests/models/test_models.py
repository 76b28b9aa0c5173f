"""Trained networks of ../shared/models give the outputs that are kept beside them."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import tilewright

SHARED = Path(__file__).resolve().parents[3] / "shared"
pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is absent")


def run(path, x, opt_level=2):
    with tilewright.transform.PassContext(opt_level=opt_level):
        vm = tilewright.VirtualMachine(tilewright.compile(path))
    result = vm["main"](tilewright.tensor(x))
    return [item.numpy() for item in result] if isinstance(result, tuple) else [result.numpy()]


@pytest.mark.parametrize("opt_level", [0, 1, 2, 3])
def test_fashion_mnist_mlp_equals_numpy_to_the_image(opt_level):
    folder = SHARED / "data/fashion_mnist"
    with gzip.open(folder / "t10k-images-idx3-ubyte.gz") as file:
        x = (np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255).astype("float32")
    params = np.load(folder / "fasionmnist_mlp_params.npz")
    expected = np.maximum(x @ params["w0"].T + params["b0"], 0) @ params["w1"].T + params["b1"]
    (logits,) = run(SHARED / "models/fashion_mnist/mlp.onnx", x, opt_level)
    assert np.array_equal(logits.argmax(axis=1), expected.argmax(axis=1))


def test_super_resolution():
    folder = SHARED / "models/zoo/super_resolution_10"
    io = np.load(folder / "io.npz")
    arrays = {name: io[name] for name in io.files}
    x = next(a for a in arrays.values() if a.shape[-1] == 224)
    y = next(a for a in arrays.values() if a.shape[-1] == 672)
    (out,) = run(folder / "model.onnx", np.ascontiguousarray(x, dtype="float32"))
    np.testing.assert_allclose(out, y, rtol=1e-3, atol=1e-4)


def test_vww_mobilenet():
    folder = SHARED / "models/mlperf_tiny"
    io = np.load(folder / "vww_io.npz")
    for image, expected in zip(io["images_uint8"], io["output_fp32"], strict=True):
        x = (image.reshape(1, 3, 96, 96) / 255).astype("float32")
        (out,) = run(folder / "vww96_mobilenetv1_fp32.onnx", x)
        np.testing.assert_allclose(out.reshape(-1), expected.reshape(-1), rtol=1e-3, atol=1e-4)


def test_keyword_transformer():
    folder = SHARED / "models/kwt1"
    io = np.load(folder / "io.npz")
    for sound, expected in zip(io["input"], io["output"], strict=True):
        (out,) = run(folder / "kwt1_keyword_transformer_fp32.onnx", sound[None])
        np.testing.assert_allclose(out[0], expected, rtol=1e-3, atol=1e-4)


def test_quantized_mobilenet():
    folder = SHARED / "models/mlperf_tiny"
    io = np.load(folder / "vww_io.npz")
    for image, expected in zip(io["images_uint8"], io["output_int8"], strict=True):
        x = (image.reshape(1, 3, 96, 96).astype("int16") - 128).astype("int8")
        (out,) = run(folder / "vww96_mobilenetv1_int8_qdq.onnx", x)
        assert np.abs(out.reshape(-1).astype("int16") - expected.astype("int16")).max() <= 2


MODELS = [
    "fashion_mnist/mlp.onnx",
    "mlperf_tiny/vww96_mobilenetv1_fp32.onnx",
    "ultraface/version-RFB-320.onnx",
    "zoo/mnist_8/model.onnx",
    pytest.param("zoo/super_resolution_10/model.onnx", marks=pytest.mark.slow),
]


@pytest.mark.peers
@pytest.mark.parametrize("model", MODELS)
def test_every_level_equals_onnxruntime(model):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = SHARED / "models" / model
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (first,) = session.get_inputs()
    shape = [extent if isinstance(extent, int) else 3 for extent in first.shape]
    x = np.random.default_rng(0).random(shape, dtype="float32")
    expected = session.run(None, {first.name: x})
    for opt_level in range(4):
        for got, want in zip(run(path, x, opt_level), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * max(1, np.abs(want).max()))


def test_a_truncated_file_is_refused(tmp_path):
    whole = (SHARED / "models/fashion_mnist/mlp.onnx").read_bytes()
    path = tmp_path / "cut.onnx"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(tilewright.UserError, match="cut.onnx"):
        tilewright.compile(path)


@pytest.mark.parametrize("model", MODELS)
def test_rules_take_every_kernel(model):
    module = tilewright.compile(SHARED / "models" / model).legalized
    kernels = [func for func in module.functions.values() if isinstance(func, tilewright.tir.PrimFunc)]
    assert kernels
    rejected = [each for func in kernels for each in tilewright.schedule.by_rules(func).rejections]
    # a softmax of two to ten classes, and rows of two or three numbers, are shorter than a vector
    choices = ("inline", "dot_products", "matrix_tiles")  # of blocks that other rules take
    others = [
        each
        for each in rejected
        if each[0] not in ("T_softmax_maxelem", "T_softmax_expsum") and each[1] not in choices
    ]
    assert {rule for _, rule, _ in others} <= {"vectorize"}
    assert all("of a vector that pays" in reason for _, _, reason in others)


@pytest.mark.parametrize(
    "name",
    [
        "kwt1/kwt1_keyword_transformer_fp32",
        "mlperf_tiny/vww96_mobilenetv1_fp32",
        "mlperf_tiny/vww96_mobilenetv1_int8_qdq",
        "ultraface/version-RFB-320",
        "zoo/mnist_8/model",
    ],
)
def test_memory_is_near_the_lower_bound(name):
    plans = tilewright.compile(SHARED / "models" / f"{name}.onnx").plans
    peak, bound = map(int, re.search(r"peak (\d+) bytes, lower bound (\d+) bytes", plans["main"]).groups())
    assert 0 < bound <= peak <= 1.05 * bound
