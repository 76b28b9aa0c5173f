"""tvm.topi.vision, with its parts ssd and rcnn."""

from tilewright import topi
from tilewright.errors import Unsupported
from tilewright.topi import vision

from ..keywords import spelled


def all_class_non_max_suppression(
    boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold, output_format="onnx"
):
    """The boxes that overlap no better one of their class, in the form of ONNX."""
    if output_format != "onnx":
        raise Unsupported(f'all_class_non_max_suppression: output_format "{output_format}"\nhelp: use "onnx"')
    limits = (max_output_boxes_per_class, iou_threshold, score_threshold)
    return vision.all_class_non_max_suppression(boxes, scores, *limits)


def multibox_detection(
    cls_prob, loc_pred, anchor, clip=True, threshold=0.01, nms_threshold=0.5, force_suppress=False,
    variances=(0.1, 0.1, 0.2, 0.2), nms_topk=-1,
):  # fmt: skip
    """Rows of (class, score, left, top, right, bottom) of the boxes that overlap no better one; -1 in the others."""
    rows, counts = vision.multibox_transform_loc(cls_prob, loc_pred, anchor, clip, threshold, variances)
    places = topi.full(rows.shape[:2], "int32", 0)
    return vision.non_max_suppression(
        rows, counts, places, -1, nms_threshold, force_suppress, nms_topk, return_indices=False
    )


def roi_align_nchw(data, rois, pooled_size, spatial_scale, mode="avg", sample_ratio=-1):
    """Regions of images, NCHW, resampled to one size by interpolation."""
    return vision.roi_align(data, rois, pooled_size, spatial_scale, _mode(mode), sample_ratio, False, "NCHW")


def roi_align_nhwc(data, rois, pooled_size, spatial_scale, mode="avg", sample_ratio=-1):
    """Regions of images, NHWC, resampled to one size by interpolation."""
    return vision.roi_align(data, rois, pooled_size, spatial_scale, _mode(mode), sample_ratio, False, "NHWC")


def _mode(mode) -> str:
    return mode.decode() if isinstance(mode, bytes) else mode


def roi_pool_nchw(data, rois, pooled_size, spatial_scale):
    """Regions of images, NCHW, reduced to one size by maxima."""
    return vision.roi_pool(data, rois, pooled_size, spatial_scale)


NAMES = {
    "vision": {
        "all_class_non_max_suppression": spelled(
            all_class_non_max_suppression, max_output_size="max_output_boxes_per_class"
        ),
    },
    "vision.ssd": {
        "multibox_prior": vision.multibox_prior,
        "multibox_transform_loc": vision.multibox_transform_loc,
        "multibox_detection": multibox_detection,
    },
    "vision.rcnn": {
        "roi_align_nchw": roi_align_nchw,
        "roi_align_nhwc": roi_align_nhwc,
        "roi_pool_nchw": roi_pool_nchw,
    },
}
