"""Operators as opset 1 to 6 have them, and those that ended with opset 9."""

import numpy as np
import pytest
from node_testing import refusal_of, run_op

import tilewright

rng = np.random.default_rng(0)
X = rng.standard_normal((2, 3, 5, 7)).astype("float32")


def check(op, inputs, right, outputs=1, rtol=1e-6, **more):
    found = run_op(op, inputs, outputs, **more)[0]
    np.testing.assert_allclose(found, right, rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
def test_operands_at_an_axis(op):
    b = rng.uniform(1, 2, (3, 5)).astype("float32")
    right = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[op](X, b[:, :, None])
    for opset in (1, 6):
        check(op, [X, b], right, opset=opset, broadcast=1, axis=1)
    check(op, [X, b], right, opset=6, broadcast=1, axis=-3)


def test_operands_at_the_end():
    b = rng.standard_normal((5, 7)).astype("float32")
    check("Add", [X, b], X + b, opset=6, broadcast=1)
    check("Pow", [np.abs(X), np.float32([2])], np.abs(X) ** 2, opset=1, broadcast=1)
    check("Add", [X, X], X + X, opset=6)


def test_comparisons_and_logic():
    a, b = rng.integers(0, 3, (2, 3, 5)), rng.integers(0, 3, (2,))
    for op, right in {"Equal": np.equal, "Less": np.less, "Greater": np.greater}.items():
        a, b = (a, b) if op == "Equal" else (a.astype("float32"), b.astype("float32"))
        check(op, [a, b], right(a, b[:, None, None]), opset=6, broadcast=1, axis=0)
    for op, right in {"And": np.logical_and, "Or": np.logical_or, "Xor": np.logical_xor}.items():
        check(op, [a > 1, b > 1], right(a > 1, (b > 1)[:, None, None]), opset=1, broadcast=1, axis=0)


def test_operands_that_do_not_fit():
    b = np.zeros((3, 5), "float32")
    assert refusal_of("Add", [X, b], opset=6, broadcast=1, axis=3) == (
        'error: Add node "n": axis is 3, where 2 dimensions of input 1 do not fit into 4 of input 0'
    )
    assert refusal_of("Add", [X, b], opset=6) == (
        'error: Add node "n": the inputs are [2, 3, 5, 7] and [3, 5], and broadcast is 0'
    )


def test_open_extents():
    b = rng.standard_normal((3,)).astype("float32")
    check(
        "Mul",
        [X, b],
        X * b[:, None, None],
        opset=6,
        broadcast=1,
        axis=1,
        shapes=[["n", "c", "h", "w"], ["c"]],
    )


def test_a_slope_for_each_channel():
    slope = np.float32([0.5, 2, -1])
    check("PRelu", [X, slope], np.where(X < 0, slope[:, None, None] * X, X), opset=6)
    check("PRelu", [X, np.float32([0.5])], np.where(X < 0, np.float32(0.5) * X, X), opset=1)


def test_memory_hints_are_skipped():
    check("Relu", [X], np.maximum(X, 0), opset=1, consumed_inputs=[0])
    assert refusal_of("Relu", [X], opset=6, consumed_inputs=[0]).startswith(
        'error: Relu node "n": there is no attribute "consumed_inputs"'
    )


def test_batch_normalization():
    scale, bias, mean, var = (rng.uniform(1, 2, 3).astype("float32") for _ in range(4))
    at = (slice(None), None, None)
    right = (X - mean[at]) / np.sqrt(var[at] + 1e-5) * scale[at] + bias[at]
    check("BatchNormalization", [X, scale, bias, mean, var], right, opset=6, is_test=1, rtol=1e-4)
    axes = (0, 2, 3)
    own_mean, own_var = X.mean(axes), X.var(axes)
    right = (X - own_mean[at]) / np.sqrt(own_var[at] + 1e-5) * scale[at] + bias[at]
    check("BatchNormalization", [X, scale, bias, mean, var], right, opset=6, rtol=1e-4)


def test_dropout_passes_on():
    check("Dropout", [X], X, opset=1, ratio=0.5)
    check("Dropout", [X], X, opset=6, is_test=1)


def test_dtypes_are_names():
    check("Cast", [X], X.astype("int32"), opset=5, to="INT32")
    check("Cast", [X], X.astype("int64"), opset=6, to=7)
    assert refusal_of("Cast", [X], opset=1, to="REAL") == (
        'error: Cast node "n": attribute "to" is "REAL", which ONNX does not know\nhelp: e.g. "FLOAT"'
    )


def test_concat_has_axis_1():
    check("Concat", [X, X], np.concatenate([X, X], 1), opset=1)
    check("Concat", [X, X], np.concatenate([X, X], 0), opset=3, axis=0)


def test_gemm():
    a, b, c = (rng.standard_normal(shape).astype("float32") for shape in ((5, 7), (7, 3), (3,)))
    check("Gemm", [a, b, c], a @ b + c, opset=6, broadcast=1, rtol=1e-5)


def test_pad_has_paddings():
    check("Pad", [X], np.pad(X, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=3), opset=1,
          paddings=[0, 0, 1, 0, 0, 0, 0, 2], value=3.0)  # fmt: skip


def test_reshape_has_a_shape():
    check("Reshape", [X], X.reshape(2, -1, 7), opset=1, shape=[0, -1, 7])


def test_selu_has_other_numbers():
    right = np.float32(1.0507) * np.where(X > 0, X, np.float32(1.6732) * (np.exp(X) - 1))
    check("Selu", [X], right, opset=1, rtol=1e-5)


def test_split_by_an_attribute_and_by_an_input():
    low, high = run_op("Split", [X], outputs=2, opset=1, axis=2, split=[2, 3])
    np.testing.assert_array_equal(low, X[:, :, :2])
    np.testing.assert_array_equal(high, X[:, :, 2:])


def test_tile_repeats_one_dimension():
    from node_testing import model_of, run
    from onnx import numpy_helper

    model = model_of("Tile", [X, np.int64([3]), np.int64([1])], opset=1)
    for name, value in (("x1", 3), ("x2", 1)):
        model.graph.initializer.append(numpy_helper.from_array(np.int64([value]), name))
    np.testing.assert_array_equal(run(model, [X])[0], np.tile(X, (1, 3, 1, 1)))
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.int64([3, 2]), "x1"))
    with pytest.raises(tilewright.UserError) as refused:
        tilewright.frontend.onnx.from_onnx(model)
    assert str(refused.value) == 'error: Tile node "n": tiles has 2 elements and axis 1, expected 1 each'


def test_upsample():
    right = X.repeat(2, 2).repeat(3, 3)
    check("Upsample", [X], right, opset=1, height_scale=2.0, width_scale=3.0, mode="nearest")


def test_lp_pool():
    windows = np.lib.stride_tricks.sliding_window_view(X, (2, 2), (2, 3))
    check("LpPool", [X], (windows**2).sum((-2, -1)) ** 0.5, opset=1, p=2.0, kernel_shape=[2, 2], rtol=1e-5)
    assert refusal_of("LpPool", [X], opset=1, p=1.5, kernel_shape=[2, 2], kind=tilewright.Unsupported) == (
        'unsupported: LpPool node "n": p is 1.5, supported are 1, 2, 3, ...'
    )


# ---- experimental operators


def test_functions_of_one_value():
    a, b = np.float32(0.5), np.float32(1.5)
    check("Affine", [X], a * X + b, opset=6, alpha=0.5, beta=1.5)
    check("Scale", [X], a * X, opset=6, scale=0.5)
    check("ScaledTanh", [X], a * np.tanh(b * X), opset=1, alpha=0.5, beta=1.5, rtol=1e-5)
    check("ParametricSoftplus", [X], a * np.log1p(np.exp(b * X)), opset=1, alpha=0.5, beta=1.5, rtol=1e-5)
    check("ThresholdedRelu", [X], np.where(X > a, X, 0), opset=1, alpha=0.5)


def test_image_scaler():
    bias = np.float32([1, 2, 3])
    check(
        "ImageScaler", [X], np.float32(2) * X + bias[:, None, None], opset=1, scale=2.0, bias=[1.0, 2.0, 3.0]
    )
    check("ImageScaler", [X], X, opset=1)


def test_crop():
    check("Crop", [X], X[:, :, 2:4, 1:4], opset=1, border=[1, 2, 3, 1])
    check("Crop", [X], X[:, :, 2:4, 1:4], opset=1, border=[1, 2, 0, 0], scale=[2, 3])
    assert refusal_of("Crop", [X], opset=1, border=[1, 2, 0]) == (
        'error: Crop node "n": the input has 4 dimensions, border 3 numbers and scale 0, expected 4, 4 and 2'
    )
    assert "of dimension 2 of [2, 3, 5, 7] are kept" in refusal_of("Crop", [X], opset=1, border=[1, 3, 0, 3])


def test_given_tensor_fill():
    (found,) = run_op("GivenTensorFill", [], opset=1, values=[1.0, 2.0, 3.0, 4.0], shape=[2, 2])
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])
    assert refusal_of("GivenTensorFill", [], opset=1, values=[1.0, 2.0], shape=[3]) == (
        'error: GivenTensorFill node "n": 2 values for a tensor of shape [3]'
    )
    assert refusal_of(
        "GivenTensorFill", [np.int64([2])], opset=1, values=[1.0], kind=tilewright.Unsupported
    ) == ('unsupported: GivenTensorFill node "n": the shape is input "x0", supported is attribute "shape"')
