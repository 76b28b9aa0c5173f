"""Convolutions and their transposed forms, against torch."""

import numpy as np
import torch.nn.functional as F
from topi.references import channels_last, of_torch, small
from topi.table import FLOATS, INTS, Case

from tilewright import topi

nn = topi.nn
DTYPES = (*FLOATS, *INTS)


def conv(count, **options):
    return of_torch(lambda x, w: (F.conv1d, F.conv2d, F.conv3d)[count - 1](x, w, **options))


def transposed(count, **options):
    function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[count - 1]
    return of_torch(lambda x, w: function(x, w, **options))


def hwio(function):
    """The kernel has its channels last."""
    return channels_last(lambda x, w: function(x, np.moveaxis(w, (-1, -2), (0, 1))))


def depthwise(multiplier_first, **options):
    def reference(x, w):
        w = w if multiplier_first else np.moveaxis(w, (-2, -1), (0, 1))
        channels = w.shape[0]
        return conv(2, groups=channels, **options)(x, w.reshape(-1, 1, *w.shape[2:]))

    return reference


def hwcn(function):
    return lambda x, w: np.transpose(
        function(np.transpose(x, (3, 2, 0, 1)), np.transpose(w, (3, 2, 0, 1))), (2, 3, 1, 0)
    )


LINE, IMAGE, VOLUME = [small("n", 4, 9)], [small("n", 4, 7, 5)], [small("n", 2, 5, 4, 3)]
CASES = [
    Case(
        "topi.nn.conv1d",
        lambda x, w: nn.conv1d(x, w, 2, (1, 2)),
        lambda x, w: conv(1, stride=2)(np.pad(x, ((0, 0), (0, 0), (1, 2))), w),
        [*LINE, small(3, 4, 3)],
        DTYPES,
    ),
    Case(
        "topi.nn.conv1d",
        lambda x, w: nn.conv1d(x, w, data_layout="NWC"),
        hwio(conv(1)),
        [small("n", 9, 4), small(3, 4, 5)],
        FLOATS,
        label="nwc",
    ),
    Case(
        "topi.nn.conv2d",
        lambda x, w: nn.conv2d(x, w, (2, 1), 1, (1, 2)),
        conv(2, stride=(2, 1), padding=1, dilation=(1, 2)),
        [*IMAGE, small(3, 4, 3, 2)],
        DTYPES,
    ),
    Case(
        "topi.nn.conv2d",
        lambda x, w: nn.conv2d(x, w, groups=2),
        conv(2, groups=2),
        [*IMAGE, small(6, 2, 3, 2)],
        FLOATS,
        label="groups",
    ),
    Case(
        "topi.nn.conv2d",
        lambda x, w: nn.conv2d(x, w, data_layout="NHWC"),
        hwio(conv(2)),
        [small("n", 7, 5, 4), small(3, 2, 4, 5)],
        FLOATS,
        label="nhwc",
    ),
    Case(
        "topi.nn.conv2d",
        lambda x, w: nn.conv2d(x, w, data_layout="HWCN", kernel_layout="HWIO"),
        hwcn(conv(2)),
        [small(7, 5, 4, 3), small(3, 2, 4, 5)],
        FLOATS,
        label="hwcn",
    ),
    Case(
        "topi.nn.conv2d",
        lambda x, w: nn.conv2d(x, w, out_dtype="int32"),
        lambda x, w: conv(2)(x.astype("int32"), w),
        [*IMAGE, small(3, 4, 3, 2, dtype="int8")],
        ("int8", "uint8"),
        label="wide",
    ),
    Case(
        "topi.nn.conv3d",
        lambda x, w: nn.conv3d(x, w, 1, (1, 0, 1)),
        conv(3, padding=(1, 0, 1)),
        [*VOLUME, small(3, 2, 3, 2, 2)],
        DTYPES,
    ),
    Case(
        "topi.nn.conv3d",
        lambda x, w: nn.conv3d(x, w, data_layout="NDHWC"),
        hwio(conv(3)),
        [small("n", 5, 4, 3, 2), small(3, 2, 2, 2, 4)],
        FLOATS,
        label="ndhwc",
    ),
    Case(
        "topi.nn.depthwise_conv2d",
        lambda x, w: nn.depthwise_conv2d(x, w, 2, 1),
        depthwise(True, stride=2, padding=1),
        [*IMAGE, small(4, 3, 3, 2)],
        DTYPES,
    ),
    Case(
        "topi.nn.depthwise_conv2d",
        lambda x, w: nn.depthwise_conv2d(x, w, data_layout="NHWC"),
        channels_last(depthwise(False)),
        [small("n", 7, 5, 4), small(3, 2, 4, 2)],
        FLOATS,
        label="nhwc",
    ),
    Case(
        "topi.nn.conv1d_transpose",
        lambda x, w: nn.conv1d_transpose(x, w, 2, 1, 1),
        transposed(1, stride=2, padding=1, output_padding=1),
        [*LINE, small(4, 3, 3)],
        DTYPES,
    ),
    Case(
        "topi.nn.conv2d_transpose",
        lambda x, w: nn.conv2d_transpose(x, w, (2, 3), (0, 1)),
        transposed(2, stride=(2, 3), padding=(0, 1)),
        [*IMAGE, small(4, 3, 3, 2)],
        DTYPES,
    ),
    Case(
        "topi.nn.conv2d_transpose",
        lambda x, w: nn.conv2d_transpose(x, w, 2, groups=2, dilation=2),
        transposed(2, stride=2, groups=2, dilation=2),
        [*IMAGE, small(4, 3, 3, 2)],
        FLOATS,
        label="groups",
    ),
    Case(
        "topi.nn.conv3d_transpose",
        lambda x, w: nn.conv3d_transpose(x, w, 2),
        transposed(3, stride=2),
        [*VOLUME, small(2, 3, 2, 3, 2)],
        FLOATS,
    ),
]
