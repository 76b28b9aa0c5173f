"""Images: sizes, samples, boxes."""

import numpy as np
import torch
import torch.nn.functional as F
from topi.references import channels_last, of_torch, small
from topi.table import FLOATS, NUMBERS, Case, Input

from tilewright import topi

image = topi.image
LINE, IMAGE, VOLUME = [small("n", 2, 7)], [small("n", 2, 5, 7)], [small("n", 2, 3, 4, 5)]
TWO = ("float32", "float64")


def interpolated(size, mode, **options):
    return of_torch(lambda x: F.interpolate(x, size=size, mode=mode, **options))


def floor_nearest(size):
    def reference(x):
        for axis, extent in zip(range(2, x.ndim), size, strict=True):
            x = np.take(x, np.arange(extent) * x.shape[axis] // extent, axis)
        return x

    return reference


def sampled(**options):
    return of_torch(lambda x, grid: F.grid_sample(x, torch.movedim(grid, 1, -1), **options))


def grid(size, align):
    def reference(theta):
        shape = [theta.shape[0], 1, *size]
        made = F.affine_grid(torch.from_numpy(theta.astype("float64")), shape, align_corners=align)
        return np.moveaxis(made.numpy(), -1, 1)

    return reference


def crops(x, boxes, which, size=(3, 4), outside=1.5, is_nearest=False):
    """By the definition: each element at y1 + row * (y2 - y1) / (rows - 1), in units of the last index."""
    height, width = x.shape[2:]
    result = np.full((len(boxes), x.shape[1], *size), outside, "float64")
    for box, (y1, x1, y2, x2) in enumerate(boxes.astype("float32")):
        for i, j in np.ndindex(*size):
            row = np.float32(y1 * (height - 1)) + i * np.float32((y2 - y1) * (height - 1) / (size[0] - 1))
            column = np.float32(x1 * (width - 1)) + j * np.float32((x2 - x1) * (width - 1) / (size[1] - 1))
            if not (0 <= row <= height - 1 and 0 <= column <= width - 1):
                continue
            picture = x[which[box]].astype("float64")
            if is_nearest:
                result[box, :, i, j] = picture[:, int(np.floor(row + 0.5)), int(np.floor(column + 0.5))]
                continue
            top, left = int(np.floor(row)), int(np.floor(column))
            bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
            down, across = row - top, column - left
            upper = picture[:, top, left] * (1 - across) + picture[:, top, right] * across
            lower = picture[:, bottom, left] * (1 - across) + picture[:, bottom, right] * across
            result[box, :, i, j] = upper * (1 - down) + lower * down
    return result


def morphed(x, kernel, stride=2, before=1, dilation=2):
    n, c, height, width = x.shape
    rows, columns = kernel.shape[1:]
    padded = np.full((n, c, height + 2 * before, width + 2 * before), -np.inf)
    padded[:, :, before : before + height, before : before + width] = x
    out = [
        (extent + 2 * before - (k - 1) * dilation - 1) // stride + 1
        for extent, k in ((height, rows), (width, columns))
    ]
    result = np.full((n, c, *out), -np.inf)
    for i, j in np.ndindex(rows, columns):
        part = padded[:, :, i * dilation :: stride, j * dilation :: stride][:, :, : out[0], : out[1]]
        result = np.maximum(result, part + kernel[:, i, j].reshape(-1, 1, 1))
    return result.astype(x.dtype)


GRID = Input("n", 2, 3, 4, low=-1.2, high=1.2)
SPACE = Input("n", 3, 2, 3, 4, low=-1.2, high=1.2)
BOXES = Input(4, 4, low=-0.1, high=1.1)
WHICH = Input(4, dtype="int32", make=lambda rng, shape, dtype: [0, 0, 2, 1])
CASES = [
    Case("topi.image.resize1d", lambda x: image.resize1d(x, [11]), interpolated(11, "linear"), LINE, FLOATS),
    Case(
        "topi.image.resize1d",
        lambda x: image.resize1d(
            x,
            4,
            method="nearest_neighbor",
            coordinate_transformation_mode="asymmetric",
            rounding_method="floor",
        ),
        floor_nearest([4]),
        LINE,
        NUMBERS,
        label="nearest",
    ),
    Case(
        "topi.image.resize2d",
        lambda x: image.resize2d(x, (9, 4)),
        interpolated((9, 4), "bilinear"),
        IMAGE,
        FLOATS,
        label="half_pixel",
    ),
    Case(
        "topi.image.resize2d",
        lambda x: image.resize2d(x, (9, 4), coordinate_transformation_mode="align_corners"),
        interpolated((9, 4), "bilinear", align_corners=True),
        IMAGE,
        FLOATS,
        label="align_corners",
    ),
    Case(
        "topi.image.resize2d",
        lambda x: image.resize2d(x, (9, 4), method="cubic"),
        interpolated((9, 4), "bicubic"),
        IMAGE,
        FLOATS,
        label="cubic",
    ),
    Case(
        "topi.image.resize2d",
        lambda x: image.resize2d(
            x,
            (9, 4),
            method="nearest_neighbor",
            coordinate_transformation_mode="asymmetric",
            rounding_method="floor",
        ),
        floor_nearest((9, 4)),
        IMAGE,
        NUMBERS,
        label="nearest",
    ),
    Case(
        "topi.image.resize2d",
        lambda x: image.resize2d(x, (9, 4), "NHWC"),
        channels_last(interpolated((9, 4), "bilinear")),
        [small("n", 5, 7, 2)],
        FLOATS,
        label="nhwc",
    ),
    Case(
        "topi.image.resize3d",
        lambda x: image.resize3d(x, (5, 3, 7)),
        interpolated((5, 3, 7), "trilinear"),
        VOLUME,
        FLOATS,
    ),
    Case(
        "topi.image.grid_sample",
        image.grid_sample,
        sampled(align_corners=True),
        [*IMAGE, GRID],
        TWO,
        label="bilinear",
        is_empty=False,
    ),
    Case(
        "topi.image.grid_sample",
        lambda x, g: image.grid_sample(x, g, "nearest", padding_mode="border", align_corners=False),
        sampled(mode="nearest", padding_mode="border", align_corners=False),
        [*IMAGE, GRID],
        TWO,
        label="nearest",
        is_empty=False,
    ),
    Case(
        "topi.image.grid_sample",
        lambda x, g: image.grid_sample(x, g, "bicubic", padding_mode="reflection"),
        sampled(mode="bicubic", padding_mode="reflection", align_corners=True),
        [*IMAGE, GRID],
        TWO,
        label="bicubic",
        is_empty=False,
    ),
    Case(
        "topi.image.grid_sample",
        lambda x, g: image.grid_sample(x, g, layout="NCDHW"),
        sampled(align_corners=True),
        [*VOLUME, SPACE],
        TWO,
        label="volume",
        is_empty=False,
    ),
    Case(
        "topi.image.affine_grid",
        lambda theta: image.affine_grid(theta, (3, 5)),
        grid((3, 5), True),
        [small("n", 2, 3)],
        TWO,
        is_empty=False,
    ),
    Case(
        "topi.image.affine_grid",
        lambda theta: image.affine_grid(theta, (3, 5, 2), align_corners=False),
        grid((3, 5, 2), False),
        [small("n", 3, 4)],
        TWO,
        label="volume",
        is_empty=False,
        tolerance=1e-5,
    ),
    Case(
        "topi.image.crop_and_resize",
        lambda x, b, w: image.crop_and_resize(x, b, w, (3, 4), extrapolation_value=1.5),
        crops,
        [small(3, 2, 5, 7), BOXES, WHICH],
        TWO,
        tolerance=1e-4,
    ),
    Case(
        "topi.image.crop_and_resize",
        lambda x, b, w: image.crop_and_resize(x, b, w, (3, 4), "NHWC", "nearest_neighbor", 1.5),
        lambda x, b, w: np.moveaxis(crops(np.moveaxis(x, -1, 1), b, w, is_nearest=True), 1, -1),
        [small(3, 5, 7, 2), BOXES, WHICH],
        TWO,
        label="nearest",
        tolerance=1e-6,
    ),
    Case(
        "topi.image.dilation2d",
        lambda x, k: image.dilation2d(x, k, 2, 1, 2),
        morphed,
        [*IMAGE, small(2, 2, 3)],
        (*FLOATS, "int32"),
    ),
    Case(
        "topi.image.dilation2d",
        lambda x, k: image.dilation2d(x, k, 1, 0, 1, "NHWC"),
        channels_last(lambda x, k: morphed(x, np.moveaxis(k, -1, 0), 1, 0, 1)),
        [small("n", 5, 7, 2), small(2, 3, 2)],
        FLOATS,
        label="nhwc",
    ),
]
