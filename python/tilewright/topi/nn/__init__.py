"""Layers over te tensors: topi.nn.relu(x), topi.nn.conv2d(data, kernel, strides=1, padding=1)."""

from ..._guard import guard_module
from .activation import fast_softmax, gelu, leaky_relu, log_softmax, prelu, relu, silu, softmax
from .conv import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    depthwise_conv2d,
)
from .losses import nll_loss
from .norm import (
    batch_norm,
    group_norm,
    instance_norm,
    l2_normalize,
    layer_norm,
    lrn,
    rms_norm,
    scale_shift,
)
from .pad import dilate, flatten, mirror_pad, pad
from .pool import (
    adaptive_pool1d,
    adaptive_pool2d,
    adaptive_pool3d,
    global_pool,
    pool1d,
    pool2d,
    pool3d,
    pool_grad,
)
from .products import batch_matmul, dense, matmul, sparse_dense
from .rearrange import (
    batch_to_space_nd,
    depth_to_space,
    space_to_batch_nd,
    space_to_depth,
    upsampling,
    upsampling3d,
)

__all__ = [
    "adaptive_pool1d",
    "adaptive_pool2d",
    "adaptive_pool3d",
    "batch_matmul",
    "batch_norm",
    "batch_to_space_nd",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dense",
    "depth_to_space",
    "depthwise_conv2d",
    "dilate",
    "fast_softmax",
    "flatten",
    "gelu",
    "global_pool",
    "group_norm",
    "instance_norm",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "lrn",
    "matmul",
    "mirror_pad",
    "nll_loss",
    "pad",
    "pool1d",
    "pool2d",
    "pool3d",
    "pool_grad",
    "prelu",
    "relu",
    "rms_norm",
    "scale_shift",
    "silu",
    "softmax",
    "space_to_batch_nd",
    "space_to_depth",
    "sparse_dense",
    "upsampling",
    "upsampling3d",
]
guard_module(__name__, globals(), __all__)
