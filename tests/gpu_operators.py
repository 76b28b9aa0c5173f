"""Operators for tests of GPUs: what calls each, and the shapes (or shapes and dtypes) of its arguments; n and m are open."""

from tilewright import relax
from tilewright.relax.op import image, nn
from tilewright.tir import Var

op = relax.op
N, M = Var("n", "int64"), Var("m", "int64")
INT, BOOL, HALF, BYTE = "int64", "bool", "float16", "int8"


def conv(channels_last=False, relu=False, **options):
    layouts = {"data_layout": "NHWC", "kernel_layout": "HWIO"} if channels_last else {}

    def function(x, weight, *bias):
        y = nn.conv2d(x, weight, **layouts, **options)
        y = op.add(y, bias[0]) if bias else y
        return nn.relu(y) if relu else y

    return function


ELEMENTS = {
    "add": (op.add, (5, 7), (5, 7)),
    "add_open": (op.add, (N, M), (N, M)),
    "add_open_vectors": (op.add, (N, M, 8), (N, M, 8)),
    "add_broadcast": (op.add, (5, 7, 8), (8,)),
    "add_half": (op.add, ((5, 8), HALF), ((5, 8), HALF)),
    "sigmoid": (op.sigmoid, (5, 128)),
    "where": (op.where, ((5, 7), BOOL), (5, 7), (5, 7)),
    "concat": (lambda x, y: op.concat([x, y], axis=1), (3, 5), (3, 7)),
    "split": (lambda x: op.split(x, 3, axis=1)[1], (5, 9)),
    "take": (lambda x, i: op.take(x, i, axis=0), (7, 5), ((3,), INT)),
    "gather_elements": (lambda x, i: op.gather_elements(x, i, axis=1), (7, 5), ((7, 3), INT)),
    "gather_nd": (op.gather_nd, (7, 5), ((3, 1), INT)),
    "tile": (lambda x: op.tile(x, (2, 3)), (5, 7)),
    "repeat": (lambda x: op.repeat(x, 2, 1), (5, 7)),
    "flip": (lambda x: op.flip(x, 1), (5, 7)),
    "pad": (lambda x: nn.pad(x, (0, 0, 1, 2)), (5, 7)),
    "strided_slice": (lambda x: op.strided_slice(x, [1], [1], [7], [2]), (5, 9)),
    "tril": (op.tril, (5, 7)),
    "resize": (lambda x: image.resize2d(x, (9, 11)), (1, 3, 5, 5)),
    "grid_sample": (image.grid_sample, (1, 3, 5, 5), (1, 2, 4, 4)),
    "cumsum": (lambda x: op.cumsum(x, axis=1), (5, 17)),
    "no_elements": (op.add, (0, 7), (0, 7)),
    "scalar": (op.add, (), ()),
    "permute": (lambda x: op.permute_dims(x, [1, 0]), (37, 45)),
    "permute_open": (lambda x: op.permute_dims(x, [1, 0]), (N, M)),
    "permute_half": (lambda x: op.permute_dims(x, [1, 0]), ((37, 45), HALF)),
    "permute_of_four": (lambda x: op.permute_dims(x, [0, 2, 1, 3]), (2, 37, 5, 8)),
}
ROWS = {
    "softmax": (nn.softmax, (5, 127)),
    "softmax_open": (nn.softmax, (N, M)),
    "softmax_of_open_rows": (nn.softmax, (N, M, 5, 33)),
    "softmax_half": (nn.softmax, ((5, 127), HALF)),
    "softmax_long": (nn.softmax, (3, 1000)),
    "softmax_of_columns": (lambda x: nn.softmax(x, axis=1), (5, 37, 3)),
    "softmax_of_no_rows": (nn.softmax, (0, 37)),
    "log_softmax": (nn.log_softmax, (5, 37)),
    "layer_norm": (lambda x, g, b: nn.layer_norm(x, g, b, axes=[-1]), (3, 7, 130), (130,), (130,)),
    "layer_norm_open": (lambda x, g, b: nn.layer_norm(x, g, b, axes=[-1]), (N, M, 130), (130,), (130,)),
    "rms_norm": (lambda x, w: nn.rms_norm(x, w, axes=[-1]), (5, 127), (127,)),
    "group_norm": (
        lambda x, g, b: nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2, 3]),
        (2, 6, 7, 7),
        (6,),
        (6,),
    ),
    "instance_norm": (
        lambda x, g, b: nn.instance_norm(x, g, b, channel_axis=1, axes=[2, 3]),
        (2, 6, 7, 7),
        (6,),
        (6,),
    ),
    "mean": (lambda x: op.mean(x, axis=[2, 3]), (2, 3, 7, 9)),
    "sum": (op.sum, (37, 45)),
    "sum_of_columns": (lambda x: op.sum(x, axis=[0]), (127, 5)),
    "sum_of_open_columns": (lambda x: op.sum(x, axis=[0]), (N, M)),
    "sum_of_nothing": (lambda x: op.sum(x, axis=[1]), (3, 0)),
    "max_open": (lambda x: op.max(x, axis=[1]), (N, M)),
    "all": (lambda x: op.all(x, axis=[1]), ((5, 37), BOOL)),
    "std": (lambda x: op.std(x, axis=[1]), (5, 37)),
    "argmax": (lambda x: op.argmax(x, axis=1), (5, 127)),
    "argmax_open": (lambda x: op.argmax(x, axis=1), (N, M)),
    "argmax_of_all": (op.argmax, (5, 127)),
}
PRODUCTS = {
    "matmul": (op.matmul, (37, 21), (21, 45)),
    "matmul_of_whole_tiles": (op.matmul, (64, 32), (32, 64)),
    "matmul_open": (op.matmul, (N, M), (M, 45)),
    "matmul_relu_open": (lambda x, y, b: nn.relu(op.add(op.matmul(x, y), b)), (N, 21), (21, 45), (45,)),
    "matmul_half": (lambda x, y: op.matmul(x, y, out_dtype="float32"), ((37, 8), HALF), ((8, 45), HALF)),
    "matmul_bytes": (lambda x, y: op.matmul(x, y, out_dtype="int32"), ((37, 8), BYTE), ((8, 45), BYTE)),
    "matmul_of_batches": (op.matmul, (3, 37, 21), (3, 21, 45)),
    "matmul_of_open_batches": (op.matmul, (N, 37, 21), (N, 21, 45)),
    "matmul_of_open_rows": (op.matmul, (N, M, 24), (24, 45)),
    "row_by_matrix": (op.matmul, (1, 127), (127, 45)),
    "row_by_matrix_open": (op.matmul, (1, N), (N, 45)),
    "conv": (conv(padding=1), (2, 3, 9, 9), (17, 3, 3, 3)),
    "conv_relu": (conv(relu=True, padding=1), (2, 3, 9, 9), (17, 3, 3, 3), (1, 17, 1, 1)),
    "conv_open": (conv(padding=1), (N, 3, 9, 9), (17, 3, 3, 3)),
    "conv_half": (conv(padding=1), ((2, 8, 9, 9), HALF), ((16, 8, 3, 3), HALF)),
    "conv_last": (conv(True, relu=True, padding=1), (2, 9, 9, 3), (3, 3, 3, 17), (17,)),
    "conv_last_open": (conv(True, relu=True, padding=1), (N, 9, 9, 3), (3, 3, 3, 17), (17,)),
    "conv_last_strided": (conv(True, strides=2, padding=1), (2, 9, 9, 8), (3, 3, 8, 16)),
    "conv_of_few": (conv(padding=1), (2, 3, 9, 9), (5, 3, 3, 3)),
    "conv_of_groups": (conv(padding=1, groups=2), (2, 16, 9, 9), (32, 8, 3, 3)),
    "depthwise": (conv(padding=1, groups=6), (2, 6, 9, 9), (6, 1, 3, 3)),
    "conv1d": (nn.conv1d, (2, 3, 19), (4, 3, 5)),
    "conv_transpose": (lambda x, w: nn.conv2d_transpose(x, w, strides=2), (2, 3, 5, 5), (3, 4, 3, 3)),
    "max_pool": (lambda x: nn.max_pool2d(x, (3, 3), padding=(1, 1)), (1, 3, 9, 9)),
    "avg_pool": (lambda x: nn.avg_pool2d(x, (3, 3), padding=(1, 1)), (1, 3, 9, 9)),
    "attention": (nn.attention, (1, 7, 2, 8), (1, 9, 2, 8), (1, 9, 2, 8)),
    "einsum": (lambda x, y: op.einsum((x, y), "ij,jk->ik"), (5, 7), (7, 9)),
}
