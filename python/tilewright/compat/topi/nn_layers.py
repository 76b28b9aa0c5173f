"""tvm.topi.nn: pooling, products, normalizations and the rest, with the arguments of 2018 to 2026."""

from tilewright import topi
from tilewright.topi import nn

from ..keywords import spelled, without

_HINTS = (
    *(
        "auto_scheduler_rewritten_layout",
        "meta_schedule_original_shape",
        "auto_scheduler_should_rewrite_layout",
    ),
)


# ---------------------------------------------------------------- pooling


def pool(data, kernel, stride, padding, pool_type, ceil_mode=False, layout="NCHW", count_include_pad=True):
    """Pooling of images, as until 2021."""
    return nn.pool2d(data, kernel, stride, 1, padding, pool_type, ceil_mode, layout, count_include_pad)


def _pool_of(count: int, usual: str):
    run = getattr(nn, f"pool{count}d")

    def pool(
        data,
        kernel,
        stride,
        dilation,
        padding,
        pool_type,
        ceil_mode=False,
        layout=usual,
        count_include_pad=True,
    ):
        return run(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout, count_include_pad)

    def with_or_without_dilation(*args, **named):
        if len(args) > 4 and isinstance(args[4], str):  # until 2021 there was no dilation
            args = (*args[:3], 1, *args[3:])
        elif "dilation" not in named and len(args) < 5:
            named["dilation"] = 1 if len(args) < 4 else args[3]
            if len(args) == 4:  # (data, kernel, stride, padding, pool_type=...)
                args, named["padding"], named["dilation"] = args[:3], named.get("padding", args[3]), 1
        return pool(*args, **named)

    with_or_without_dilation.__name__ = f"pool{count}d"
    with_or_without_dilation.__doc__ = f"{run.__doc__}\n    Until 2021 without dilation."
    return with_or_without_dilation


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    """The largest elements or the means of parts of nearly equal size."""
    return nn.adaptive_pool2d(data, output_size, pool_type, layout)


# ---------------------------------------------------------------- products


def dense(data, weight, bias=None, out_dtype=None):
    """data [m, k] times the transpose of weight [n, k], and bias [n] if given."""
    return nn.dense(data, weight, bias, out_dtype or "")


def matmul(tensor_a, tensor_b, bias=None, out_dtype=None, transpose_a=False, transpose_b=False):
    """The product of two matrices, and bias [n] if given."""
    product = nn.matmul(tensor_a, tensor_b, out_dtype or "", transpose_a, transpose_b)
    return product if bias is None else topi.add(product, bias)


def batch_matmul(x, y, oshape=None, out_dtype=None, transpose_a=False, transpose_b=True):
    """The products of a batch of matrices, of which those of y are transposed; `oshape` is found by itself."""
    return nn.batch_matmul(x, y, out_dtype or "", transpose_a, transpose_b)


def sparse_dense(dense_data, sparse_data, sparse_indices, sparse_indptr, sparse_lhs=False):
    """dense_data [m, k] times the transpose of a sparse matrix [n, k] (CSR); sparse_lhs: the sparse matrix [m, k] times the
    transpose of dense_data [n, k]."""
    product = nn.sparse_dense(dense_data, sparse_data, sparse_indices, sparse_indptr)
    return topi.transpose(product) if sparse_lhs else product


# ---------------------------------------------------------------- normalizations


def batch_norm(
    data, gamma, beta, moving_mean, moving_var, axis=None, epsilon=None, center=None, scale=None, training=None,
    momentum=None,
):  # fmt: skip
    """[the normalized data, the moving mean, the moving variance]; what is None has the usual value."""
    usual = (1, 1e-5, True, True, False, 0.1)
    given = (axis, epsilon, center, scale, training, momentum)
    values = [default if value is None else value for value, default in zip(given, usual, strict=True)]
    return nn.batch_norm(data, gamma, beta, moving_mean, moving_var, *values)


def scale_shift_nchw(Input, Scale, Shift):
    """Input * Scale + Shift, with one value of both for each channel of NCHW."""
    return nn.scale_shift(Input, Scale, Shift, axis=1)


def scale_shift_nhwc(Input, Scale, Shift):
    """Input * Scale + Shift, with one value of both for each channel of NHWC."""
    return nn.scale_shift(Input, Scale, Shift, axis=3)


def scale_shift_nchwc(Input, Scale, Shift):
    """Input * Scale + Shift for NCHWc: Scale and Shift are [blocks of channels, channels of a block]."""
    from tilewright import te

    return te.compute(
        Input.shape,
        lambda b, cc, y, x, c: Input[b, cc, y, x, c] * Scale[cc, c] + Shift[cc, c],
        name="ScaleShift",
    )


# ---------------------------------------------------------------- moves


def pad(data, pad_before, pad_after=None, pad_value=0.0, name="PadInput", attrs=None):
    """data with elements of pad_value around it; `name` and `attrs` change nothing."""
    return nn.pad(data, pad_before, pad_after, pad_value)


def mirror_pad(data, pad_before, pad_after=None, mode="SYMMETRIC", name="MirrorPadInput"):
    """data with its own elements mirrored around it; `name` changes nothing."""
    return nn.mirror_pad(data, pad_before, pad_after, mode)


def dilate(data, strides, dilation_value=0.0, name="DilatedInput"):
    """data with elements of dilation_value between neighbours; `name` changes nothing."""
    return nn.dilate(data, strides, dilation_value)


def depth_to_space(data, block_size, layout="NCHW", mode="DCR"):
    """Channels become blocks; mode "CDR" is CRD."""
    return nn.depth_to_space(data, block_size, layout, "CRD" if mode == "CDR" else mode)


def upsampling(
    data,
    scale_h,
    scale_w=None,
    layout="NCHW",
    method="nearest_neighbor",
    align_corners=False,
    output_shape=None,
):
    """Images made larger; until 2019 upsampling(data, scale, layout, method) with one factor."""
    if scale_w is None or isinstance(scale_w, str):
        layout, method = (
            scale_w or layout,
            layout if isinstance(scale_w, str) and layout != "NCHW" else method,
        )
        scale_w = scale_h
    return nn.upsampling(data, scale_h, scale_w, layout, method.lower(), align_corners)


def upsampling3d(
    data, scale_d, scale_h, scale_w, layout="NCDHW", method="nearest_neighbor",
    coordinate_transformation_mode="half_pixel", output_shape=None,
):  # fmt: skip
    """Volumes made larger."""
    return nn.upsampling3d(
        data, scale_d, scale_h, scale_w, layout, method.lower(), coordinate_transformation_mode
    )


_NN = {
    "adaptive_pool": adaptive_pool,
    "batch_matmul": without(spelled(batch_matmul, tensor_a="x", tensor_b="y"), *_HINTS),
    "batch_norm": batch_norm,
    "dense": without(dense, *_HINTS),
    "depth_to_space": depth_to_space,
    "dilate": dilate,
    "matmul": without(matmul, *_HINTS),
    "mirror_pad": mirror_pad,
    "pad": pad,
    "pool": pool,
    **{f"pool{len(usual) - 2}d": _pool_of(len(usual) - 2, usual) for usual in ("NCW", "NCHW", "NCDHW")},
    "scale_shift_nchw": scale_shift_nchw,
    "scale_shift_nchwc": scale_shift_nchwc,
    "scale_shift_nhwc": scale_shift_nhwc,
    "sparse_dense": spelled(
        sparse_dense,
        data="dense_data",
        weight_data="sparse_data",
        weight_indices="sparse_indices",
        weight_indptr="sparse_indptr",
    ),
    "upsampling": spelled(upsampling, scale="scale_h"),
    "upsampling3d": upsampling3d,
}
NAMES = {"nn": _NN}
