"""Boxes and regions over te tensors: topi.vision.non_max_suppression, topi.vision.roi_align."""

from .. import tir
from .._guard import guard_module
from ..errors import UserError
from ._arguments import _compute
from ._graph import _of_graph, _of_runtime


def get_valid_counts(data, score_threshold: float = 0.0, id_index: int = 0, score_index: int = 1) -> list:
    """[the number of rows above a score [batch], these rows first and -1 in the others [batch, n, width], their positions [batch, n]].

    data         [batch, n, width] of float32
    id_index     position of the class in a row, which must be at least 0; negative: none
    score_index  position of the score in a row
    """
    attrs = {"score_threshold": float(score_threshold), "id_index": id_index, "score_index": score_index}
    return _of_runtime("vision.get_valid_counts", data, **attrs)


def non_max_suppression(
    data, valid_count, indices, max_output_size: int = -1, iou_threshold: float = 0.5, force_suppress: bool = False,
    top_k: int = -1, coord_start: int = 2, score_index: int = 1, id_index: int = 0, return_indices: bool = True,
    invalid_to_bottom: bool = False,
):  # fmt: skip
    """The rows that overlap no better one of their class: [their positions [batch, n], their number [batch, 1]], or the rows themselves.

    data             [batch, n, width] of float32: class, score and coordinates of boxes, the valid ones first
    valid_count      [batch] of int32, how many are valid
    indices          [batch, n] of int32, the positions that rows are known by
    max_output_size  upper limit of rows; negative: none
    iou_threshold    overlap above which the worse row is dropped
    force_suppress   whether rows of other classes suppress, too
    top_k            the number of best rows to consider; negative: all
    """
    attrs = {
        "max_output_size": max_output_size,
        "iou_threshold": float(iou_threshold),
        "force_suppress": force_suppress,
        "top_k": top_k,
        "coord_start": coord_start,
        "score_index": score_index,
        "id_index": id_index,
        "return_indices": return_indices,
        "invalid_to_bottom": invalid_to_bottom,
        "soft_nms_sigma": 0.0,
        "score_threshold": 0.0,
    }
    found = _of_runtime("vision.non_max_suppression", data, valid_count, indices, **attrs)
    return found if return_indices else found[0]


def all_class_non_max_suppression(
    boxes, scores, max_output_boxes_per_class: int, iou_threshold: float, score_threshold: float
) -> list:
    """[(batch, class, box) of the boxes that overlap no better one of their class [batch * classes * n, 3], their number [1]].

    boxes   [batch, n, 4] of float32
    scores  [batch, classes, n] of float32
    """
    attrs = {
        "max_output_boxes_per_class": max_output_boxes_per_class,
        "iou_threshold": float(iou_threshold),
        "score_threshold": float(score_threshold),
        "output_format": "onnx",
    }
    return _of_runtime("vision.all_class_non_max_suppression", boxes, scores, **attrs)


def roi_align(
    data, rois, pooled_size, spatial_scale: float, mode: str = "avg", sample_ratio: int = -1, aligned: bool = False,
    layout: str = "NCHW",
):  # fmt: skip
    """Regions of images resampled to one size by interpolation.

    data          of float32
    rois          [number, 5] of (image, x1, y1, x2, y2)
    pooled_size   [height, width] of the results, or one number for both
    mode          "avg" or "max" of the samples of a bin
    sample_ratio  samples per bin in each dimension; not positive: one per element
    """
    attrs = {
        "pooled_size": _pair(pooled_size),
        "spatial_scale": float(spatial_scale),
        "sample_ratio": sample_ratio,
        "aligned": aligned,
        "layout": layout,
        "mode": mode,
    }
    return _of_runtime("vision.roi_align", data, rois, **attrs)[0]


def roi_pool(data, rois, pooled_size, spatial_scale: float, layout: str = "NCHW"):
    """Regions of images reduced to one size by maxima; arguments as of roi_align."""
    attrs = {"pooled_size": _pair(pooled_size), "spatial_scale": float(spatial_scale), "layout": layout}
    return _of_runtime("vision.roi_pool", data, rois, **attrs)[0]


def _pair(size) -> list[int]:
    return list(size) if isinstance(size, list | tuple) else [size, size]


def multibox_prior(
    data, sizes=(1.0,), ratios=(1.0,), steps=(-1.0, -1.0), offsets=(0.5, 0.5), clip: bool = False
):
    """Boxes [1, height * width * (sizes + ratios - 1), 4] of (left, top, right, bottom) around each element of data [n, c, height, width].

    sizes    heights of boxes as fractions of the image, all of the first ratio
    ratios   widths by heights; those from the second on with the first size
    steps    distances of boxes as fractions of the image; not positive: one element
    offsets  of the centres from the corners of elements, (y, x)
    clip     whether boxes are cut off at 0 and 1
    """
    if len(data.shape) != 4:
        raise UserError(f"multibox_prior: data has {len(data.shape)} dimensions, expected 4")
    height, width = data.shape[2], data.shape[3]
    count = len(sizes) + len(ratios) - 1
    rows, columns = (extent.astype("float32") for extent in (height, width))
    aspect = rows / columns

    def half(k, horizontal: bool):
        """Half the width or the height of box k of an element."""
        value = None
        for n in reversed(range(count)):
            is_size = n < len(sizes)
            size = sizes[n] if is_size else sizes[0]
            root = 1.0 if is_size else ratios[n - len(sizes) + 1] ** 0.5
            own = tir.const(size * (root if horizontal else 1 / root) / 2, "float32")
            value = own if value is None else tir.Select(k == n, own, value)
        return value * aspect if horizontal else value

    def element(_, box, side):
        k, place = tir.floormod(box, count), tir.floordiv(box, count)
        y, x = tir.floordiv(place, width), tir.floormod(place, width)
        centre_y = (y.astype("float32") + tir.const(offsets[0], "float32")) * _step(steps[0], rows)
        centre_x = (x.astype("float32") + tir.const(offsets[1], "float32")) * _step(steps[1], columns)
        is_x = tir.floormod(side, 2) == 0
        centre = tir.Select(is_x, centre_x, centre_y)
        reach = tir.Select(is_x, half(k, True), half(k, False))
        value = tir.Select(side < 2, centre - reach, centre + reach)
        if clip:
            value = tir.max(tir.min(value, tir.const(1, "float32")), tir.const(0, "float32"))
        return value.astype(data.dtype)

    return _compute([1, height * width * count, 4], element, "T_multibox_prior")


def _step(step: float, extent):
    return tir.const(step, "float32") if step > 0 else tir.const(1, "float32") / extent


def multibox_transform_loc(
    cls_prob, loc_pred, anchor, clip: bool = True, threshold: float = 0.01, variances=(0.1, 0.1, 0.2, 0.2)
) -> list:
    """[rows of (class, score, left, top, right, bottom) [batch, anchors, 6], the valid ones first; how many are valid [batch]].

    cls_prob   [batch, classes, anchors] of float32; class 0 is the background
    loc_pred   [batch, anchors * 4] of float32, offsets of (x, y, width, height)
    anchor     [1, anchors, 4] of (left, top, right, bottom)
    clip       whether boxes are cut off at 0 and 1
    threshold  boxes up to this score are not valid
    """
    attrs = {"clip": clip, "variances": [float(v) for v in variances], "apply_softmax": False}
    boxes, _ = _of_graph("vision.multibox_transform_loc", cls_prob, loc_pred, anchor, **attrs)
    classes, corners = cls_prob.shape[1], (1, 0, 3, 2)  # boxes are (top, left, bottom, right)
    known = getattr(classes, "value", classes)
    if not isinstance(known, int) or known < 2:
        raise UserError(
            f"multibox_transform_loc: cls_prob has {known} classes, expected a number of at least 2"
        )

    def best(b, a):
        at, score = tir.const(0, "float32"), cls_prob(b, 1, a)
        for n in range(2, known):
            is_better = cls_prob(b, n, a) > score
            at = tir.Select(is_better, tir.const(n - 1, "float32"), at)
            score = tir.max(score, cls_prob(b, n, a))
        return at, score

    def row(b, a, column):
        at, score = best(b, a)
        value = tir.Select(column == 0, at, score)
        for n, corner in enumerate(corners):
            value = tir.Select(column == n + 2, boxes(b, a, corner), value)
        return value

    rows = _compute([cls_prob.shape[0], cls_prob.shape[2], 6], row, "T_multibox_rows")
    counts, valid, _ = get_valid_counts(rows, threshold, 0, 1)
    return [valid, counts]


def reorg(data, stride: int):
    """data [n, channels, height, width] as [n, channels * stride * stride, height / stride, width / stride], in the order of YOLO's layer."""
    if len(data.shape) != 4:
        raise UserError(f"reorg: data has {len(data.shape)} dimensions, expected 4")
    batch, channels, height, width = data.shape
    for extent, what in ((channels, "the number of channels"), (height, "height"), (width, "width")):
        factor = stride * stride if extent is channels else stride
        known = getattr(extent, "value", extent)
        if isinstance(known, int) and known % factor:
            raise UserError(f"reorg: {what} is {known}, expected a multiple of {factor}")
    groups = tir.floordiv(channels, stride * stride)
    rows, columns = tir.floordiv(height, stride), tir.floordiv(width, stride)

    def element(n, c, y, x):
        place = (c * rows + y) * columns + x  # in a sample, in the order of the result
        column, row = tir.floormod(place, width), tir.floormod(tir.floordiv(place, width), height)
        channel = tir.floordiv(place, height * width)
        part = tir.floordiv(channel, groups)
        column = column * stride + tir.floormod(part, stride)
        row = row * stride + tir.floordiv(part, stride)
        # in the order of a sample of [groups, height * stride, width * stride]
        source = (tir.floormod(channel, groups) * (height * stride) + row) * (width * stride) + column
        at = tir.floormod(tir.floordiv(source, width), height)
        return data(n, tir.floordiv(source, height * width), at, tir.floormod(source, width))

    return _compute([batch, channels * (stride * stride), rows, columns], element, "T_reorg")


__all__ = [
    "all_class_non_max_suppression",
    "get_valid_counts",
    "multibox_prior",
    "multibox_transform_loc",
    "non_max_suppression",
    "reorg",
    "roi_align",
    "roi_pool",
]
guard_module(__name__, globals(), __all__)
