"""Convolutions that are named by their layouts, in the orders of arguments of several years."""

import numpy as np
from topi.cases_conv import channels_last, conv, depthwise, hwcn, hwio, small, transposed
from topi.table import FLOATS, Case
from tvm import topi

nn = topi.nn
LINE, IMAGE, VOLUME = [small("n", 4, 9)], [small("n", 4, 7, 5)], [small("n", 2, 5, 4, 3)]
LAST = [small("n", 7, 5, 4)]
KERNEL, KERNEL_LAST = small(3, 4, 3, 2), small(3, 2, 4, 5)
SOME = ("float32", "int32")


def same(function, *kernel):
    """Padding "SAME": as many elements as windows reach over, the larger half before."""

    def reference(x, w):
        around = [(0, 0), (0, 0), *(((extent) // 2, (extent - 1) // 2) for extent in kernel)]
        return function(np.pad(x, around), w)

    return reference


def case(name, build, reference, inputs, dtypes=SOME, **options):
    return Case(f"tvm.topi.nn.{name}", build, reference, inputs, dtypes, **options)


CASES = [
    case(
        "conv2d_nchw",
        lambda x, w: nn.conv2d_nchw(x, w, 1, 1, 1),
        conv(2, padding=1),
        [*IMAGE, KERNEL],
        FLOATS,
    ),
    case(
        "conv2d_nchw",
        lambda x, w: nn.conv2d_nchw(
            Input=x, Filter=w, stride=(2, 1), padding="SAME", dilation=(1, 1), out_dtype="float32"
        ),
        same(conv(2, stride=(2, 1)), 3, 2),
        [*IMAGE, KERNEL],
        ("float32",),
        label="same",
    ),
    case(
        "conv2d_nchw",
        lambda x, w: nn.conv2d_nchw(x, w, 2, "VALID", "float32"),
        conv(2, stride=2),
        [*IMAGE, KERNEL],
        ("float32",),
        label="2018",
    ),
    case(
        "conv2d_nhwc",
        lambda x, w: nn.conv2d_nhwc(
            x, w, 1, [0, 1, 0, 1], 1, out_dtype="float32", auto_scheduler_rewritten_layout=""
        ),
        hwio(conv(2, padding=(0, 1))),
        [*LAST, KERNEL_LAST],
        ("float32",),
    ),
    case(
        "conv2d_hwcn",
        lambda x, w: nn.conv2d_hwcn(x, w, 2, 0, 1),
        hwcn(conv(2, stride=2)),
        [small(7, 5, 4, 3), KERNEL_LAST],
    ),
    case(
        "conv2d",
        lambda x, w: nn.conv2d(x, w, 1, 1, 1, "NCHW", "OIHW", "float32"),
        conv(2, padding=1),
        [*IMAGE, KERNEL],
        ("float32",),
    ),
    case(
        "conv2d",
        lambda x, w: nn.conv2d(input=x, filter=w, strides=1, padding=0, dilation=(2, 1), layout="NHWC"),
        hwio(conv(2, dilation=(2, 1))),
        [*LAST, KERNEL_LAST],
        label="layout",
    ),
    case(
        "conv2d",
        lambda x, w: nn.conv2d(x, w, 1, 0, 1, "NCHW", "float32"),
        conv(2),
        [*IMAGE, KERNEL],
        ("float32",),
        label="2019",
    ),
    case("conv2d", lambda x, w: nn.conv2d(x, w, 1, 0, "NCHW"), conv(2), [*IMAGE, KERNEL], label="2018"),
    case(
        "conv1d",
        lambda x, w: nn.conv1d(x, w, 2, "VALID", 1, "NCW", "", "float32"),
        conv(1, stride=2),
        [*LINE, small(3, 4, 3)],
        ("float32",),
    ),
    case(
        "conv1d_ncw", lambda x, w: nn.conv1d_ncw(x, w, 1, "SAME"), same(conv(1), 3), [*LINE, small(3, 4, 3)]
    ),
    case(
        "conv1d_nwc",
        lambda x, w: nn.conv1d_nwc(x, w, strides=2),
        hwio(conv(1, stride=2)),
        [small("n", 9, 4), small(3, 4, 5)],
    ),
    case(
        "conv3d", lambda x, w: nn.conv3d(x, w, 1, 1, 1), conv(3, padding=1), [*VOLUME, small(3, 2, 3, 2, 2)]
    ),
    case(
        "conv3d_ncdhw",
        lambda x, w: nn.conv3d_ncdhw(x, w, 1, 1, 1, 1),
        conv(3, padding=1),
        [*VOLUME, small(3, 2, 3, 2, 2)],
    ),
    case(
        "conv3d_ncdhw",
        lambda x, w: nn.conv3d_ncdhw(x, w, 1, 0, 1, "float32"),
        conv(3),
        [*VOLUME, small(3, 2, 3, 2, 2)],
        ("float32",),
        label="2020",
    ),
    case(
        "conv3d_ndhwc",
        lambda x, w: nn.conv3d_ndhwc(x, w, 1, 0, 1, 1),
        hwio(conv(3)),
        [small("n", 5, 4, 3, 2), small(3, 2, 2, 2, 4)],
    ),
    case(
        "depthwise_conv2d_nchw",
        lambda x, w: nn.depthwise_conv2d_nchw(x, w, 1, "SAME", 1),
        lambda x, w: depthwise(True)(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 0))), w),
        [*IMAGE, small(4, 3, 3, 2)],
    ),
    case(
        "depthwise_conv2d_nhwc",
        lambda x, w: nn.depthwise_conv2d_nhwc(x, w, (2, 2), (1, 1), (1, 1), "float32"),
        channels_last(depthwise(False, stride=2, padding=1)),
        [*LAST, small(3, 2, 4, 2)],
        ("float32",),
    ),
    case(
        "group_conv1d_ncw",
        lambda x, w: nn.group_conv1d_ncw(x, w, 1, 1, 1, 2),
        conv(1, padding=1, groups=2),
        [*LINE, small(6, 2, 3)],
    ),
    case(
        "group_conv1d_nwc",
        lambda x, w: nn.group_conv1d_nwc(x, w, 1, 0, 1, 2),
        hwio(conv(1, groups=2)),
        [small("n", 9, 4), small(3, 2, 6)],
    ),
    case(
        "group_conv2d_nchw",
        lambda x, w: nn.group_conv2d_nchw(x, w, 1, 1, 1, 2),
        conv(2, padding=1, groups=2),
        [*IMAGE, small(6, 2, 3, 2)],
    ),
    case(
        "group_conv2d_nhwc",
        lambda x, w: nn.group_conv2d_nhwc(x, w, 1, 0, 1, groups=2, out_dtype="float32"),
        hwio(conv(2, groups=2)),
        [*LAST, small(3, 2, 2, 6)],
        ("float32",),
    ),
    case(
        "conv1d_transpose_ncw",
        lambda x, w: nn.conv1d_transpose_ncw(x, w, 2, 1, "float32", 1),
        transposed(1, stride=2, padding=1, output_padding=1),
        [*LINE, small(4, 3, 3)],
        ("float32",),
    ),
    case(
        "group_conv1d_transpose_ncw",
        lambda x, w: nn.group_conv1d_transpose_ncw(x, w, 2, 1, "float32", 0, 2),
        transposed(1, stride=2, padding=1, groups=2),
        [*LINE, small(4, 3, 3)],
        ("float32",),
    ),
    case(
        "conv2d_transpose_nchw",
        lambda x, w: nn.conv2d_transpose_nchw(x, w, (2, 2), (1, 0), "float32"),
        transposed(2, stride=2, padding=(1, 0)),
        [*IMAGE, small(4, 3, 3, 2)],
        ("float32",),
        label="2018",
    ),
    case(
        "conv2d_transpose_nchw",
        lambda x, w: nn.conv2d_transpose_nchw(x, w, (2, 2), (1, 0), "float32", (1, 0)),
        transposed(2, stride=2, padding=(1, 0), output_padding=(1, 0)),
        [*IMAGE, small(4, 3, 3, 2)],
        ("float32",),
    ),
    case(
        "group_conv2d_transpose_nchw",
        lambda x, w: nn.group_conv2d_transpose_nchw(x, w, 2, 0, "float32", 0, 2),
        transposed(2, stride=2, groups=2),
        [*IMAGE, small(4, 3, 3, 2)],
        ("float32",),
    ),
    case(
        "conv3d_transpose_ncdhw",
        lambda x, w: nn.conv3d_transpose_ncdhw(x, w, 2, 0, "float32", 0),
        transposed(3, stride=2),
        [*VOLUME, small(2, 3, 2, 3, 2)],
        ("float32",),
    ),
]
