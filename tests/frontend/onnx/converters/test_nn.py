"""Convolutions and Gemm."""

import numpy as np
from onnx_testing import run_node

rng = np.random.default_rng(0)
IMAGE = rng.integers(-3, 4, (2, 3, 7, 5)).astype("float32")
WEIGHT = rng.integers(-3, 4, (4, 3, 3, 3)).astype("float32")


def convolved(image, weight, stride):
    rows = (image.shape[2] - weight.shape[2]) // stride + 1
    columns = (image.shape[3] - weight.shape[3]) // stride + 1
    result = np.zeros((image.shape[0], weight.shape[0], rows, columns), "float32")
    for y in range(rows):
        for x in range(columns):
            window = image[:, :, y * stride : y * stride + 3, x * stride : x * stride + 3]
            result[:, :, y, x] = np.einsum("ncij,ocij->no", window, weight)
    return result


def test_convolution():
    bias = np.arange(4, dtype="float32")
    padded = np.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (1, 1)])
    np.testing.assert_array_equal(
        run_node("Conv", [IMAGE, WEIGHT, bias], pads=[1, 1, 1, 1], strides=[2, 2]),
        convolved(padded, WEIGHT, 2) + bias[:, None, None],
    )


def test_transposed_convolution_is_that_of_the_padded_image():
    padded = np.pad(IMAGE, [(0, 0), (0, 0), (2, 2), (2, 2)])
    mirrored = WEIGHT.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1].copy()
    np.testing.assert_array_equal(run_node("ConvTranspose", [IMAGE, mirrored]), convolved(padded, WEIGHT, 1))


def test_gemm():
    a, b, c = IMAGE[0, 0], IMAGE[1, 0], WEIGHT[0, 0, 0, :1]
    np.testing.assert_array_equal(
        run_node("Gemm", [a, b, c], transA=1, alpha=0.5, beta=2.0), 0.5 * a.T @ b + 2 * c
    )
