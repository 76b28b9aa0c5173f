"""Elements, slices and boxes that the data selects."""

import numpy as np
import pytest
from onnx_peer import RNG, by_reference, by_us, check_open, model_of, some

import tilewright


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_places_of_elements_that_are_not_zero(dtype):
    x = RNG.integers(0, 3, (5, 1, 7)).astype(dtype)
    check_open("NonZero", [x], expected=[np.stack(np.nonzero(x))])
    check_open("NonZero", [x[:0]], expected=[np.zeros((3, 0), "int64")])


def test_nan_is_not_zero_and_minus_zero_is():
    check_open("NonZero", [np.array([0, -0.0, np.nan], "float32")], expected=[[[2]]])


def test_places_in_a_scalar_have_no_dimension():
    check_open("NonZero", [np.float32(3).reshape(())], expected=[np.zeros((0, 1), "int64")])


def test_following_operators_know_the_extent():
    import onnx

    text = """<ir_version: 8, opset_import: ["": 18]> g (float[n, 7] x) => (float[m] y) {
        places = NonZero(x)
        rows = Transpose(places)
        taken = GatherND(x, rows)
        y = Add(taken, taken)
    }"""
    x = RNG.integers(-1, 2, (5, 7)).astype("float32")
    np.testing.assert_array_equal(by_us(onnx.parser.parse_model(text), [x])[0], 2 * x[x != 0])


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_compress(axis):
    x, condition = some(5, 7), np.array([True, False, True, True, False])
    attrs = {} if axis is None else {"axis": axis}
    check_open("Compress", [x, condition], expected=[np.compress(condition, x, axis)], **attrs)
    check_open("Compress", [x, condition], constants=[1], expected=[np.compress(condition, x, axis)], **attrs)
    nothing = np.zeros(5, bool)
    check_open(
        "Compress",
        [x.astype("float16"), nothing],
        expected=[np.compress(nothing, x.astype("float16"), axis)],
        **attrs,
    )


def test_a_condition_longer_than_the_dimension():
    x, condition = some(3, 7), np.ones(5, bool)
    with pytest.raises(tilewright.UserError) as error:
        by_us(model_of("Compress", [x, condition], is_open=True, axis=0), [x, condition])
    assert 'Compress node that makes "y0": condition has x1_0 = 5 elements for an extent of x0_0 = 3' in str(
        error.value
    )


@pytest.mark.parametrize("is_sorted", [0, 1])
def test_unique_elements(is_sorted):
    x = np.array([[3, -0.0, 1], [np.nan, 0, 3], [1, np.nan, -7]], "float32")
    y, first, inverse, counts = np.unique(x, True, True, True)
    inverse = inverse.reshape(-1)
    if not is_sorted:
        order = np.argsort(first)
        y, first, counts, inverse = (
            x.reshape(-1)[first[order]],
            first[order],
            counts[order],
            np.argsort(order)[inverse],
        )
    y = x.reshape(-1)[first]  # of -0 and 0 the first
    check_open("Unique", [x], outputs=4, sorted=is_sorted, expected=[y, first, inverse, counts])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", ["int8", "float16", "int64"])
def test_unique_slices(axis, dtype):
    x = RNG.integers(0, 2, (5, 2, 3)).astype(dtype)
    y, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    check_open("Unique", [x], outputs=4, axis=axis, expected=[y, first, inverse.reshape(-1), counts])


def test_unique_of_nothing():
    none = np.zeros(0, "int64")
    check_open("Unique", [none], outputs=4, expected=[none] * 4)


def boxes_of(count, batch=2):
    corners = RNG.uniform(0, 10, (batch, count, 2, 2)).astype("float32")
    return corners.reshape(batch, count, 4)


def scalar(value, dtype="float32"):
    return np.array([value], dtype)


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("least", [None, 0.3])
def test_boxes_that_overlap_no_better_one(center, least):
    boxes, scores = boxes_of(127), RNG.uniform(0, 1, (2, 3, 127)).astype("float32").round(1)  # with ties
    thresholds = [scalar(9, "int64"), scalar(0.2), None if least is None else scalar(least)]
    arrays = [boxes, scores, *thresholds][: 4 if least is None else 5]
    for constants in [[], range(2, len(arrays))]:
        check_open("NonMaxSuppression", arrays, constants=constants, center_point_box=center)


def test_no_limit_selects_nothing():
    check_open("NonMaxSuppression", [boxes_of(7), some(2, 1, 7)], expected=[np.zeros((0, 3), "int64")])


def test_scores_that_are_nan_come_last():
    boxes = np.array([[[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]]], "float32")
    scores = np.array([[[np.nan, 0.5, 0.7]]], "float32")
    every = scalar(3, "int64")
    check_open("NonMaxSuppression", [boxes, scores, every], expected=[[[0, 0, 2], [0, 0, 1], [0, 0, 0]]])
    check_open(
        "NonMaxSuppression",
        [boxes, scores, every, None, scalar(0.6)],
        expected=[[[0, 0, 2]]],
    )


def test_an_overlap_equal_to_the_threshold_is_kept():
    boxes = np.array([[[0, 0, 1, 1], [0, 0.5, 1, 1.5]]], "float32")
    arrays = [boxes, np.array([[[0.9, 0.8]]], "float32"), scalar(2, "int64"), scalar(np.float32(1) / 3)]
    check_open("NonMaxSuppression", arrays, peer=by_reference)
