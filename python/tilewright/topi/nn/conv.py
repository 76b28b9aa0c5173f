"""Convolutions and transposed convolutions, in any layout."""

from ... import _core
from ...errors import UserError
from .._arguments import _require
from .._graph import _of_graph
from .windows import around, per_dimension

_topi = _core.topi
_SPATIAL = "DHW"


def _layouts(count: int, data: str, kernel: str, kernel_channels: str = "OI") -> tuple[str, str]:
    """The layouts of data and kernel; without one the usual: NCHW with OIHW, NHWC with HWIO."""
    spatial = _SPATIAL[-count:]
    data = data or f"NC{spatial}"
    usual = f"{kernel_channels}{spatial}" if data[1:2] == "C" else f"{spatial}{kernel_channels[::-1]}"
    return data, kernel or usual


def _conv(count: int, data, kernel, strides, padding, dilation, groups, layouts, out_dtype):
    attrs = {
        "strides": per_dimension(strides, count),
        "padding": around(padding, count),
        "dilation": per_dimension(dilation, count),
        "groups": groups,
        "data_layout": layouts[0],
        "kernel_layout": layouts[1],
    }
    _require(f"nn.conv{count}d", data, kernel, of_dtype="float32", **attrs)
    return _topi.conv(data, kernel, *attrs.values(), out_dtype or "void")


_DOC = """The convolution (cross-correlation) of data with kernel.

    strides, dilation  a number or one per spatial dimension
    padding            zeros around: a number, one per dimension, or before each and after each
    data_layout        order of the dimensions of data and of the result
    kernel_layout      of kernel: O outputs, I inputs of a group; default "{first}", of channels last "{last}"
    out_dtype          of the sums and of the result; default that of data
    groups             channels are split into this many independent convolutions
    """


def conv1d(
    data, kernel, strides=1, padding=0, dilation=1,
    data_layout: str = "NCW", kernel_layout: str = "", out_dtype: str = "", groups: int = 1,
):  # fmt: skip
    layouts = _layouts(1, data_layout, kernel_layout)
    return _conv(1, data, kernel, strides, padding, dilation, groups, layouts, out_dtype)


def conv2d(
    data, kernel, strides=1, padding=0, dilation=1,
    data_layout: str = "NCHW", kernel_layout: str = "", out_dtype: str = "", groups: int = 1,
):  # fmt: skip
    layouts = _layouts(2, data_layout, kernel_layout)
    return _conv(2, data, kernel, strides, padding, dilation, groups, layouts, out_dtype)


def conv3d(
    data, kernel, strides=1, padding=0, dilation=1,
    data_layout: str = "NCDHW", kernel_layout: str = "", out_dtype: str = "", groups: int = 1,
):  # fmt: skip
    layouts = _layouts(3, data_layout, kernel_layout)
    return _conv(3, data, kernel, strides, padding, dilation, groups, layouts, out_dtype)


conv1d.__doc__ = _DOC.format(first="OIW", last="WIO")
conv2d.__doc__ = _DOC.format(first="OIHW", last="HWIO")
conv3d.__doc__ = _DOC.format(first="OIDHW", last="DHWIO")


def depthwise_conv2d(
    data, kernel, strides=1, padding=0, dilation=1, data_layout: str = "NCHW", out_dtype: str = ""
):
    """The convolution of each channel by itself, with one or several kernels.

    kernel  [channels, multiplier, height, width], or of channels last [height, width, channels, multiplier]; channel c of data
            gives the channels c * multiplier ... of the result
    """
    is_first = data_layout[1:2] == "C"
    if len(kernel.shape) != 4:
        raise UserError(f"depthwise_conv2d: kernel has {len(kernel.shape)} dimensions, expected 4")
    extents = list(kernel.shape)
    channels, multiplier = extents[:2] if is_first else extents[2:]
    outputs = channels * multiplier
    shape = [outputs, 1, *extents[2:]] if is_first else [*extents[:2], 1, outputs]
    flat = _topi.reshape(kernel, [_core.const(e, "int32") if isinstance(e, int) else e for e in shape])
    groups = getattr(channels, "value", channels)
    if not isinstance(groups, int):
        raise UserError(f"depthwise_conv2d: the number of channels is {channels}, expected a number")
    layouts = _layouts(2, data_layout, "")
    return _conv(2, data, flat, strides, padding, dilation, groups, layouts, out_dtype)


def _transposed(count, data, kernel, strides, padding, output_padding, dilation, groups, layouts, out_dtype):
    return _of_graph(
        f"nn.conv{count}d_transpose",
        data,
        kernel,
        strides=per_dimension(strides, count),
        padding=around(padding, count),
        output_padding=per_dimension(output_padding, count),
        dilation=per_dimension(dilation, count),
        groups=groups,
        data_layout=layouts[0],
        kernel_layout=layouts[1],
        out_dtype=out_dtype or "void",
    )[0]


_TRANSPOSED_DOC = """The gradient of a convolution for its data: each element of data adds the kernel, times it, to the result.

    strides            distance of what neighbours add to, a number or one per spatial dimension
    padding            elements that are left out at the ends: a number, one per dimension, or before each and after each
    output_padding     elements more at the end of each dimension
    data_layout        order of the dimensions of data and of the result
    kernel_layout      of kernel: I inputs, O outputs of a group; default "{first}"
    out_dtype          of the sums and of the result; default that of data
    """


def conv1d_transpose(
    data, kernel, strides=1, padding=0, output_padding=0, dilation=1, groups: int = 1,
    data_layout: str = "NCW", kernel_layout: str = "", out_dtype: str = "",
):  # fmt: skip
    layouts = _layouts(1, data_layout, kernel_layout, "IO")
    return _transposed(
        1, data, kernel, strides, padding, output_padding, dilation, groups, layouts, out_dtype
    )


def conv2d_transpose(
    data, kernel, strides=1, padding=0, output_padding=0, dilation=1, groups: int = 1,
    data_layout: str = "NCHW", kernel_layout: str = "", out_dtype: str = "",
):  # fmt: skip
    layouts = _layouts(2, data_layout, kernel_layout, "IO")
    return _transposed(
        2, data, kernel, strides, padding, output_padding, dilation, groups, layouts, out_dtype
    )


def conv3d_transpose(
    data, kernel, strides=1, padding=0, output_padding=0, dilation=1, groups: int = 1,
    data_layout: str = "NCDHW", kernel_layout: str = "", out_dtype: str = "",
):  # fmt: skip
    layouts = _layouts(3, data_layout, kernel_layout, "IO")
    return _transposed(
        3, data, kernel, strides, padding, output_padding, dilation, groups, layouts, out_dtype
    )


conv1d_transpose.__doc__ = _TRANSPOSED_DOC.format(first="IOW")
conv2d_transpose.__doc__ = _TRANSPOSED_DOC.format(first="IOHW")
conv3d_transpose.__doc__ = _TRANSPOSED_DOC.format(first="IODHW")
