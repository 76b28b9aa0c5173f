"""tvm.topi.generic, x86, cuda and the like: names of schedules, each of which gives a default one.

Old programs call the schedule that belongs to an operator: s = topi.generic.schedule_injective([C]), then tvm.build(s, [A, B, C]).
"""

from tilewright import te

from ._stages import is_gpu, listed, place, scheduled

# whose tensors are computed where they are read
_INJECTIVE = (
    "injective",
    "elemwise",
    "broadcast",
    "concatenate",
    "reduce",
    "strided_slice",
    "lrn",
    "l2_normalize",
)
_OTHERS = [
    "adaptive_pool",
    "argsort",
    "batch_matmul",
    "batch_norm",
    "bitserial_conv2d_nchw",
    "bitserial_conv2d_nhwc",
    "bitserial_dense",
    "conv1d_ncw",
    "conv1d_nwc",
    "conv1d_transpose_ncw",
    "conv2d",
    "conv2d_hwcn",
    "conv2d_nchw",
    "conv2d_NCHWc",
    "conv2d_nhwc",
    "conv2d_transpose_nchw",
    "conv3d_ncdhw",
    "conv3d_ndhwc",
    "conv3d_transpose_ncdhw",
    "correlation_nchw",
    "cumsum",
    "deformable_conv2d_nchw",
    "dense",
    "depthwise_conv2d_NCHWc",
    "depthwise_conv2d_nchw",
    "depthwise_conv2d_nhwc",
    "dilation2d_nchw",
    "dilation2d_nhwc",
    "einsum",
    "extern",
    "fast_softmax",
    "get_valid_counts",
    "global_pool",
    "group_conv1d_ncw",
    "group_conv1d_nwc",
    "group_conv2d_nchw",
    "group_conv2d_nhwc",
    "group_conv2d_transpose_nchw",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "lstm",
    "matmul",
    "multibox_detection",
    "multibox_prior",
    "multibox_transform_loc",
    "nms",
    "non_max_suppression",
    "pool",
    "pool_grad",
    "proposal",
    "reorg",
    "rms_norm",
    "roi_align",
    "roi_pool",
    "scan",
    "scatter",
    "scatter_add",
    "scatter_elements",
    "scatter_nd",
    "searchsorted",
    "softmax",
    "sort",
    "sparse_dense",
    "topk",
    "unique",
    "upsampling",
]


def _of(name: str, on_gpu: bool | None):
    """The schedule called `name`, for a GPU, a processor, or (None) what the current target is."""

    def schedule(*given, **named):
        outs = next((each for each in (*given, *named.values()) if _is_tensors(each)), None)
        if outs is None:
            raise TypeError(f"schedule_{name}() takes the tensors to schedule, one or a list")
        return scheduled(outs, is_gpu() if on_gpu is None else on_gpu, name in _INJECTIVE)

    schedule.__name__ = f"schedule_{name}"
    schedule.__doc__ = (
        f"A default schedule of tensors, for {name}; other arguments, as layouts, change nothing."
    )
    return schedule


def _is_tensors(value) -> bool:
    return bool(listed(value)) and all(isinstance(each, te.Tensor) for each in listed(value))


def _from_existing(on_gpu: bool | None):
    def schedule_injective_from_existing(sch, out):
        """The schedule `sch` with the loops of the tensor `out` decided."""
        place(sch, out.op, is_gpu() if on_gpu is None else on_gpu)
        return sch

    return schedule_injective_from_existing


def default_schedule(outs, auto_inline):
    """A default schedule of tensors; auto_inline: elements that need no sum are computed where they are read."""
    return scheduled(outs, is_gpu(), auto_inline)


def _names(on_gpu: bool | None = None) -> dict:
    """The schedules of one module."""
    return {
        **{f"schedule_{name}": _of(name, on_gpu) for name in (*_INJECTIVE, *_OTHERS)},
        "schedule_injective_from_existing": _from_existing(on_gpu),
        "default_schedule": default_schedule,
    }


NAMES = {
    "generic": _names(),
    **dict.fromkeys(("x86", "arm_cpu"), _names(False)),
    **dict.fromkeys(("cuda", "gpu"), _names(True)),
}
