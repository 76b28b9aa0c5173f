"""Trained networks whole on devices: their numbers are those of the CPU."""

from pathlib import Path

import numpy as np
import pytest
from devices.programs import results
from devices.targets import TARGETS

import tilewright as tw

MODELS = Path(__file__).resolve().parents[3] / "shared/models"
pytestmark = pytest.mark.skipif(not MODELS.is_dir(), reason="../shared/models is absent")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("fashion_mnist/mlp.onnx", (5, 784)),
        ("zoo/mnist_8/model.onnx", (1, 1, 28, 28)),
        ("kwt1/kwt1_keyword_transformer_fp32.onnx", None),
        pytest.param("mlperf_tiny/vww96_mobilenetv1_fp32.onnx", (1, 3, 96, 96), marks=pytest.mark.slow),
    ],
)
def test_numbers_are_those_of_the_cpu(path, shape, target):
    if shape is None:
        x = np.load(MODELS / path.split("/")[0] / "io.npz")["input"][:1]
    else:
        x = np.random.default_rng(0).random(shape, "float32")
    model = str(MODELS / path)
    (found,) = results(tw.VirtualMachine(tw.compile(model, target=target)), [x])
    (expected,) = results(tw.VirtualMachine(tw.compile(model)), [x])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
