"""Images and boxes in the orders of arguments of several years."""

import numpy as np
from topi.cases_image import BOXES as CROPS
from topi.cases_image import WHICH, channels_last, crops, floor_nearest, interpolated, morphed, small
from topi.cases_vision import (
    BOXES,
    F32,
    MAPS,
    ROIS,
    SCORES,
    aligned,
    all_classes,
    corners,
    decoded,
    pooled,
    uncovered,
)
from topi.table import Case, Input
from tvm import topi

image, vision = topi.image, topi.vision
LINE, IMAGE, VOLUME = [small("n", 2, 7)], [small("n", 2, 5, 7)], [small("n", 2, 3, 4, 5)]
TWO = ("float32", "float64")


def case(name, build, reference, inputs, dtypes=TWO, **options):
    return Case(f"tvm.topi.{name}", build, reference, inputs, dtypes, **options)


def detected(scores, offsets, anchors):
    rows, counts = decoded(scores, offsets, anchors, 0.01)
    result = np.full_like(rows, -1)
    for n, sample in enumerate(rows):
        for m in uncovered(sample, counts[n], 0.5):
            result[n, m] = sample[m]
    return result


LINEAR = interpolated((9, 4), "bilinear")
ALIGNED = interpolated((9, 4), "bilinear", align_corners=True)
IMAGES = [
    case("image.resize", lambda x: image.resize(x, (9, 4)), LINEAR, IMAGE),
    case("image.resize", lambda x: image.resize(x, (9, 4), "NCHW", True), ALIGNED, IMAGE, label="2018"),
    case(
        "image.resize",
        lambda x: image.resize(x, (9, 4), layout="NCHW", method="BILINEAR", align_corners=True),
        ALIGNED,
        IMAGE,
        label="2019",
    ),
    case(
        "image.resize",
        lambda x: image.resize(x, (9, 4), "NHWC", "nearest_neighbor", "asymmetric"),
        channels_last(floor_nearest((9, 4))),
        [small("n", 5, 7, 2)],
        ("float32", "int32"),
        label="2020",
    ),
    case("image.resize1d", lambda x: image.resize1d(x, [0.0] * 2, [11]), interpolated(11, "linear"), LINE),
    case(
        "image.resize2d",
        lambda x: image.resize2d(x, [0.0] * 4, (9, 4), "NCHW", "linear", "align_corners"),
        ALIGNED,
        IMAGE,
    ),
    case(
        "image.resize2d",
        lambda x: image.resize2d(x, [0.0] * 4, (9, 4), method="cubic", bicubic_alpha=-0.75),
        interpolated((9, 4), "bicubic"),
        IMAGE,
        label="cubic",
    ),
    case(
        "image.resize3d",
        lambda x: image.resize3d(
            x, [0.0] * 6, (5, 3, 7), method="linear", coordinate_transformation_mode="half_pixel"
        ),
        interpolated((5, 3, 7), "trilinear"),
        VOLUME,
    ),
    case(
        "image.crop_and_resize",
        lambda x, b, w: image.crop_and_resize(
            x, b, w, (3, 4), layout="NCHW", method="bilinear", extrapolation_value=1.5
        ),
        crops,
        [small(3, 2, 5, 7), CROPS, WHICH],
        tolerance=1e-4,
    ),
    case(
        "image.dilation2d_nchw",
        lambda x, k: image.dilation2d_nchw(x, k, 2, 1, 2),
        morphed,
        [*IMAGE, small(2, 2, 3)],
    ),
    case(
        "image.dilation2d_nhwc",
        lambda x, k: image.dilation2d_nhwc(
            input=x, filter=k, stride=[1, 1], padding=[0, 0], dilations=[1, 1]
        ),
        channels_last(lambda x, k: morphed(x, np.moveaxis(k, -1, 0), 1, 0, 1)),
        [small("n", 5, 7, 2), small(2, 3, 2)],
    ),
]
DETECTOR = [SCORES, Input("n", 24, low=-1, high=1), Input(1, 6, 4, make=corners)]
VISION = [
    case(
        "vision.all_class_non_max_suppression",
        lambda b, s: vision.all_class_non_max_suppression(b, s, 3, 0.4, 0.2, output_format="onnx"),
        all_classes,
        [BOXES, SCORES],
        F32,
    ),
    case("vision.ssd.multibox_detection", vision.ssd.multibox_detection, detected, DETECTOR, F32),
    case(
        "vision.rcnn.roi_align_nchw",
        lambda x, r: vision.rcnn.roi_align_nchw(x, r, (2, 3), 0.5, b"avg", 2),
        aligned,
        [MAPS, ROIS],
        F32,
    ),
    case(
        "vision.rcnn.roi_align_nhwc",
        lambda x, r: vision.rcnn.roi_align_nhwc(x, r, (2, 3), 0.5, "avg", sample_ratio=2),
        lambda x, r: np.moveaxis(aligned(np.moveaxis(x, -1, 1), r), 1, -1),
        [Input(2, 4, 5, 3), ROIS],
        F32,
    ),
    case(
        "vision.rcnn.roi_pool_nchw",
        lambda x, r: vision.rcnn.roi_pool_nchw(x, r, (2, 3), 0.5),
        pooled,
        [MAPS, ROIS],
        F32,
    ),
]
CASES = [*IMAGES, *VISION]
