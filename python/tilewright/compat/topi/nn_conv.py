"""tvm.topi.nn: convolutions that are named by their layouts, with the arguments of 2018 to 2026."""

from tilewright.topi import nn

from ..keywords import spelled, without
from .nn_utils import get_const_int, widths

_SPATIAL = "DHW"
_NAMES = {"Input": "data", "Filter": "kernel", "input": "data", "filter": "kernel", "weight": "kernel"}
# hints of other compilers' tuners
_HINTS = (
    *(
        "auto_scheduler_rewritten_layout",
        "meta_schedule_original_shape",
        "auto_scheduler_should_rewrite_layout",
    ),
)


def _as_written(function, **names):
    return without(spelled(function, **_NAMES, **names), *_HINTS)


def _pair(value, count: int) -> list[int]:
    values = value if isinstance(value, list | tuple) else [value] * count
    return [get_const_int(each) for each in values]


def _reach(kernel, layout: str, count: int, dilation) -> list:
    """The extents of the window with its dilation."""
    extents = [kernel.shape[layout.index(letter)] for letter in _SPATIAL[-count:]]
    return [(extent - 1) * step + 1 for extent, step in zip(extents, _pair(dilation, count), strict=True)]


def _conv(count: int, data, kernel, strides, padding, dilation, layouts, out_dtype, groups=1):
    if isinstance(dilation, str):  # until 2018 there was no dilation
        dilation, out_dtype = 1, dilation
    data_layout, kernel_layout = layouts
    reach = _reach(kernel, kernel_layout, count, dilation)
    return getattr(nn, f"conv{count}d")(
        data,
        kernel,
        _pair(strides, count),
        widths(padding, reach),
        _pair(dilation, count),
        data_layout,
        kernel_layout,
        out_dtype or "",
        groups,
    )


def _usual(count: int, data_layout: str, kernel_layout: str) -> tuple[str, str]:
    spatial = _SPATIAL[-count:]
    if kernel_layout:
        return data_layout, kernel_layout
    return data_layout, f"OI{spatial}" if data_layout[1] == "C" else f"{spatial}IO"


def _any_layout(count: int):
    def conv(
        data, kernel, strides=1, padding=0, dilation=1, data_layout=f"NC{_SPATIAL[-count:]}", kernel_layout="",
        out_dtype=None, groups=1,
    ):  # fmt: skip
        if isinstance(dilation, str):  # until 2018: (data, kernel, stride, padding, layout, out_dtype)
            dilation, data_layout, out_dtype = 1, dilation, data_layout if data_layout[0] != "N" else None
        if kernel_layout and "O" not in kernel_layout:  # until 2021: (..., layout, out_dtype)
            kernel_layout, out_dtype = "", kernel_layout
        layouts = _usual(count, data_layout, kernel_layout or "")
        return _conv(count, data, kernel, strides, padding, dilation, layouts, out_dtype, groups)

    conv.__name__ = f"conv{count}d"
    conv.__doc__ = "The convolution of data with kernel in the layout that data_layout (layout) names."
    return _as_written(conv, layout="data_layout", stride="strides")


def _of_layout(name: str, count: int, *layouts: str):
    """Of images; volumes and lines have an order of arguments of their own."""

    def conv(data, kernel, stride=1, padding=0, dilation=1, out_dtype=None):
        return _conv(count, data, kernel, stride, padding, dilation, layouts, out_dtype)

    def conv_of_volume(data, kernel, stride, padding, dilation, groups=1, out_dtype=None):
        if not isinstance(groups, int):  # until 2020 there were no groups
            groups, out_dtype = 1, groups
        return _conv(3, data, kernel, stride, padding, dilation, layouts, out_dtype, groups)

    def conv_of_line(data, kernel, strides=1, padding="VALID", dilation=1, out_dtype=None):
        return _conv(1, data, kernel, strides, padding, dilation, layouts, out_dtype)

    function = {1: conv_of_line, 2: conv, 3: conv_of_volume}[count]
    function.__name__ = name
    function.__doc__ = f"The convolution of data, {layouts[0]}, with kernel, {layouts[1]}."
    return _as_written(function, **({"stride": "strides"} if count == 1 else {"strides": "stride"}))


def _grouped(name: str, count: int, *layouts: str):
    def conv(data, kernel, stride=1, padding=0, dilation=1, groups=1, out_dtype=None):
        return _conv(count, data, kernel, stride, padding, dilation, layouts, out_dtype, groups)

    conv.__name__ = name
    conv.__doc__ = f"The convolution of groups of channels of data, {layouts[0]}, with kernel, {layouts[1]}."
    return _as_written(conv, strides="stride")


def _depthwise(data, kernel, stride, padding, dilation, layout: str, extents, out_dtype):
    if isinstance(dilation, str):
        dilation, out_dtype = 1, dilation
    steps = _pair(dilation, 2)
    reach = [(extent - 1) * step + 1 for extent, step in zip(extents, steps, strict=True)]
    return nn.depthwise_conv2d(
        data, kernel, _pair(stride, 2), widths(padding, reach), steps, layout, out_dtype or ""
    )


def depthwise_conv2d_nchw(data, kernel, stride, padding, dilation=1, out_dtype=None):
    """The convolution of each channel of data, NCHW, with its kernels [channels, multiplier, height, width]."""
    return _depthwise(data, kernel, stride, padding, dilation, "NCHW", kernel.shape[2:], out_dtype)


def depthwise_conv2d_nhwc(data, kernel, stride, padding, dilation=1, kernel_layout="HWOI", out_dtype=None):
    """The convolution of each channel of data, NHWC, with its kernels [height, width, channels, multiplier]."""
    if kernel_layout not in ("HWOI", None):  # until 2022: (..., dilation, out_dtype)
        out_dtype = kernel_layout
    return _depthwise(data, kernel, stride, padding, dilation, "NHWC", kernel.shape[:2], out_dtype)


def _transposed(name: str, count: int, layout: str):
    def conv(data, kernel, strides=1, padding=0, out_dtype=None, output_padding=0, groups=1):
        kernel_layout = f"IO{_SPATIAL[-count:]}"
        reach = _reach(kernel, kernel_layout, count, 1)
        return getattr(nn, f"conv{count}d_transpose")(
            data,
            kernel,
            _pair(strides, count),
            widths(padding, reach),
            _pair(output_padding, count),
            1,
            groups,
            layout,
            kernel_layout,
            out_dtype or "",
        )

    conv.__name__ = name
    conv.__doc__ = f"The transposed convolution of data, {layout}, with kernel, IO{_SPATIAL[-count:]}."
    return _as_written(conv, stride="strides")


_NN = {
    **{f"conv{count}d": _any_layout(count) for count in (1, 2, 3)},
    **{
        name: _of_layout(name, *layouts)
        for name, layouts in {
            "conv1d_ncw": (1, "NCW", "OIW"),
            "conv1d_nwc": (1, "NWC", "WIO"),
            "conv2d_nchw": (2, "NCHW", "OIHW"),
            "conv2d_nhwc": (2, "NHWC", "HWIO"),
            "conv2d_hwcn": (2, "HWCN", "HWIO"),
            "conv3d_ncdhw": (3, "NCDHW", "OIDHW"),
            "conv3d_ndhwc": (3, "NDHWC", "DHWIO"),
        }.items()
    },
    **{
        name: _grouped(name, *layouts)
        for name, layouts in {
            "group_conv1d_ncw": (1, "NCW", "OIW"),
            "group_conv1d_nwc": (1, "NWC", "WIO"),
            "group_conv2d_nchw": (2, "NCHW", "OIHW"),
            "group_conv2d_nhwc": (2, "NHWC", "HWIO"),
        }.items()
    },
    "depthwise_conv2d_nchw": _as_written(depthwise_conv2d_nchw, strides="stride"),
    "depthwise_conv2d_nhwc": _as_written(depthwise_conv2d_nhwc, strides="stride"),
    **{
        name: _transposed(name, *options)
        for name, options in {
            "conv1d_transpose_ncw": (1, "NCW"),
            "group_conv1d_transpose_ncw": (1, "NCW"),
            "conv2d_transpose_nchw": (2, "NCHW"),
            "group_conv2d_transpose_nchw": (2, "NCHW"),
            "conv3d_transpose_ncdhw": (3, "NCDHW"),
        }.items()
    },
}
NAMES = {"nn": _NN}
