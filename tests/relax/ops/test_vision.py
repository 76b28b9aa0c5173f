"""Operators of detectors, against formulas in numpy."""

import numpy as np
import pytest
from op_testing import check_op, run_op

import tilewright
from tilewright import relax
from tilewright.errors import UserError
from tilewright.script import parse

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(6)


def test_options_may_be_constants():
    """all_class_non_max_suppression(boxes, scores, R.const(7), R.const(0.3)) as programs of 2024 write it."""
    scores = RNG.uniform(0, 1, (1, 3, 127)).astype("float32")
    numbers = {"max_output_boxes_per_class": 7, "iou_threshold": 0.3, "score_threshold": 0.2}
    constants = {
        name: relax.const(value, "int64" if isinstance(value, int) else "float32")
        for name, value in numbers.items()
    }
    wanted = run_op("vision.all_class_non_max_suppression", CORNERS, scores, **numbers)
    found = run_op("vision.all_class_non_max_suppression", CORNERS, scores, **constants)
    written = parse(
        f"""
@R.function
def main(boxes: R.Tensor({CORNERS.shape}, "float32"), scores: R.Tensor({scores.shape}, "float32")):
    gv = R.vision.all_class_non_max_suppression(
        boxes, scores, R.const(7, "int64"), R.const(0.3, "float32"), R.const(0.2, "float32"), output_format="onnx"
    )
    return gv
"""
    )
    main = tilewright.VirtualMachine(tilewright.compile(tilewright.IRModule({"main": written})))["main"]
    for results in (found, [each.numpy() for each in main(CORNERS, scores)]):
        for mine, theirs in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def greedy(boxes, scores, most, overlap, least):
    """The straightforward suppression, for one class."""

    def both(a, b):
        low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
        shared = np.prod(np.maximum(high - low, 0))
        return shared / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)

    kept = []
    for n in np.argsort(-scores, kind="stable"):
        if scores[n] > least and len(kept) < most and all(both(boxes[k], boxes[n]) <= overlap for k in kept):
            kept.append(int(n))
    return kept


CORNERS = np.sort(RNG.uniform(0, 1, (1, 127, 2, 2)), 2).reshape(1, 127, 4).astype("float32")


def test_suppression_of_all_classes():
    scores = RNG.uniform(0, 1, (1, 3, 127)).astype("float32")
    attrs = {"max_output_boxes_per_class": 7, "iou_threshold": 0.3, "score_threshold": 0.2}
    chosen, count = run_op("vision.all_class_non_max_suppression", CORNERS, scores, **attrs)
    wanted = [[0, c, n] for c in range(3) for n in greedy(CORNERS[0], scores[0, c], 7, 0.3, 0.2)]
    assert count[0] == len(wanted)
    np.testing.assert_array_equal(chosen[: len(wanted)], wanted)


def test_suppression():
    scores = RNG.uniform(0, 1, 127).astype("float32")
    rows = np.concatenate([np.zeros((127, 1), "float32"), scores[:, None], CORNERS[0]], 1)[None]
    valid, first, places = run_op("vision.get_valid_counts", rows, score_threshold=0.25)
    above = np.flatnonzero(scores > 0.25)
    assert valid[0] == len(above)
    np.testing.assert_array_equal(first[0, : len(above)], rows[0, above])
    assert (first[0, len(above) :] == -1).all()
    np.testing.assert_array_equal(places[0, : len(above)], above)
    wanted = greedy(CORNERS[0], scores, 5, 0.3, 0.25)
    attrs = {"max_output_size": 5, "iou_threshold": 0.3}
    found, count = run_op("vision.non_max_suppression", first, valid, places, **attrs)
    assert count[0, 0] == len(wanted)
    np.testing.assert_array_equal(found[0, : len(wanted)], wanted)
    attrs.update(return_indices=False, invalid_to_bottom=True)
    found = run_op("vision.non_max_suppression", first, valid, places, **attrs)
    np.testing.assert_array_equal(found[0, : len(wanted)], rows[0, wanted])


def overlap(a, b):
    shared = np.prod(np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0))
    return shared / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)


@pytest.mark.parametrize("force", [True, False])
def test_suppression_that_lessens_scores(force):
    """Soft-NMS: the best box is taken, those that it overlaps become worse, and so on."""
    sigma, most_overlap, least = 0.3, 0.6, 0.2
    classes, scores = RNG.integers(0, 3, 127), RNG.uniform(0, 1, 127).astype("float32")
    rows = np.concatenate([classes[:, None], scores[:, None], CORNERS[0]], 1).astype("float32")
    left, kept = {n: scores[n].astype("float64") for n in range(100)}, []
    while left and max(left.values()) > least and len(kept) < 20:
        best = max(left, key=left.get)
        kept.append((best, left.pop(best)))
        for n in list(left):
            shared = overlap(CORNERS[0, best], CORNERS[0, n]) if force or classes[best] == classes[n] else 0
            left[n] *= np.exp(-(shared**2) / (2 * sigma))
            if shared > most_overlap:
                del left[n]
    wanted = np.full((1, 127, 6), -1, "float32")
    for n, (row, score) in enumerate(kept):
        wanted[0, n] = [classes[row], score, *CORNERS[0, row]]
    attrs = {
        "soft_nms_sigma": sigma,
        "score_threshold": least,
        "iou_threshold": most_overlap,
        "force_suppress": force,
    }
    args = rows[None], np.array([100], "int32"), np.arange(127, dtype="int32")[None] + 1000
    found, chosen, count = run_op("vision.non_max_suppression", *args, max_output_size=20, **attrs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert (count[0, 0], list(chosen[0, : len(kept)])) == (len(kept), [row + 1000 for row, _ in kept])
    found = run_op("vision.non_max_suppression", *args, max_output_size=20, return_indices=False, **attrs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4)


MAPS = RNG.standard_normal((2, 3, 7, 11)).astype("float32")


#: one across the border, one outside, one far larger than the map, one of no size
ROIS = np.array(
    [[0, 1.3, 0.2, 9.7, 5.1], [1, -3, 2, 4, 20], [1, 30, 30, 40, 40], [0, -9, -9, 60, 60], [1, 4, 4, 4, 4]],
    "float32",
)


def bilinear(plane, y, x):
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    upper = plane[top, left] * (1 - across) + plane[top, right] * across
    lower = plane[bottom, left] * (1 - across) + plane[bottom, right] * across
    return upper * (1 - down) + lower * down


def align(maps, rois, size, scale, ratio, aligned, reduce):
    result = np.zeros((len(rois), maps.shape[1], *size))
    for r, (image, *corners) in enumerate(rois.astype("float64")):
        left, top, right, bottom = (corner * scale - 0.5 * aligned for corner in corners)
        extents = [bottom - top, right - left] if aligned else [max(bottom - top, 1), max(right - left, 1)]
        steps = [extents[0] / size[0], extents[1] / size[1]]
        counts = [ratio if ratio > 0 else int(np.ceil(step)) for step in steps]
        for c, y, x in np.ndindex(result.shape[1:]):
            samples = [
                bilinear(
                    maps[int(image), c],
                    top + (y + (n + 0.5) / counts[0]) * steps[0],
                    left + (x + (m + 0.5) / counts[1]) * steps[1],
                )
                for n in range(counts[0])
                for m in range(counts[1])
            ]
            result[r, c, y, x] = reduce(samples) if samples else 0
    return result.astype("float32")


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize(("mode", "reduce"), [("avg", np.mean), ("max", np.max)])
def test_roi_align(aligned, ratio, mode, reduce):
    wanted = align(MAPS, ROIS, (3, 5), 0.5, ratio, aligned, reduce)
    attrs = {
        "pooled_size": [3, 5],
        "spatial_scale": 0.5,
        "sample_ratio": ratio,
        "aligned": aligned,
        "mode": mode,
    }
    check_op("vision.roi_align", [MAPS, ROIS], attrs, wanted, atol=1e-4)
    last = [MAPS.transpose(0, 2, 3, 1).copy(), ROIS]
    check_op("vision.roi_align", last, {**attrs, "layout": "NHWC"}, wanted.transpose(0, 2, 3, 1), atol=1e-4)


def test_regions_that_are_no_regions():
    rois = np.array([[0, np.nan, 0, 1, 1], [0, 0, 0, np.inf, 5], [0, -3e38, -3e38, 3e38, 3e38]], "float32")
    assert (run_op("vision.roi_align", MAPS, rois, pooled_size=[2]) == 0)[:2].all()
    assert run_op("vision.roi_pool", MAPS, rois, pooled_size=[2]).shape == (3, 3, 2, 2)
    for wrong in (2, -1, np.nan):
        with pytest.raises(UserError) as error:
            run_op("vision.roi_align", MAPS, np.array([[wrong, 0, 0, 1, 1]], "float32"), pooled_size=[2])
        assert f"vision.roi_align: region 0 refers to image {wrong} of 2" in str(error.value)


def test_roi_pool():
    scale, size = 0.5, (3, 2)
    wanted = np.zeros((len(ROIS), 3, *size), "float32")
    for r, (image, *corners) in enumerate(ROIS):
        away = [int(np.floor(abs(c * scale) + 0.5) * np.sign(c)) for c in corners]  # halves go away from zero
        left, top, right, bottom = away
        steps = max(bottom - top + 1, 1) / size[0], max(right - left + 1, 1) / size[1]
        for c, y, x in np.ndindex(3, *size):
            rows = np.clip([np.floor(y * steps[0]) + top, np.ceil((y + 1) * steps[0]) + top], 0, 7).astype(
                int
            )
            columns = np.clip(
                [np.floor(x * steps[1]) + left, np.ceil((x + 1) * steps[1]) + left], 0, 11
            ).astype(int)
            part = MAPS[int(image), c, rows[0] : rows[1], columns[0] : columns[1]]
            wanted[r, c, y, x] = part.max() if part.size else 0
    attrs = {"pooled_size": list(size), "spatial_scale": scale}
    check_op("vision.roi_pool", [MAPS, ROIS], attrs, wanted)
    last = [MAPS.transpose(0, 2, 3, 1).copy(), ROIS]
    check_op("vision.roi_pool", last, {**attrs, "layout": "NHWC"}, wanted.transpose(0, 2, 3, 1))


def test_multibox_transform_loc():
    logits = RNG.standard_normal((2, 3, 5)).astype("float32")
    offsets = RNG.standard_normal((2, 20)).astype("float32")
    anchors = np.sort(RNG.uniform(0, 1, (1, 5, 2, 2)), 2).reshape(1, 5, 4).astype("float32")
    variances = [0.1, 0.2, 0.3, 0.4]
    moves = offsets.reshape(2, 5, 4) * np.array(variances, "float32")
    size, middle = anchors[..., 2:] - anchors[..., :2], (anchors[..., 2:] + anchors[..., :2]) / 2
    center, half = moves[..., :2] * size + middle, np.exp(moves[..., 2:]) * size / 2
    boxes = np.concatenate([center - half, center + half], -1)[
        ..., [1, 0, 3, 2]
    ]  # of (top, left, bottom, right)
    scores = torch.softmax(torch.from_numpy(logits), 1).numpy()
    args, name = [logits, offsets, anchors], "vision.multibox_transform_loc"
    check_op(name, args, {"variances": variances}, [boxes, scores], atol=1e-5)
    kept = np.where(scores < 0.3, 0, scores)
    kept[:, 0] = 0
    attrs = {"variances": variances, "clip": True, "threshold": 0.3, "keep_background": False}
    check_op(name, args, attrs, [np.clip(boxes, 0, 1), kept], atol=1e-5)
    kept = np.where(logits < 0.3, 0, logits)
    attrs = {"variances": variances, "threshold": 0.3, "apply_softmax": False}
    check_op(name, args, attrs, [boxes, kept], atol=1e-5)
