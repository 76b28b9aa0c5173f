"""Pooling, products, normalizations and the rest in the orders of arguments of several years."""

import numpy as np
from topi.cases_norm import IMAGE as NORMED
from topi.cases_norm import C, batch
from topi.cases_pool import largest, mean
from topi.cases_products import PLACES, ROWS, sparse, swap, wide
from topi.cases_rearrange import dilated, nearest, of_torch, to_space
from topi.references import channels_last, small
from topi.table import FLOATS, Case, Input
from torch.nn import functional as F
from tvm import topi

nn = topi.nn
LINE, IMAGE, VOLUME = [small("n", 3, 9)], [small("n", 3, 7, 5)], [small("n", 2, 5, 4, 3)]
SOME = ("float32", "int32")
MATRICES = [small("n", 7), small(3, 7), small(3)]


def case(name, build, reference, inputs, dtypes=SOME, **options):
    return Case(f"tvm.topi.nn.{name}", build, reference, inputs, dtypes, **options)


def scaled(axis):
    def reference(x, scale, shift):
        shape = [-1 if n == axis else 1 for n in range(4)]
        return x * scale.reshape(shape) + shift.reshape(shape)

    return reference


def asymmetric(x):
    """Twice as large: every second element is that of x, those between are means; the last repeats."""
    for axis in (2, 3):
        after = np.concatenate([x, np.take(x, [-1], axis)], axis)
        between = (
            np.take(after, range(x.shape[axis]), axis) + np.take(after, range(1, x.shape[axis] + 1), axis)
        ) / 2
        x = np.stack([x, between], axis + 1).reshape(
            [extent * (2 if n == axis else 1) for n, extent in enumerate(x.shape)]
        )
    return x


POOLS = [
    case(
        "pool",
        lambda x: nn.pool(x, [2, 2], [2, 2], [0, 0, 1, 1], "max", ceil_mode=False, layout="NCHW"),
        lambda x: largest(2, 2, 2)(np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=-9)),
        IMAGE,
    ),
    case(
        "pool",
        lambda x: nn.pool(x, 3, 2, 1, "avg", False, "NCHW", False),
        mean(2, 3, 2, 1, count_include_pad=False),
        IMAGE,
        FLOATS,
        label="avg",
    ),
    case("pool1d", lambda x: nn.pool1d(x, [3], [2], [1], [1, 1], "max"), largest(1, 3, 2, 1), LINE),
    case(
        "pool1d",
        lambda x: nn.pool1d(x, [3], [2], [1, 1], "avg", False, "NCW", True),
        mean(1, 3, 2, 1),
        LINE,
        FLOATS,
        label="2020",
    ),
    case(
        "pool2d",
        lambda x: nn.pool2d(x, [3, 2], [2, 2], [1, 2], [1, 1, 1, 1], "max"),
        largest(2, (3, 2), 2, 1, (1, 2)),
        IMAGE,
    ),
    case("pool2d", lambda x: nn.pool2d(x, 2, 2, 0, "max"), largest(2, 2, 2), IMAGE, label="2020"),
    case(
        "pool2d",
        lambda x: nn.pool2d(x, 2, 2, padding=0, pool_type="max"),
        largest(2, 2, 2),
        IMAGE,
        label="named",
    ),
    case(
        "pool2d",
        lambda x: nn.pool2d(x, 2, 2, 0, pool_type="max"),
        largest(2, 2, 2),
        IMAGE,
        label="type_named",
    ),
    case(
        "pool3d",
        lambda x: nn.pool3d(x, [2, 2, 2], [1, 1, 1], [1, 1, 1], [0] * 6, "avg"),
        mean(3, 2, 1),
        VOLUME,
        FLOATS,
    ),
    case(
        "adaptive_pool",
        lambda x: nn.adaptive_pool(x, (2, 3), "avg"),
        of_torch(lambda x: F.adaptive_avg_pool2d(x, (2, 3))),
        IMAGE,
        FLOATS,
    ),
]
PRODUCTS = [
    case(
        "dense",
        lambda x, w, b: nn.dense(x, w, b, "float32", auto_scheduler_rewritten_layout=""),
        wide(lambda x, w, b: x @ w.T + b),
        MATRICES,
        ("float32",),
    ),
    case(
        "matmul",
        lambda x, w, b: nn.matmul(x, w, bias=b, transpose_b=True),
        wide(lambda x, w, b: x @ w.T + b),
        MATRICES,
    ),
    case(
        "batch_matmul",
        nn.batch_matmul,
        wide(lambda a, b: a @ swap(b)),
        [small("n", 5, 7), small("n", 3, 7)],
        label="2018",
    ),
    case(
        "batch_matmul",
        lambda a, b: nn.batch_matmul(a, b, None, "float32", transpose_b=False),
        wide(lambda a, b: a @ b),
        [small("n", 5, 7), small("n", 7, 3)],
        ("float32",),
    ),
    case(
        "sparse_dense", nn.sparse_dense, wide(sparse), [small("n", 7), small(8), PLACES, ROWS], ("float32",)
    ),
    case(
        "sparse_dense",
        lambda *x: nn.sparse_dense(*x, sparse_lhs=True),
        wide(lambda *x: sparse(*x).T),
        [small(3, 7), small(8), PLACES, ROWS],
        ("float32",),
        label="lhs",
    ),
]
NORMS = [
    case("batch_norm", lambda *x: nn.batch_norm(*x)[0], batch, [*NORMED, C, C, C, C], ("float32",)),
    case("scale_shift_nchw", nn.scale_shift_nchw, scaled(1), [*IMAGE, Input(3), Input(3)]),
    case("scale_shift_nhwc", nn.scale_shift_nhwc, scaled(3), [*IMAGE, Input(5), Input(5)]),
    case(
        "scale_shift_nchwc",
        nn.scale_shift_nchwc,
        lambda x, a, b: x * a[:, None, None] + b[:, None, None],
        [small("n", 2, 3, 5, 4), Input(2, 4), Input(2, 4)],
    ),
]
MOVES = [
    case(
        "pad",
        lambda x: nn.pad(x, [0, 1, 2], [0, 0, 1], pad_value=3, name="data_pad"),
        lambda x: np.pad(x, ((0, 0), (1, 0), (2, 1)), constant_values=3),
        [Input("n", 5, 7)],
    ),
    case(
        "mirror_pad",
        lambda x: nn.mirror_pad(x, (0, 2), (0, 1), "REFLECT", "mirrored"),
        lambda x: np.pad(x, ((0, 0), (2, 1)), "reflect"),
        [Input("n", 5)],
    ),
    case(
        "dilate",
        lambda x: nn.dilate(x, (1, 3), name="wide"),
        lambda x: dilated(x, (1, 3), 0),
        [Input("n", 5)],
    ),
    case(
        "depth_to_space",
        lambda x: nn.depth_to_space(x, 2, "NCHW", mode="CDR"),
        lambda x: to_space(x, True),
        [Input("n", 8, 4, 6)],
    ),
    case(
        "upsampling",
        lambda x: nn.upsampling(x, 2),
        lambda x: nearest(x, 2, 2),
        [small("n", 2, 5, 3)],
        label="2018",
    ),
    case(
        "upsampling",
        lambda x: nn.upsampling(x, 2, "NCHW", "BILINEAR"),
        asymmetric,
        [small("n", 2, 5, 3)],
        ("float32",),
        label="2018linear",
        is_empty=False,
    ),
    case(
        "upsampling",
        lambda x: nn.upsampling(x, 2, 3, layout="NHWC", method="nearest_neighbor"),
        channels_last(lambda x: nearest(x, 2, 3)),
        [small("n", 5, 3, 2)],
    ),
    case(
        "upsampling3d",
        lambda x: nn.upsampling3d(x, 2, 2, 2, "NCDHW", "trilinear"),
        of_torch(lambda x: F.interpolate(x, scale_factor=2, mode="trilinear")),
        [small("n", 2, 3, 2, 3)],
        ("float32",),
        is_empty=False,
    ),
]
CASES = [*POOLS, *PRODUCTS, *NORMS, *MOVES]
