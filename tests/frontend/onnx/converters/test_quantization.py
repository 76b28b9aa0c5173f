"""Quantized numbers and products of them; more is in test_quantized."""

import numpy as np
from onnx_testing import run_node

rng = np.random.default_rng(0)
A = rng.integers(0, 256, (5, 7)).astype("uint8")
B = rng.integers(-128, 128, (7, 3)).astype("int8")


def test_quantize_rounds_to_even_and_saturates():
    x = np.array([-9, -0.75, -0.25, 0.25, 0.75, 99], "float32")
    found = run_node("QuantizeLinear", [x, np.array(0.5, "float32"), np.array(3, "uint8")])
    np.testing.assert_array_equal(found, np.array([0, 1, 3, 3, 5, 201], "uint8"))


def test_dequantize_has_a_scale_for_each_column():
    scale, zero = np.array([0.5, 1, 2], "float32"), np.array([1, 0, -1], "int8")
    np.testing.assert_array_equal(
        run_node("DequantizeLinear", [B, scale, zero], axis=1), (B.astype("float32") - zero) * scale
    )


def test_one_zero_point_beside_a_scale_without_dimensions():
    x, scale, zero = np.int8([3, -7, 127]), np.float32(0.5), np.int8([2])
    for constants in ((), (1, 2)):
        found = run_node("DequantizeLinear", [x, scale, zero], constants)
        assert found.tolist() == [0.5, -4.5, 62.5]
        found = run_node("QuantizeLinear", [np.float32([0.5, -4.5, 62.5]), scale, zero], constants)
        assert (found.dtype, found.tolist()) == (np.int8, [3, -7, 127])


def test_dynamic_quantization():
    x = np.array([[-1, 0, 2.1875]], "float32")  # a scale of 1 / 80
    y, scale, zero = run_node("DynamicQuantizeLinear", [x], outputs=3)
    np.testing.assert_allclose(scale, 3.1875 / 255)
    assert zero == 80
    np.testing.assert_array_equal(y, [[0, 80, 255]])


def test_products_of_integers():
    zero = np.array(9, "uint8")
    found = run_node("MatMulInteger", [A, B, zero])
    np.testing.assert_array_equal(found, (A.astype("int32") - 9) @ B.astype("int32"))


def test_quantized_products():
    one, half = np.array(1, "float32"), np.array(0.5, "float32")
    zero_a, zero_b, zero = np.array(128, "uint8"), np.array(0, "int8"), np.array(0, "int8")
    small = (A % 4 + 126).astype("uint8")
    found = run_node(
        "QLinearMatMul", [small, one, zero_a, B // 16, half, zero_b, np.array(2, "float32"), zero]
    )
    sums = (small.astype("int32") - 128) @ (B // 16).astype("int32") / 4
    np.testing.assert_array_equal(found, np.clip(np.rint(sums), -128, 127).astype("int8"))


def test_convolutions_of_integers():
    x, w = A.reshape(1, 1, 5, 7), B[:2, :2].reshape(1, 1, 2, 2)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype("int32"), (2, 2), (2, 3))
    np.testing.assert_array_equal(
        run_node("ConvInteger", [x, w]), (windows * w.astype("int32")[0, 0]).sum((-2, -1))
    )
