"""Operators of detectors, and attention of sequences of several lengths, against formulas in numpy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from op_testing import check_op, run_op

from tilewright.errors import UserError

RNG = np.random.default_rng(3)
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


def heads_first(x):
    return torch.from_numpy(x).permute(0, 2, 1, 3)


@pytest.mark.parametrize("mask", [None, "TopLeft", "BottomRight"])
def test_attention_of_sequences_one_after_the_other(mask):
    query, key, value = (RNG.standard_normal((1, n, 2, 7)).astype("float32") for n in (9, 11, 11))
    starts, key_starts = np.array([0, 2, 5, 9], "int32"), np.array([0, 3, 6, 11], "int32")
    parts = []
    for n in range(3):
        q = heads_first(query[:, starts[n] : starts[n + 1]])
        k, v = (heads_first(x[:, key_starts[n] : key_starts[n + 1]]) for x in (key, value))
        rows, columns = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])
        shift = k.shape[2] - q.shape[2] if mask == "BottomRight" else 0
        seen = torch.from_numpy((columns <= rows + shift) | (mask is None))
        parts.append(F.scaled_dot_product_attention(q, k, v, attn_mask=seen).permute(0, 2, 1, 3).numpy())
    args = [query, key, value, starts, np.array(4, "int32"), key_starts, np.array(5, "int32")]
    check_op("nn.attention_var_len", args, {"causal_mask": mask}, np.concatenate(parts, 1), atol=1e-5)


def test_attention_of_sequences_within_a_window():
    query, starts = RNG.standard_normal((1, 7, 1, 3)).astype("float32"), np.array([0, 3, 7], "int64")
    sequence, place = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2, 3])
    distance = place[:, None] - place
    seen = (sequence[:, None] == sequence) & (distance >= 0) & (distance < 2)
    one = heads_first(query)
    wanted = F.scaled_dot_product_attention(one, one, one, attn_mask=torch.from_numpy(seen)).permute(
        0, 2, 1, 3
    )
    args, attrs = [query, query, query, starts, np.array(4)], {"causal_mask": "TopLeft", "window_size": 2}
    check_op("nn.attention_var_len", args, attrs, wanted.numpy(), atol=1e-5)
