"""Samples and regions of pictures, against onnxruntime and onnx's reference."""

import numpy as np
import pytest
from onnx_peer import RNG, by_reference, by_us, check_open, model_of, some

import tilewright

X, VOLUME = some(2, 3, 5, 7), some(2, 3, 4, 5, 7)


def grid(*shape, reach=1.5):
    return RNG.uniform(-reach, reach, shape).astype("float32")


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_grid_sample(mode, padding, align):
    attrs = {"mode": mode, "padding_mode": padding, "align_corners": align}
    check_open("GridSample", [X, grid(2, 4, 11, 2)], rtol=1e-4, atol=1e-4, **attrs)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_grid_sample_of_a_volume(mode, padding):
    attrs = {"mode": mode, "padding_mode": padding}
    check_open("GridSample", [VOLUME, grid(2, 2, 3, 5, 3)], rtol=1e-4, atol=1e-4, **attrs)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("place", [np.inf, -np.inf, np.nan])
def test_a_place_that_is_no_finite_number_lies_outside(mode, ndim, place):
    x = some(1, 2, *(4, 5, 6)[:ndim])
    places = grid(1, 3, 4, ndim) if ndim == 2 else grid(1, 2, 3, 4, ndim)
    finite = by_us(model_of("GridSample", [x, places], mode=mode), [x, places])[0]
    places[..., 1, 0] = place
    found = by_us(model_of("GridSample", [x, places], mode=mode), [x, places])[0]
    assert (found[..., 1] == 0).all()
    np.testing.assert_array_equal(np.delete(found, 1, -1), np.delete(finite, 1, -1))


def test_cubic_volume():
    places = grid(1, 1, 2, 3, 3, reach=1.2)
    check_open("GridSample", [VOLUME[:1, :1], places], peer=by_reference, mode="cubic", rtol=1e-3, atol=1e-3)


def test_names_of_opset_16():
    check_open("GridSample", [X, grid(2, 4, 11, 2)], opset=16, mode="bicubic", rtol=1e-4, atol=1e-4)
    with pytest.raises(tilewright.UserError) as error:
        by_us(model_of("GridSample", [X, grid(2, 4, 11, 2)], opset=16, mode="linear"), [])
    assert 'mode is "linear"' in str(error.value)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_grid_sample_of_other_floats(dtype):
    arrays = [X.astype(dtype), grid(2, 4, 11, 2).astype(dtype)]
    check_open("GridSample", arrays, peer=by_reference, rtol=1e-2, atol=1e-2)


def test_places_far_outside():
    """Coordinates are data: none may be read outside of the picture."""
    places = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 0], "float32").reshape(1, 1, 3, 2)
    for padding in ["zeros", "border", "reflection"]:
        for mode in ["linear", "nearest", "cubic"]:
            model = model_of("GridSample", [X[:1], places], mode=mode, padding_mode=padding)
            assert by_us(model, [X[:1], places])[0].shape == (1, 3, 1, 3)


def test_a_grid_of_no_places():
    check_open("GridSample", [X, grid(2, 0, 11, 2)], expected=[np.zeros((2, 3, 0, 11), "float32")])


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("size", [(2, 3, 5, 7), (2, 3, 4, 5, 7)])
def test_affine_grid(size, align):
    theta = some(2, len(size) - 2, len(size) - 1)
    arrays = [theta, np.array(size)]
    check_open("AffineGrid", arrays, peer=by_reference, constants=[1], align_corners=align)
    check_open("AffineGrid", arrays, peer=by_reference, lists=[1], align_corners=align)


ROIS = np.array(
    [[0, 0, 6, 4], [1.3, 0.2, 3.7, 2.9], [-3, -2, 2, 2], [3, 2, 30, 20], [4, 3, 4.1, 3.1]], "float32"
)
IMAGES = np.array([0, 1, 1, 0, 1])


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_roi_align(mode, coordinates, ratio):
    attrs = {"mode": mode, "coordinate_transformation_mode": coordinates, "sampling_ratio": ratio}
    size = {"output_height": 2, "output_width": 3, "spatial_scale": 0.9}
    check_open("RoiAlign", [X, ROIS, IMAGES], opset=16, **attrs, **size)


def test_samples_of_pictures_without_elements():
    empty = X[:, :, :0]
    with pytest.raises(tilewright.UserError, match=r"the input is \[2, 3, 0, 7\], without elements"):
        by_us(model_of("GridSample", [empty, grid(2, 4, 11, 2)]), [])


def test_roi_align_of_many_channels():
    x = some(2, 67, 30, 40)
    rois = np.sort(RNG.uniform(0, 30, (127, 2, 2)), 1).reshape(127, 4).astype("float32")
    size = {"output_height": 7, "output_width": 7, "sampling_ratio": 2}
    check_open("RoiAlign", [x, rois, RNG.integers(0, 2, 127)], opset=16, atol=1e-4, **size)


def test_roi_align_before_it_had_half_pixels():
    check_open("RoiAlign", [X, ROIS, IMAGES], opset=10, output_height=2, output_width=2)


def test_roi_align_of_halves():
    arrays = [X.astype("float16"), ROIS.astype("float16"), IMAGES]
    check_open("RoiAlign", arrays, peer=by_reference, output_height=2, output_width=2, rtol=2e-2, atol=1e-2)


def test_no_regions():
    check_open("RoiAlign", [X, ROIS[:0], IMAGES[:0]], expected=[np.zeros((0, 3, 1, 1), "float32")])


def test_a_region_of_no_image():
    with pytest.raises(tilewright.UserError) as error:
        by_us(model_of("RoiAlign", [X, ROIS, IMAGES + 1]), [X, ROIS, IMAGES + 1])
    assert "vision.roi_align: region 1 refers to image 2 of 2" in str(error.value)


def test_max_roi_pool():
    rois = np.concatenate([IMAGES[:, None].astype("float32"), ROIS.clip(0)], 1)
    check_open("MaxRoiPool", [X, rois], opset=16, pooled_shape=[2, 3], spatial_scale=0.9)


@pytest.mark.parametrize(
    ("size", "block", "attrs"),
    [
        ((5, 7), (2, 3), {}),
        ((5, 7), (2, 2), {"pads": [1, 0, 1, 2], "strides": [2, 1]}),
        ((5, 8), (2, 2), {"dilations": [2, 3], "strides": [1, 2]}),
        ((4, 5, 6), (1, 2, 3), {}),
        ((4, 5, 6), (2, 2, 2), {"strides": [2, 1, 2], "pads": [0, 1, 0, 0, 0, 0]}),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_blocks_to_a_picture(size, block, attrs, dtype):
    count = len(size)
    pads, steps = attrs.get("pads", [0] * 2 * count), attrs.get("strides", [1] * count)
    gaps = attrs.get("dilations", [1] * count)
    blocks = [
        (size[n] + pads[n] + pads[n + count] - (block[n] - 1) * gaps[n] - 1) // steps[n] + 1
        for n in range(count)
    ]
    x = RNG.integers(-9, 9, (2, 3 * np.prod(block), np.prod(blocks))).astype(dtype)
    arrays = [x, np.array(size), np.array(block)]
    check_open("Col2Im", arrays, peer=by_reference, constants=[1, 2], **attrs)
    check_open("Col2Im", arrays, peer=by_reference, constants=[2], lists=[1], **attrs)


@pytest.mark.parametrize(
    ("shape", "axes"), [((4, 9), [0, 1]), ((7, 5), None), ((8,), [-1]), ((3, 3), [1, 0]), ((5, 0), None)]
)
@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_center(shape, axes, dtype):
    x = (some(5, 7) > 0).astype(dtype)
    attrs = {} if axes is None else {"axes": axes}
    check_open("CenterCropPad", [x, np.array(shape)], peer=by_reference, constants=[1], **attrs)
    check_open("CenterCropPad", [x, np.array(shape, "int32")], peer=by_reference, lists=[1], **attrs)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("has_mask", [False, True])
def test_deform_conv(groups, has_mask):
    x, weight = some(2, 4, 5, 7), some(6, 4 // groups, 2, 3)
    attrs = {"pads": [1, 0, 1, 2], "strides": [2, 1], "dilations": [1, 2], "group": groups, "offset_group": 2}
    places = (3, 5)  # (5 + 2 - 2) // 2 + 1, 7 + 2 - 5 + 1
    offset, mask = some(2, 2 * 6 * 2, *places), some(2, 2 * 6, *places)
    arrays = [x, weight, offset, some(6), mask][: 5 if has_mask else 3]
    check_open("DeformConv", arrays, rtol=1e-4, atol=1e-4, constants=[1], **attrs)


def test_deform_conv_of_a_volume_and_of_a_line():
    """Offsets of 0 move nothing."""
    for size, kernel in [((4, 5, 6), (2, 3, 1)), ((9,), (3,))]:
        x, weight = some(2, 3, *size), some(4, 3, *kernel)
        places = [a - b + 1 for a, b in zip(size, kernel, strict=True)]
        offset = np.zeros((2, len(size) * np.prod(kernel), *places), "float32")
        wanted = check_open("Conv", [x, weight], constants=[1], rtol=1e-4, atol=1e-4)
        check_open("DeformConv", [x, weight, offset], constants=[1], expected=wanted, rtol=1e-4, atol=1e-4)


def test_deform_conv_of_halves():
    x, weight, offset = some(1, 2, 5, 5), some(2, 2, 3, 3), some(1, 18, 3, 3)
    arrays = [array.astype("float16") for array in (x, weight, offset)]
    wanted = check_open("DeformConv", [x, weight, offset], constants=[1], rtol=1e-4, atol=1e-4)
    check_open(
        "DeformConv", arrays, constants=[1], expected=[wanted[0].astype("float16")], rtol=2e-2, atol=5e-2
    )
