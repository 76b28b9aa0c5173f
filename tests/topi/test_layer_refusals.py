"""What topi.nn, topi.image and topi.vision refuse, and in which words."""

import pytest
from refusals import refusal

from tilewright import te, topi

nn, image, vision = topi.nn, topi.image, topi.vision
X = te.placeholder((5, 7), "float32", "x")
ROW = te.placeholder((7,), "float32", "row")
INTS = te.placeholder((7,), "int32", "ints")
DOUBLES = te.placeholder((7,), "float64", "doubles")
IMAGE = te.placeholder((2, 4, 7, 5), "float32", "image")
N = te.var("n")

REFUSED = {
    "windows larger than the image": (
        lambda: nn.conv2d(IMAGE, te.placeholder((3, 4, 8, 1))),
        "error: nn.conv2d: the window of weight [3, 4, 8, 1] is larger than data [2, 4, 7, 5] with padding 0",
    ),
    "other channels": (
        lambda: nn.conv2d(IMAGE, te.placeholder((3, 3, 2, 2))),
        "error: nn.conv2d: data is [2, 4, 7, 5] with 4 channels, weight is [3, 3, 2, 2] for 3 channels in 1 group",
    ),
    "other channels of a transposed convolution": (
        lambda: nn.conv2d_transpose(IMAGE, te.placeholder((3, 3, 2, 2))),
        "error: nn.conv2d_transpose: data is [2, 4, 7, 5] with 4 channels, weight is [3, 3, 2, 2] for 3 channels",
    ),
    "a kernel of three dimensions": (
        lambda: nn.depthwise_conv2d(IMAGE, te.placeholder((4, 3, 3))),
        "depthwise_conv2d: kernel has 3 dimensions, expected 4",
    ),
    "channels by a variable": (
        lambda: nn.depthwise_conv2d(IMAGE, te.placeholder((N, 1, 3, 3))),
        "depthwise_conv2d: the number of channels is n, expected a number",
    ),
    "another pooling": (
        lambda: nn.pool2d(IMAGE, 2, pool_type="min"), 'pool_type is "min", expected "max" or "avg"',
    ),
    "padding as wide as the window": (
        lambda: nn.pool2d(IMAGE, 2, padding=2),
        "error: nn.max_pool2d: padding 2 is not smaller than the window of 2 elements",
    ),
    "the layout of other data": (
        lambda: nn.global_pool(X, "max"), 'global_pool: layout is "NCHW", data has 2 dimensions',
    ),
    "a matrix of three dimensions": (
        lambda: nn.dense(IMAGE, X), "dense: data has shape [2, 4, 7, 5], expected 2 dimensions",
    ),
    "a vector transposed": (lambda: nn.matmul(ROW, X, transpose_a=True), "matmul: a vector cannot be transposed"),
    "matrices without a batch": (
        lambda: nn.batch_matmul(X, X), "batch_matmul: x has 2 dimensions, expected 3",
    ),
    "a sparse matrix of rows": (
        lambda: nn.sparse_dense(X, X, INTS, INTS), "sparse_dense: values has 2 dimensions, expected 1",
    ),
    "a sparse matrix of another dtype": (
        lambda: nn.sparse_dense(X, DOUBLES, INTS, INTS), "sparse_dense: data is float32, values is float64",
    ),
    "another reduction of losses": (
        lambda: nn.nll_loss(X, INTS, ROW, "most"), 'nll_loss: reduction is "most", expected "mean", "sum" or "none"',
    ),
    "targets of other dimensions": (
        lambda: nn.nll_loss(X, X, ROW),
        "nll_loss: predictions has 2 dimensions, targets has 2, expected one less",
    ),
    "as many neighbours on both sides": (
        lambda: nn.lrn(IMAGE, 4), "lrn: size is 4, expected an odd number",
    ),
    "softmax along nothing": (lambda: nn.softmax(X, 2), "axis 2 is outside of a tensor with 2 dimensions"),
    "a norm of integers": (
        lambda: nn.layer_norm(INTS, None, None, 0),
        "error: nn.layer_norm: data is int32[7], expected a floating-point tensor",
    ),
    "channels that do not divide": (
        lambda: nn.group_norm(IMAGE, None, None, 3, 1, (2, 3)),
        "error: nn.group_norm: 4 channels do not divide into 3 groups",
    ),
    "too few widths": (
        lambda: nn.pad(X, [1]), "pad: 1 and 1 widths are given, expected 2 before and after",
    ),
    "another mirror": (
        lambda: nn.mirror_pad(X, (1, 1), mode="WRAP"), 'mirror_pad: mode is "WRAP", expected "SYMMETRIC" or "REFLECT"',
    ),
    "more than there is to mirror": (
        lambda: nn.mirror_pad(X, (5, 0), mode="REFLECT"),
        "mirror_pad: dimension 0 of 5 elements cannot be mirrored by 5 and 5",
    ),
    "too few strides": (lambda: nn.dilate(X, [2]), "dilate: 1 strides are given, expected 2"),
    "a stride of nothing": (lambda: nn.dilate(X, [1, 0]), "dilate: a stride is 0, expected at least 1"),
    "nothing to flatten": (
        lambda: nn.flatten(te.placeholder(())), "flatten: data has no dimensions, expected at least 1",
    ),
    "blocks of a matrix": (
        lambda: nn.space_to_depth(X, 2), "space_to_depth: data has 2 dimensions, expected 4",
    ),
    "blocks of nothing": (
        lambda: nn.depth_to_space(IMAGE, 0), "depth_to_space: block_size is 0, expected at least 1",
    ),
    "blocks that do not fit": (
        lambda: nn.space_to_depth(IMAGE, 2), "space_to_depth: height is 7, expected a multiple of 2",
    ),
    "another layout of blocks": (
        lambda: nn.space_to_depth(IMAGE, 1, "NCHW4c"), 'space_to_depth: layout is "NCHW4c", expected "NCHW" or "NHWC"',
    ),
    "another order of channels": (
        lambda: nn.depth_to_space(IMAGE, 2, mode="RCD"), 'depth_to_space: mode is "RCD", expected "DCR" or "CRD"',
    ),
    "too few blocks": (
        lambda: nn.space_to_batch_nd(IMAGE, [2], [0, 0], [0]),
        "space_to_batch_nd: 1 blocks, 2 and 1 widths are given, expected as many of each, fewer than 4 dimensions",
    ),
    "a block of nothing": (
        lambda: nn.batch_to_space_nd(IMAGE, [0], [0], [0]), "batch_to_space_nd: a block is 0, expected at least 1",
    ),
    "another way to enlarge": (
        lambda: nn.upsampling(IMAGE, 2, 2, method="lanczos"),
        'upsampling: method is "lanczos", expected one of "nearest_neighbor", "bilinear", "trilinear", "bicubic"',
    ),
    "a layout without a width": (
        lambda: image.resize2d(IMAGE, (3, 3), "NCHC"),
        'layout is "NCHC", expected N, C and HW in some order, as "NCHW"',
    ),
    "coordinates of another kind": (
        lambda: image.resize2d(IMAGE, (3, 3), coordinate_transformation_mode="corner"),
        'error: image.resize2d: coordinate_transformation_mode is "corner", expected one of half_pixel, align_corners,'
        " asymmetric, pytorch_half_pixel, tf_half_pixel_for_nn, half_pixel_symmetric, tf_crop_and_resize",
    ),
    "a grid of other batches": (
        lambda: image.grid_sample(IMAGE, te.placeholder((3, 2, 5, 5))),
        "error: image.grid_sample: grid is [3, 2, 5, 5], expected [2, 2, ...] for data [2, 4, 7, 5]",
    ),
    "another way to crop": (
        lambda: image.crop_and_resize(IMAGE, X, INTS, (3, 3), method="bicubic"),
        'crop_and_resize: method is "bicubic", expected "bilinear" or "nearest_neighbor"',
    ),
    "dilation by a kernel of four dimensions": (
        lambda: image.dilation2d(IMAGE, IMAGE), "dilation2d: data has 4 dimensions, kernel 4, expected 4 and 3",
    ),
    "boxes of doubles": (
        lambda: vision.get_valid_counts(te.placeholder((2, 5, 6), "float64")),
        "error: vision.get_valid_counts: data is float64[2, 5, 6], expected float32",
    ),
    "boxes around elements of a matrix": (
        lambda: vision.multibox_prior(X), "multibox_prior: data has 2 dimensions, expected 4",
    ),
    "the background alone": (
        lambda: vision.multibox_transform_loc(
            te.placeholder((2, 1, 6)), te.placeholder((2, 24)), te.placeholder((1, 6, 4))
        ),
        "multibox_transform_loc: cls_prob has 1 classes, expected a number of at least 2",
    ),
    "channels that make no blocks": (
        lambda: vision.reorg(te.placeholder((1, 6, 4, 4)), 2), "reorg: the number of channels is 6, expected a multiple of 4",
    ),
    "regions of another form": (
        lambda: vision.roi_pool(IMAGE, X, 2, 1.0),
        "error: vision.roi_pool: rois is [5, 7], expected extent 5 in dimension 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    call, text = REFUSED[what]
    assert refusal(call) == text
