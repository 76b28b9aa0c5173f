"""Pools."""

import numpy as np
import pytest
from onnx_peer import by_us, check_open, model_of, some
from onnx_testing import run_node

import tilewright

X = np.arange(2 * 3 * 6 * 9, dtype="float32").reshape(2, 3, 6, 9) % 17
WINDOWS = np.lib.stride_tricks.sliding_window_view(X, (2, 3), (2, 3))[:, :, ::2, ::3]


def test_windows():
    options = {"kernel_shape": [2, 3], "strides": [2, 3]}
    np.testing.assert_array_equal(run_node("MaxPool", [X], **options), WINDOWS.max((-2, -1)))
    np.testing.assert_allclose(run_node("AveragePool", [X], **options), WINDOWS.mean((-2, -1)), rtol=1e-6)
    np.testing.assert_allclose(
        run_node("LpPool", [X], p=2, **options), np.sqrt((WINDOWS**2).sum((-2, -1))), rtol=1e-5
    )


def test_padding_counts_where_that_is_asked_for():
    row = np.array([[[3, 5, 7]]], "float32")
    options = {"kernel_shape": [3], "pads": [1, 1]}
    np.testing.assert_array_equal(run_node("AveragePool", [row], **options), [[[4, 5, 6]]])
    np.testing.assert_allclose(
        run_node("AveragePool", [row], count_include_pad=1, **options), [[[8 / 3, 5, 4]]], rtol=1e-6
    )


def test_whole_pictures():
    np.testing.assert_array_equal(run_node("GlobalMaxPool", [X]), X.max((2, 3), keepdims=True))
    np.testing.assert_allclose(run_node("GlobalAveragePool", [X]), X.mean((2, 3), keepdims=True), rtol=1e-5)


POOLS = [
    {"kernel_shape": [2, 3]},
    {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]},
    {"kernel_shape": [2, 2], "dilations": [2, 3], "strides": [1, 2]},
    {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1},
    {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_UPPER"},
    {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_LOWER"},
]


@pytest.mark.parametrize("attrs", POOLS)
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_places_of_the_largest(attrs, order, dtype):
    check_open("MaxPool", [X.astype(dtype)], outputs=2, storage_order=order, **attrs)


@pytest.mark.parametrize("size", [(7,), (5, 7, 3)])
@pytest.mark.parametrize("order", [0, 1])
def test_places_in_lines_and_volumes(size, order):
    x = some(2, 3, *size)
    check_open(
        "MaxPool", [x], outputs=2, storage_order=order, kernel_shape=[2] * len(size), strides=[2] * len(size)
    )


def test_places_of_halves():
    x = some(1, 2, 5, 7)
    values, places = check_open(
        "MaxPool", [x.astype("float16").astype("float32")], outputs=2, kernel_shape=[3, 3]
    )
    check_open(
        "MaxPool",
        [x.astype("float16")],
        outputs=2,
        kernel_shape=[3, 3],
        expected=[values.astype("float16"), places],
    )


def test_nan_has_no_place():
    x = np.array([[[np.nan, 1, np.nan, np.nan, 3, 2]]], "float32")
    _, places = by_us(model_of("MaxPool", [x], outputs=2, kernel_shape=[2], strides=[2]), [x])
    assert places[0, 0, 0] == 1
    assert 2 <= places[0, 0, 1] <= 3
    assert places[0, 0, 2] == 4


def test_unpooling_undoes_pooling():
    x = some(2, 3, 4, 6)
    values, places = check_open("MaxPool", [x], outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    wanted = np.zeros(x.size, "float32")
    wanted[places.reshape(-1)] = values.reshape(-1)
    attrs = {"kernel_shape": [2, 2], "strides": [2, 2]}
    check_open("MaxUnpool", [values, places], expected=[wanted.reshape(x.shape)], **attrs)
    larger = np.pad(wanted.reshape(x.shape), ((0, 0), (0, 0), (0, 1), (0, 2)))
    shape = np.array(larger.shape)
    check_open("MaxUnpool", [values, places, shape], lists=[2], expected=[larger], **attrs)
    check_open("MaxUnpool", [values, places, shape], constants=[2], expected=[larger], **attrs)
    check_open("MaxUnpool", [values[:0], places[:0]], expected=[x[:0]], **attrs)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_of_two_values_with_one_place_the_last_counts(dtype):
    values = some(1, 1, 5, 7, dtype=dtype)
    places = np.arange(35).reshape(values.shape) * 2
    places[..., -1, :] = 3
    places[..., 0, 1] = -1  # counted from the end
    wanted = np.zeros(140, dtype)
    for value, place in zip(values.reshape(-1), places.reshape(-1), strict=True):
        wanted[place] = value
    attrs = {"kernel_shape": [2, 2], "strides": [2, 2]}
    check_open("MaxUnpool", [values, places], expected=[wanted.reshape(1, 1, 10, 14)], **attrs)


def test_a_place_outside():
    values, places = some(1, 1, 2, 2), np.array([[[[0, 3], [16, 5]]]])
    with pytest.raises(tilewright.UserError) as error:
        attrs = {"kernel_shape": [2, 2], "strides": [2, 2]}
        by_us(model_of("MaxUnpool", [values, places], **attrs), [values, places])
    assert str(error.value) == (
        'error: MaxUnpool node that makes "y0": index 16 is outside of dimension 0, which has extent 16'
    )


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows(p):
    attrs = {"kernel_shape": [3, 2], "strides": [2, 3], "p": p}
    for more in [{}, {"pads": [1, 0, 1, 1]}, {"dilations": [2, 2]}]:
        check_open("LpPool", [X], rtol=1e-4, **attrs, **more)
    windows = np.pad(np.abs(X) ** p, ((0, 0), (0, 0), (0, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(windows, (3, 2), (2, 3))[:, :, ::2, ::3]
    check_open("LpPool", [X], ceil_mode=1, expected=[windows.sum((-2, -1)) ** (1 / p)], rtol=1e-4, **attrs)
    check_open("GlobalLpPool", [X], opset=16, p=p, rtol=1e-4)
