"""Quantized numbers and products of them; more is in test_quantized."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from node_testing import run_op
from onnx_testing import run_node

import tilewright

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


# ---- floats of 8 and 4 bits, and integers of 2 and 4 bits

KINDS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1fn"]
X = rng.standard_normal((5, 7)).astype("float32") * 50


def number(kind):
    return np.zeros((), getattr(ml_dtypes, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_quantize_to_small_floats(kind):
    scale = np.float32(0.25)
    (found,) = run_op("QuantizeLinear", [X, scale, number(kind)], opset=23)
    largest = float(ml_dtypes.finfo(kind).max)
    right = np.clip(X / scale, -largest, largest).astype(kind)
    np.testing.assert_array_equal(found.view("uint8"), right.view("uint8"))


def test_quantize_without_saturation():
    x = np.float32([1, 500, -500, np.nan])
    (found,) = run_op("QuantizeLinear", [x, np.float32(1), number(KINDS[0])], opset=23, saturate=0)
    np.testing.assert_array_equal(found.astype("float32"), [1, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("kind", KINDS)
def test_dequantize_small_floats(kind):
    q = X.astype(kind)
    columns = rng.uniform(0.5, 2, 7).astype("float32")
    (found,) = run_op("DequantizeLinear", [q, columns], opset=23, axis=1)
    np.testing.assert_array_equal(found, q.astype("float32") * columns)
    blocks = rng.uniform(0.5, 2, (5, 3)).astype("float32")
    (found,) = run_op("DequantizeLinear", [q, blocks], opset=23, axis=1, block_size=3)
    np.testing.assert_array_equal(found, q.astype("float32") * blocks.repeat(3, 1)[:, :7])


@pytest.mark.parametrize("kind", ["int2", "uint2", "int4", "uint4"])
def test_integers_that_share_bytes(kind):
    info = ml_dtypes.iinfo(kind)
    scale, zero = np.float32(0.5), np.array(1, kind)
    (q,) = run_op("QuantizeLinear", [X, scale, zero], opset=25)
    right = np.clip(np.rint(X / scale) + 1, int(info.min), int(info.max))
    np.testing.assert_array_equal(q.astype("int32"), right)
    (found,) = run_op("DequantizeLinear", [q, scale, zero], opset=25)
    np.testing.assert_array_equal(found, (right - 1) * 0.5)


def test_one_zero_point_in_a_list():
    q = np.array([-8, 3, 7], ml_dtypes.int4)
    (found,) = run_op("DequantizeLinear", [q, np.float32(2), np.array([1], ml_dtypes.int4)], opset=25)
    np.testing.assert_array_equal(found, [-18, 4, 12])


def test_a_zero_point_of_small_floats_moves_them():
    for kind in ("float4_e2m1fn", "float8_e4m3fn"):
        known = getattr(ml_dtypes, kind)
        zero, scale = np.array(1.5, known), np.float32(0.5)
        x = np.float32([-2, -0.5, 0, 0.3, 1, 2])
        right = (x / scale + np.float32(1.5)).astype(known)
        for constants in ((), (1, 2)):
            found = run_node("QuantizeLinear", [x, scale, zero], constants, opset=25)
            np.testing.assert_array_equal(found.view("uint8"), right.view("uint8"))
            back = run_node("DequantizeLinear", [right, scale, zero], constants, opset=25)
            np.testing.assert_array_equal(back, (right.astype("float32") - np.float32(1.5)) * scale)


def test_scales_that_are_powers_of_two():
    scale = np.array([0.25, 2, 8, 0.5, 1, 4, 16], ml_dtypes.float8_e8m0fnu)
    zero = np.zeros(7, "int8")
    wide = scale.astype("float32")
    found = run_node("QuantizeLinear", [X, scale, zero], opset=25)
    np.testing.assert_array_equal(found, np.clip(np.rint(X / wide), -128, 127).astype("int8"))
    kind = onnx.TensorProto.FLOAT
    back = run_node("DequantizeLinear", [found, scale, zero], opset=25, output_dtype=kind)
    np.testing.assert_array_equal(back, found.astype("float32") * wide)
    with pytest.raises(tilewright.UserError) as refused:
        run_node("DequantizeLinear", [found, scale, zero], opset=25)
    assert str(refused.value) == (
        'error: DequantizeLinear node that makes "y0": the result would have the dtype of the scale, float8_e8m0fnu\n'
        "help: set attribute output_dtype to float32, float16 or bfloat16"
    )


@pytest.mark.parametrize("kind", ["uint8", "float8_e4m3fn"])
def test_the_division_has_the_dtype_of_the_scale_or_of_the_attribute(kind):
    x = rng.uniform(0, 100, (5, 7)).astype("float16")
    scale, zero = np.float32(0.3), np.zeros((), getattr(ml_dtypes, kind, kind))

    def right(dtype):
        steps = x.astype(dtype) / scale.astype(dtype)
        return np.rint(steps).clip(0, 255).astype("uint8") if kind == "uint8" else steps.astype(zero.dtype)

    found = run_node("QuantizeLinear", [x, scale, zero], opset=25)
    np.testing.assert_array_equal(found.view("uint8"), right("float32").view("uint8"))
    found = run_node("QuantizeLinear", [x, scale, zero], opset=25, precision=onnx.TensorProto.FLOAT16)
    np.testing.assert_array_equal(found.view("uint8"), right("float16").view("uint8"))


def test_integers_of_32_bits_are_quantized():
    x = np.int32([-1000, -3, 0, 5, 900])
    found = run_node("QuantizeLinear", [x, np.float32(2), np.int8(1)], opset=25)
    np.testing.assert_array_equal(found, [-128, -1, 1, 3, 127])


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float8_e5m2fnuz"])
def test_quantized_products_of_small_floats(kind):
    """One scale for each row of a and each column of b."""
    known = np.dtype(getattr(ml_dtypes, kind))
    a, b = (rng.uniform(-2, 2, shape).astype("float32").astype(known) for shape in ((5, 7), (7, 3)))
    rows, columns = (rng.uniform(0.5, 2, count).astype("float32") for count in (5, 3))
    zeros, one = [np.full(count, 0.5).astype(known) for count in (5, 3)], np.float32(0.25)
    left = (a.astype("float32") - np.float32(0.5)) * rows[:, None]
    right = (b.astype("float32") - np.float32(0.5)) * columns
    wanted = (left @ right / one + np.float32(2)).astype("float32")
    found = run_node("QLinearMatMul", [a, rows, zeros[0], b, columns, zeros[1], one, np.array(2, known)])
    assert found.dtype == known
    largest = float(ml_dtypes.finfo(known).max)
    np.testing.assert_allclose(found.astype("float32"), wanted.clip(-largest, largest), rtol=0.13)
