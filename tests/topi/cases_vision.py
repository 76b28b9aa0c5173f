"""Boxes and regions, against plain loops of numpy."""

import numpy as np
from topi.table import NUMBERS, Case, Input

from tilewright import topi

vision = topi.vision


def overlap(a, b) -> float:
    """Of two boxes by their corners."""
    low, high = np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])
    shared = np.prod(np.maximum(high - low, 0))
    whole = np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared
    return shared / whole if whole > 0 else 0.0


def valid_counts(data, threshold=0.4):
    counts, rows, places = [], np.full_like(data, -1), np.full(data.shape[:2], -1, "int32")
    for batch, sample in enumerate(data):
        found = [n for n, row in enumerate(sample) if row[1] > threshold and row[0] >= 0]
        counts.append(len(found))
        rows[batch, : len(found)] = sample[found]
        places[batch, : len(found)] = found
    return [np.array(counts, "int32"), rows, places]


def uncovered(sample, count, threshold, any_class=False) -> list:
    """Positions of the rows of a sample that no better one of their class covers, best first."""
    kept: list = []
    for n in sorted(range(count), key=lambda n: (-sample[n, 1], n)):
        rivals = [m for m in kept if any_class or sample[m, 0] == sample[n, 0]]
        if all(overlap(sample[n, 2:6], sample[m, 2:6]) <= threshold for m in rivals):
            kept.append(n)
    return kept


def suppressed(data, counts, indices):
    places, numbers = np.full(indices.shape, -1, "int32"), []
    for batch, sample in enumerate(data):
        kept = uncovered(sample, counts[batch], 0.3)
        places[batch, : len(kept)] = indices[batch][kept]
        numbers.append([len(kept)])
    return [places, np.array(numbers, "int32").reshape(-1, 1)]


def suppressed_rows(data, counts, indices):
    rows = np.full_like(data, -1)
    for batch, sample in enumerate(data):
        kept = uncovered(sample, counts[batch], 0.3, any_class=True)
        rows[batch, : len(kept)] = sample[kept]
    return rows


def all_classes(boxes, scores):
    rows, total = np.zeros((scores.size, 3), "int64"), 0
    for batch, group in np.ndindex(*scores.shape[:2]):
        valid = [n for n in range(boxes.shape[1]) if scores[batch, group, n] > 0.2]
        sample = np.concatenate(
            [np.zeros((boxes.shape[1], 1)), scores[batch, group][:, None], boxes[batch]], 1
        )
        for n in [valid[m] for m in uncovered(sample[valid], len(valid), 0.4)][:3]:
            rows[total] = batch, group, n
            total += 1
    return [rows, np.array([total], "int64")]


def corners(rng, shape, dtype):
    """Boxes whose first corner is the upper left one."""
    low = rng.uniform(0, 0.6, (*shape[:-1], 2))
    return np.concatenate([low, low + rng.uniform(0.1, 0.4, low.shape)], -1)


def scored(rng, shape, dtype):
    """Rows of class, score and corners."""
    which = rng.integers(-1, 2, (*shape[:-1], 1))
    score = rng.permuted(np.linspace(0.05, 0.95, shape[1]) + np.zeros((shape[0], 1)), axis=-1)[..., None]
    return np.concatenate([which, score, corners(rng, shape, dtype)], -1)


def regions(rng, shape, dtype):
    """Rows of an image and the corners of a region of it."""
    return np.concatenate([rng.integers(0, 2, (shape[0], 1)), 6 * corners(rng, (shape[0], 4), dtype)], 1)


def sample(picture, y, x):
    height, width = picture.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros(picture.shape[0])
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    top, left = int(y), int(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    down, across = y - top, x - left
    upper = picture[:, top, left] * (1 - across) + picture[:, top, right] * across
    lower = picture[:, bottom, left] * (1 - across) + picture[:, bottom, right] * across
    return upper * (1 - down) + lower * down


def aligned(data, rois, scale=0.5, size=(2, 3), samples=2):
    result = np.zeros((len(rois), data.shape[1], *size))
    for n, (which, *box) in enumerate(rois.astype("float64")):
        left, top, right, bottom = (value * scale for value in box)
        height, width = max(bottom - top, 1) / size[0], max(right - left, 1) / size[1]
        for i, j, p, q in np.ndindex(*size, samples, samples):
            y, x = top + (i + (p + 0.5) / samples) * height, left + (j + (q + 0.5) / samples) * width
            result[n, :, i, j] += sample(data[int(which)].astype("float64"), y, x) / samples**2
    return result


def pooled(data, rois, scale=0.5, size=(2, 3)):
    result = np.zeros((len(rois), data.shape[1], *size))
    height, width = data.shape[2:]
    for n, (which, *box) in enumerate(rois):
        left, top, right, bottom = (int(np.floor(np.float32(value) * scale + 0.5)) for value in box)
        rows, columns = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i, j in np.ndindex(*size):
            ys = slice(*np.clip([top + i * rows // size[0], top - (-(i + 1) * rows // size[0])], 0, height))
            xs = slice(
                *np.clip([left + j * columns // size[1], left - (-(j + 1) * columns // size[1])], 0, width)
            )
            part = data[int(which), :, ys, xs]
            result[n, :, i, j] = part.max((1, 2)) if part.size else 0
    return result


def priors(data, sizes=(0.5, 0.25), ratios=(1, 2, 0.5), is_cut=False):
    height, width = data.shape[2:]
    boxes = []
    for row, column in np.ndindex(height, width):
        shapes = [(size, 1) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
        for size, ratio in shapes:
            across, down = size * height / width * ratio**0.5 / 2, size / ratio**0.5 / 2
            y, x = (row + 0.5) / height, (column + 0.5) / width
            boxes.append([x - across, y - down, x + across, y + down])
    return np.clip([boxes], 0, 1) if is_cut else np.array([boxes])


def decoded(scores, offsets, anchors, threshold=0.3):
    batch, _, count = scores.shape
    rows, counts = np.full((batch, count, 6), -1.0), []
    for n in range(batch):
        total = 0
        for a in range(count):
            which = int(scores[n, 1:, a].argmax())
            if scores[n, which + 1, a] <= threshold:
                continue
            left, top, right, bottom = anchors[0, a].astype("float64")
            dx, dy, dw, dh = offsets[n, 4 * a : 4 * a + 4].astype("float64") * (0.1, 0.1, 0.2, 0.2)
            x, y = (left + right) / 2 + dx * (right - left), (top + bottom) / 2 + dy * (bottom - top)
            w, h = np.exp(dw) * (right - left) / 2, np.exp(dh) * (bottom - top) / 2
            box = np.clip([x - w, y - h, x + w, y + h], 0, 1)
            rows[n, total] = which, scores[n, which + 1, a], *box
            total += 1
        counts.append(total)
    return [rows, np.array(counts, "int32")]


def reorganized(x, stride=2):
    """Element by element, as the layer of YOLO has it."""
    n, c, h, w = x.shape
    groups, result, flat = c // stride**2, np.empty((n, c * h * w), x.dtype), x.reshape(n, c * h * w)
    for k, j, i in np.ndindex(c, h, w):
        column, row = i * stride + k // groups % stride, j * stride + k // groups // stride
        result[:, i + w * (j + h * k)] = flat[:, column + w * stride * (row + h * stride * (k % groups))]
    return result.reshape(n, c * stride**2, h // stride, w // stride)


F32 = ("float32",)
BOXES = Input("n", 6, 4, make=corners)
ROWS = Input("n", 9, 6, make=scored)
ROIS = Input("n", 5, make=regions)
MAPS = Input(2, 3, 4, 5)
SCORES = Input("n", 3, 6, low=0, high=1)
COUNTS = Input("n", dtype="int32", make=lambda rng, shape, dtype: rng.integers(0, 10, shape))
PLACES = Input("n", 9, dtype="int32", low=0, high=50)
CASES = [
    Case(
        "topi.vision.get_valid_counts", lambda x: vision.get_valid_counts(x, 0.4), valid_counts, [ROWS], F32
    ),
    Case(
        "topi.vision.non_max_suppression",
        lambda *x: vision.non_max_suppression(*x, iou_threshold=0.3),
        suppressed,
        [ROWS, COUNTS, PLACES],
        F32,
    ),
    Case(
        "topi.vision.non_max_suppression",
        lambda *x: vision.non_max_suppression(
            *x, iou_threshold=0.3, force_suppress=True, return_indices=False, invalid_to_bottom=True
        ),
        suppressed_rows,
        [ROWS, COUNTS, PLACES],
        F32,
        label="rows",
    ),
    Case(
        "topi.vision.all_class_non_max_suppression",
        lambda b, s: vision.all_class_non_max_suppression(b, s, 3, 0.4, 0.2),
        all_classes,
        [BOXES, SCORES],
        F32,
    ),
    Case(
        "topi.vision.roi_align",
        lambda x, r: vision.roi_align(x, r, (2, 3), 0.5, sample_ratio=2),
        aligned,
        [MAPS, ROIS],
        F32,
    ),
    Case(
        "topi.vision.roi_align",
        lambda x, r: vision.roi_align(x, r, (2, 3), 0.5, sample_ratio=2, layout="NHWC"),
        lambda x, r: np.moveaxis(aligned(np.moveaxis(x, -1, 1), r), 1, -1),
        [Input(2, 4, 5, 3), ROIS],
        F32,
        label="nhwc",
    ),
    Case("topi.vision.roi_pool", lambda x, r: vision.roi_pool(x, r, (2, 3), 0.5), pooled, [MAPS, ROIS], F32),
    Case(
        "topi.vision.multibox_prior",
        lambda x: vision.multibox_prior(x, (0.5, 0.25), (1, 2, 0.5)),
        priors,
        [Input(1, 2, 3, 5)],
        ("float32", "float64"),
        tolerance=1e-5,
    ),
    Case(
        "topi.vision.multibox_prior",
        lambda x: vision.multibox_prior(x, (0.9,), clip=True),
        lambda x: priors(x, (0.9,), (1,), True),
        [Input(1, 2, 3, 5)],
        F32,
        label="clip",
    ),
    Case(
        "topi.vision.multibox_transform_loc",
        lambda s, o, a: vision.multibox_transform_loc(s, o, a, threshold=0.3),
        decoded,
        [SCORES, Input("n", 24, low=-1, high=1), Input(1, 6, 4, make=corners)],
        F32,
    ),
    Case("topi.vision.reorg", lambda x: vision.reorg(x, 2), reorganized, [Input("n", 8, 4, 6)], NUMBERS),
]
