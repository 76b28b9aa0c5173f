"""Padding, blocks of space in channels and in the batch, larger images."""

import numpy as np
import torch.nn.functional as F
from topi.references import channels_last, of_torch, small
from topi.table import FLOATS, NUMBERS, Case, Input

from tilewright import topi

nn = topi.nn
IMAGE = [Input("n", 8, 4, 6)]


def dilated(x, strides, value):
    shape = [
        (extent - 1) * stride + 1 if extent else 0 for extent, stride in zip(x.shape, strides, strict=True)
    ]
    result = np.full(shape, value, x.dtype)
    result[tuple(slice(None, None, stride) for stride in strides)] = x
    return result


def to_depth(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * 4, h // 2, w // 2)


def to_space(x, is_crd=False):
    n, c, h, w = x.shape
    parts = (
        x.reshape(n, c // 4, 2, 2, h, w)
        if is_crd
        else x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 1, 2, 4, 5)
    )
    return parts.transpose(0, 1, 4, 2, 5, 3).reshape(n, c // 4, h * 2, w * 2)


def to_batch(x):
    """Blocks [2, 3] of [n, h, w, c], with one row before and two columns after."""
    x = np.pad(x, ((0, 0), (1, 0), (0, 2), (0, 0)), constant_values=1)
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 3, 3, c).transpose(2, 4, 0, 1, 3, 5).reshape(n * 6, h // 2, w // 3, c)


def from_batch(x):
    b, h, w, c = x.shape
    whole = x.reshape(2, 3, b // 6, h, w, c).transpose(2, 3, 0, 4, 1, 5).reshape(b // 6, h * 2, w * 3, c)
    return whole[:, 1:, :-2]


def nearest(x, h, w):
    return x[:, :, np.arange(x.shape[2] * h) // h][..., np.arange(x.shape[3] * w) // w]


def linear(scale, align):
    return of_torch(lambda x: F.interpolate(x, scale_factor=scale, mode="bilinear", align_corners=align))


CASES = [
    Case(
        "topi.nn.pad",
        lambda x: nn.pad(x, (0, 1, 2), (0, 0, 1), 3),
        lambda x: np.pad(x, ((0, 0), (1, 0), (2, 1)), constant_values=3),
        [Input("n", 5, 7)],
        NUMBERS,
    ),
    Case(
        "topi.nn.pad",
        lambda x: nn.pad(x, (1, 0, 2)),
        lambda x: np.pad(x, ((1, 1), (0, 0), (2, 2))),
        [Input("n", 5, 7)],
        NUMBERS,
        label="zeros",
    ),
    Case(
        "topi.nn.mirror_pad",
        lambda x: nn.mirror_pad(x, (0, 2, 1), (0, 1, 3)),
        lambda x: np.pad(x, ((0, 0), (2, 1), (1, 3)), "symmetric"),
        [Input("n", 5, 7)],
        NUMBERS,
    ),
    Case(
        "topi.nn.mirror_pad",
        lambda x: nn.mirror_pad(x, (0, 2, 1), mode="REFLECT"),
        lambda x: np.pad(x, ((0, 0), (2, 2), (1, 1)), "reflect"),
        [Input("n", 5, 7)],
        FLOATS,
        label="reflect",
    ),
    Case(
        "topi.nn.dilate",
        lambda x: nn.dilate(x, (1, 3, 2), 2),
        lambda x: dilated(x, (1, 3, 2), 2),
        [Input("n", 5, 7)],
        NUMBERS,
    ),
    Case(
        "topi.nn.dilate",
        lambda x: nn.dilate(x, (2, 1)),
        lambda x: dilated(x, (2, 1), 0),
        [Input("n", 5)],
        FLOATS,
        label="rows",
    ),
    Case("topi.nn.flatten", nn.flatten, lambda x: x.reshape(x.shape[0], 21), [Input("n", 7, 3)], NUMBERS),
    Case("topi.nn.space_to_depth", lambda x: nn.space_to_depth(x, 2), to_depth, IMAGE, NUMBERS),
    Case(
        "topi.nn.space_to_depth",
        lambda x: nn.space_to_depth(x, 2, "NHWC"),
        channels_last(to_depth),
        [Input("n", 4, 6, 3)],
        FLOATS,
        label="nhwc",
    ),
    Case("topi.nn.depth_to_space", lambda x: nn.depth_to_space(x, 2), to_space, IMAGE, NUMBERS),
    Case(
        "topi.nn.depth_to_space",
        lambda x: nn.depth_to_space(x, 2, mode="CRD"),
        lambda x: to_space(x, True),
        IMAGE,
        FLOATS,
        label="crd",
    ),
    Case(
        "topi.nn.depth_to_space",
        lambda x: nn.depth_to_space(x, 2, "NHWC"),
        channels_last(to_space),
        [Input("n", 4, 6, 8)],
        FLOATS,
        label="nhwc",
    ),
    Case(
        "topi.nn.space_to_batch_nd",
        lambda x: nn.space_to_batch_nd(x, [2, 3], [1, 0], [0, 2], 1),
        to_batch,
        [Input("n", 5, 7, 2)],
        NUMBERS,
    ),
    Case(
        "topi.nn.batch_to_space_nd",
        lambda x: nn.batch_to_space_nd(x, [2, 3], [1, 0], [0, 2]),
        from_batch,
        [Input(12, 3, 3, 2)],
        NUMBERS,
    ),
    Case(
        "topi.nn.upsampling",
        lambda x: nn.upsampling(x, 2, 3),
        lambda x: nearest(x, 2, 3),
        [small("n", 2, 5, 3)],
        NUMBERS,
    ),
    Case(
        "topi.nn.upsampling",
        lambda x: nn.upsampling(x, 2, 2, method="bilinear", align_corners=True),
        linear(2, True),
        [small("n", 2, 5, 3)],
        FLOATS,
        label="linear",
        is_empty=False,
    ),
    Case(
        "topi.nn.upsampling3d",
        lambda x: nn.upsampling3d(x, 2, 2, 2, method="trilinear"),
        of_torch(lambda x: F.interpolate(x, scale_factor=2, mode="trilinear")),
        [small("n", 2, 3, 2, 3)],
        FLOATS,
        is_empty=False,
    ),
]
