"""Gradients of resizing and of sampling pictures, against torch's."""

import numpy as np
import pytest
from gradient_testing import check, check_by_differences, op, rand

from tilewright import relax

torch = pytest.importorskip("torch")

F = torch.nn.functional


@pytest.mark.parametrize("size", [(7, 9), (3, 2)])
@pytest.mark.parametrize(
    ("attrs", "reference"),
    [
        ({}, {"mode": "bilinear"}),
        (
            {"coordinate_transformation_mode": "align_corners"},
            {"mode": "bilinear", "align_corners": True},
        ),
        ({"method": "cubic"}, {"mode": "bicubic"}),
        (
            {
                "method": "nearest_neighbor",
                "coordinate_transformation_mode": "asymmetric",
                "rounding_method": "floor",
            },
            {"mode": "nearest"},
        ),
    ],
)
def test_resize2d(size, attrs, reference):
    check(
        lambda x: op.image.resize2d(x, size, **attrs),
        lambda x: F.interpolate(x, size, **reference),
        rand(2, 3, 5, 4),
    )


def test_resize2d_of_other_layouts_and_symbolic_sizes():
    def channels_last(x):
        return F.interpolate(x.permute(0, 3, 1, 2), (7, 9), mode="bilinear").permute(0, 2, 3, 1)

    check(lambda x: op.image.resize2d(x, (7, 9), layout="NHWC"), channels_last, rand(2, 5, 4, 3))
    check(
        lambda x: op.image.resize2d(x, (7, 9)),
        lambda x: F.interpolate(x, (7, 9), mode="bilinear"),
        rand(2, 3, 5, 4),
        symbols=(4, 5),
    )


@pytest.mark.parametrize("size", [(6, 3, 8), (2, 7, 4), (1, 1, 1)])
@pytest.mark.parametrize(("mode", "is_aligned"), [("half_pixel", False), ("align_corners", True)])
def test_resize3d(size, mode, is_aligned):
    attrs = {"coordinate_transformation_mode": mode}

    def reference(x):
        return F.interpolate(x, size, mode="trilinear", align_corners=is_aligned)

    def channels_last(x):
        return reference(x.permute(0, 4, 1, 2, 3)).permute(0, 2, 3, 4, 1)

    check(lambda x: op.image.resize3d(x, size, **attrs), reference, rand(2, 3, 2, 5, 4))
    check(
        lambda x: op.image.resize3d(x, size, layout="NDHWC", **attrs),
        channels_last,
        rand(2, 3, 5, 4, 3),
        symbols=(4, 5),
    )


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
def test_crops(method):
    """Places outside of the picture have the given value, and no gradient."""
    attrs = {
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 3.0,
        "method": method,
    }
    roi = [0.125, -0.25, 0.875, 1.25]
    loose = {"step": 1e-2, "tolerance": 1e-3}  # places and sums are float32
    check_by_differences(lambda x: op.image.resize2d(x, (7, 6), roi=roi, **attrs), rand(1, 2, 5, 4), **loose)
    roi = [0.25, 0.125, -0.25, 1, 0.875, 1.25]
    check_by_differences(
        lambda x: op.image.resize3d(x, (2, 1, 6), roi=roi, **attrs), rand(1, 1, 3, 5, 4), **loose
    )


def test_resize_of_any_axes():
    def reference(x):
        return F.interpolate(x.permute(1, 3, 0, 2), (7, 9), mode="bilinear").permute(2, 0, 3, 1)

    check(lambda x: op.image.resize(x, (7, 9), axes=[0, 2]), reference, rand(5, 2, 4, 3))
    check(lambda x: op.image.resize(x, (7, 9), axes=[0, 2]), reference, rand(5, 2, 4, 3), symbols=(4, 5))
    loose = {"step": 1e-2, "tolerance": 1e-3}  # places and sums are float32
    check_by_differences(lambda x: op.image.resize(x, (4,), (3, 2), axes=[1]), rand(2, 7, 3), **loose)


def test_resize_antialias():
    def reference(x):
        return F.interpolate(x, (5, 6), mode="bilinear", antialias=True)

    def two(x):
        attrs = {"cubic_exclude": True}
        rows = op.image.resize_antialias(x, (5,), axes=[2], **attrs)
        return op.image.resize_antialias(rows, (6,), axes=[3], **attrs)

    check(two, reference, rand(1, 2, 11, 13))


@pytest.mark.parametrize("is_aligned", [True, False])
@pytest.mark.parametrize("size", [(5, 7), (3, 2, 5)])
def test_affine_grid(size, is_aligned):
    dims = len(size)

    def reference(theta):
        grid = F.affine_grid(theta, [3, 1, *size], align_corners=is_aligned)
        return grid.permute(0, dims + 1, *range(1, dims + 1))

    def grid(theta):
        return op.image.affine_grid(theta, size, align_corners=is_aligned)

    check(grid, reference, rand(3, dims, dims + 1))


PLACES = (np.random.default_rng(0).random((2, 2, 4, 6)) * 2.6 - 1.3).astype("float32")


@pytest.mark.parametrize("is_aligned", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic"])
def test_grid_sample(method, padding, is_aligned):
    attrs = {"padding_mode": padding, "align_corners": is_aligned}

    def sample(x, grid):
        return op.image.grid_sample(x, grid, method=method, **attrs)

    def reference(x, grid):
        return F.grid_sample(x, grid.permute(0, 2, 3, 1), mode=method, **attrs)

    places = torch.tensor(PLACES)
    check(lambda x: sample(x, relax.const(PLACES)), lambda x: reference(x, places), rand(2, 3, 5, 7))
    if method != "bicubic" and (is_aligned or padding != "reflection"):
        check(sample, reference, rand(2, 3, 5, 7), PLACES)


@pytest.mark.parametrize("symbols", [(), (1,)])
@pytest.mark.parametrize("is_aligned", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border"])
@pytest.mark.parametrize("shape", [(2, 3, 5, 1), (2, 3, 1, 7), (2, 3, 1, 1)])
def test_grid_sample_of_a_picture_of_extent_1(shape, padding, is_aligned, symbols):
    attrs = {"padding_mode": padding, "align_corners": is_aligned}

    def reference(x, grid):
        return F.grid_sample(x, grid.permute(0, 2, 3, 1), **attrs)

    check(
        lambda x, grid: op.image.grid_sample(x, grid, **attrs),
        reference,
        rand(*shape),
        PLACES,
        symbols=symbols,
    )
