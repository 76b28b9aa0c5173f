"""Graphs of one or few operators, with the arguments that they are run on, for tests of devices.

A program is (function, arguments, options): arguments are shapes of float32, or (shape, dtype); a name in a shape is an open
extent, which is run with each of SIZES.
"""

import numpy as np

import tilewright as tw
from tilewright import relax
from tilewright.relax.op import image, nn
from tilewright.tir import Var

op = relax.op
N, M = Var("n", "int64"), Var("m", "int64")
HALF, INT, LONG, BOOL = "float16", "int32", "int64", "bool"
#: what open extents are, one run after the other
SIZES = [{"n": 5, "m": 7}, {"n": 127, "m": 5}, {"n": 0, "m": 7}]


def conv(**options):
    return lambda x, weight: nn.conv2d(x, weight, **options)


def conv_bias_relu(x, weight, bias):
    return nn.relu(op.add(nn.conv2d(x, weight, padding=1), bias))


def chain(x, y):
    return op.multiply(op.tanh(op.add(op.exp(x), y)), op.sqrt(op.abs(x)))


def layer_norm(x, gamma, beta):
    return nn.layer_norm(x, gamma, beta, axes=[-1])


def rms_norm(x, weight):
    return nn.rms_norm(x, weight, axes=[-1])


PROGRAMS = {
    # elements
    "add": (op.add, (5, 7), (5, 7)),
    "add_half": (op.add, ((5, 127), HALF), ((5, 127), HALF)),
    "add_int32": (op.add, ((5, 7), INT), ((7,), INT)),
    "multiply_int64": (op.multiply, ((5, 7), LONG), ((5, 1), LONG)),
    "floor_divide_int32": (op.floor_divide, ((5, 7), INT), ((5, 7), INT)),
    "logical_and": (op.logical_and, ((5, 7), BOOL), ((5, 7), BOOL)),
    "less": (op.less, (5, 127), (127,)),
    "where": (op.where, ((5, 7), BOOL), (5, 7), (5, 7)),
    "chain": (chain, (5, 127), (5, 127)),
    "chain_open": (chain, (N, M), (N, M)),
    "gelu": (nn.gelu, (5, 7)),
    "to_half": (lambda x: op.astype(x, "float16"), (5, 127)),
    "to_int64": (lambda x: op.astype(x, "int64"), (5, 127)),
    "scalar": (op.add, (), ()),
    # elements at other places
    "concat": (lambda x, y: op.concat([x, y], axis=1), (5, 7), (5, 127)),
    "concat_open": (lambda x, y: op.concat([x, y], axis=0), (N, 7), (M, 7)),
    "strided_slice": (lambda x: op.strided_slice(x, [0, 1], [1, 2], [5, 127], [2, 3]), (5, 127)),
    "flip": (lambda x: op.flip(x, 1), (5, 7)),
    "pad": (lambda x: nn.pad(x, (1, 0, 2, 5)), (5, 7)),
    "tile": (lambda x: op.tile(x, (2, 3)), (5, 7)),
    "transpose": (lambda x: op.permute_dims(x, [1, 0]), (37, 127)),
    "transpose_open": (lambda x: op.permute_dims(x, [1, 0]), (N, M)),
    "transpose_half": (lambda x: op.permute_dims(x, [1, 0]), ((37, 127), HALF)),
    "transpose_of_four": (lambda x: op.permute_dims(x, [0, 2, 1, 3]), (2, 37, 5, 7)),
    "gather": (lambda x, i: op.take(x, i, axis=0), (7, 5), ((127,), LONG)),
    "gather_open": (lambda x, i: op.take(x, i, axis=1), (N, 7), ((M,), LONG)),
    "gather_elements": (lambda x, i: op.gather_elements(x, i, axis=1), (7, 7), ((7, 3), LONG)),
    "gather_nd": (op.gather_nd, (7, 5), ((3, 1), LONG)),
    "scatter_elements": (
        lambda x, i, u: op.scatter_elements(x, i, u, axis=0, reduction="add"),
        (7, 5),
        ((3, 5), LONG),
        (3, 5),
    ),
    "scatter_nd": (lambda x, i, u: op.scatter_nd(x, i, u, "add"), (7, 5), ((3, 1), LONG), (3, 5)),
    "one_hot": (lambda i: op.one_hot(i, 1.0, 0.0, 7), ((5,), LONG)),
    "resize_linear": (lambda x: image.resize2d(x, (9, 11)), (1, 3, 5, 7)),
    "resize_nearest": (lambda x: image.resize2d(x, (9, 11), method="nearest_neighbor"), (1, 3, 5, 7)),
    "cumsum": (lambda x: op.cumsum(x, axis=1), (5, 127)),
    "cumsum_open": (lambda x: op.cumsum(x, axis=1), (N, M)),
    "cumsum_of_open_columns": (lambda x: op.cumsum(x, axis=0), (N, M)),
    "sort": (lambda x: op.sort(x, axis=1), (5, 127)),
    "argsort": (lambda x: op.argsort(x, axis=1), (5, 127)),
    "topk": (lambda x: op.topk(x, 3, axis=1, ret_type="values"), (5, 127)),
    # rows
    "softmax": (nn.softmax, (5, 127)),
    "softmax_open": (nn.softmax, (N, M)),
    "softmax_half": (nn.softmax, ((5, 127), HALF)),
    "softmax_long": (nn.softmax, (3, 1000)),
    "softmax_of_columns": (lambda x: nn.softmax(x, axis=1), (5, 37, 3)),
    "log_softmax": (nn.log_softmax, (5, 37)),
    "layer_norm": (layer_norm, (5, 7, 127), (127,), (127,)),
    "layer_norm_open": (layer_norm, (N, M, 130), (130,), (130,)),
    "layer_norm_half": (layer_norm, ((5, 128), HALF), ((128,), HALF), ((128,), HALF)),
    "rms_norm": (rms_norm, (5, 127), (127,)),
    "rms_norm_open": (rms_norm, (N, M, 37), (37,)),
    "group_norm": (
        lambda x, g, b: nn.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2, 3]),
        (2, 6, 7, 7),
        (6,),
        (6,),
    ),
    "sum": (op.sum, (37, 127)),
    "sum_int64": (lambda x: op.sum(x, axis=[1]), ((5, 127), LONG)),
    "sum_half": (lambda x: op.sum(x, axis=[1]), ((5, 127), HALF)),
    "sum_of_several_axes": (lambda x: op.sum(x, axis=[0, 2]), (5, 7, 37)),
    "sum_of_columns": (lambda x: op.sum(x, axis=[0]), (127, 5)),
    "sum_of_open_columns": (lambda x: op.sum(x, axis=[0]), (N, M)),
    "sum_of_nothing": (lambda x: op.sum(x, axis=[1]), (3, 0)),
    "mean": (lambda x: op.mean(x, axis=[2, 3]), (2, 3, 7, 9)),
    "variance": (lambda x: op.variance(x, axis=[1]), (5, 37)),
    "max_open": (lambda x: op.max(x, axis=[1]), (N, M)),
    "product": (lambda x: op.prod(x, axis=[1]), (5, 7)),
    "all": (lambda x: op.all(x, axis=[1]), ((5, 37), BOOL)),
    "argmax": (lambda x: op.argmax(x, axis=1), (5, 127)),
    "argmax_open": (lambda x: op.argmax(x, axis=1), (N, M)),
    "argmin_of_all": (op.argmin, (5, 127)),
    # products
    "matmul": (op.matmul, (37, 21), (21, 45)),
    "matmul_whole_tiles": (op.matmul, (64, 32), (32, 64)),
    "matmul_open": (op.matmul, (N, M), (M, 45)),
    "matmul_half": (op.matmul, ((37, 8), HALF), ((8, 45), HALF)),
    "matmul_int32": (op.matmul, ((37, 8), INT), ((8, 45), INT)),
    "matmul_bias_relu": (lambda x, y, b: nn.relu(op.add(op.matmul(x, y), b)), (N, 21), (21, 45), (45,)),
    "matmul_of_batches": (op.matmul, (3, 37, 21), (3, 21, 45)),
    "row_by_matrix": (op.matmul, (1, 127), (127, 45)),
    "matmul_of_no_columns": (op.matmul, (5, 0), (0, 7)),
    "conv": (conv(padding=1), (2, 3, 9, 9), (17, 3, 3, 3)),
    "conv_bias_relu": (conv_bias_relu, (2, 3, 9, 9), (17, 3, 3, 3), (1, 17, 1, 1)),
    "conv_open": (conv(padding=1), (N, 3, 9, 9), (17, 3, 3, 3)),
    "conv_half": (conv(padding=1), ((2, 8, 9, 9), HALF), ((16, 8, 3, 3), HALF)),
    "conv_strided": (conv(strides=2, padding=1), (2, 3, 9, 7), (5, 3, 3, 3)),
    "conv_last": (
        conv(data_layout="NHWC", kernel_layout="HWIO", padding=1),
        (2, 9, 9, 3),
        (3, 3, 3, 17),
    ),
    "conv_of_groups": (conv(padding=1, groups=2), (2, 16, 9, 9), (32, 8, 3, 3)),
    "depthwise": (conv(padding=1, groups=6), (2, 6, 9, 9), (6, 1, 3, 3)),
    "conv1d": (nn.conv1d, (2, 3, 19), (4, 3, 5)),
    "conv_transpose": (lambda x, w: nn.conv2d_transpose(x, w, strides=2), (2, 3, 5, 5), (3, 4, 3, 3)),
    "max_pool": (lambda x: nn.max_pool2d(x, (3, 3), padding=(1, 1)), (1, 3, 9, 9)),
    "avg_pool": (lambda x: nn.avg_pool2d(x, (3, 3), padding=(1, 1)), (1, 3, 9, 9)),
    "attention": (nn.attention, (1, 7, 2, 8), (1, 9, 2, 8), (1, 9, 2, 8)),
    "attention_open": (nn.attention, (1, N, 2, 8), (1, N, 2, 8), (1, N, 2, 8)),
    "einsum": (lambda x, y: op.einsum((x, y), "ij,kj->ik"), (5, 7), (9, 7)),
}


def types_of(arguments):
    return [each if len(each) == 2 and isinstance(each[1], str) else (each, "float32") for each in arguments]


def graph(name):
    """The module of a program: its `main` calls the operators."""
    function, *arguments = PROGRAMS[name]
    builder = relax.BlockBuilder()
    params = [
        relax.Var(f"x{n}", relax.TensorType(list(shape), dtype))
        for n, (shape, dtype) in enumerate(types_of(arguments))
    ]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(function(*params))
        builder.emit_func_output(result)
    return builder.get()


def is_open(name):
    return any(isinstance(extent, Var) for shape, _ in types_of(PROGRAMS[name][1:]) for extent in shape)


def data_for(name):
    """Lists of arrays that the program is called with, one for each of the sizes."""
    for sizes in SIZES if is_open(name) else SIZES[:1]:
        random = np.random.default_rng(0)
        yield [
            numbers(random, [sizes[e.name_hint] if isinstance(e, Var) else e for e in shape], dtype)
            for shape, dtype in types_of(PROGRAMS[name][1:])
        ]


def numbers(random, shape, dtype):
    """Indices into the shortest axis that programs look into are among the integers of 64 bits."""
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype == "int64":
        return random.integers(0, 5, shape)
    if dtype == "int32":
        return random.integers(-9, 10, shape).astype("int32") * 2 + 1
    return random.standard_normal(shape).astype(dtype)


def results(program, arguments):
    out = program["main"](*arguments)
    return [each.numpy() for each in (out if isinstance(out, (tuple, list)) else [out])]


def on_cpu(name):
    return tw.VirtualMachine(tw.compile(graph(name)))
