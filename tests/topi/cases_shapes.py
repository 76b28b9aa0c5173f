"""Cases of the same elements in other shapes and orders, and of parts of tensors."""

import numpy as np
from topi.table import ALL, INTS, Case, Input

from tilewright import topi

X = [Input("n", 5, 7)]


def moved(name, build, reference, inputs=X, dtypes=ALL, **options):
    return Case(f"topi.{name}", build, reference, inputs, dtypes, **options)


def lengths(rng, shape, dtype):
    return rng.integers(0, 6, shape)


def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, (3, 2), axis=(1, 2))[:, :, ::2]


SHAPES = [
    moved("reshape", lambda x: topi.reshape(x, [x.shape[0], 35]), lambda x: x.reshape(x.shape[0], 35)),
    moved("reshape", lambda x: topi.reshape(x, (7, -1)), lambda x: x.reshape(7, x.size // 7), label="the rest"),
    moved("flatten", topi.flatten, np.ravel),
    moved("transpose", topi.transpose, np.transpose),
    moved("transpose", lambda x: topi.transpose(x, (0, -1, 1)), lambda x: x.transpose(0, 2, 1), label="axes"),
    moved("expand_dims", lambda x: topi.expand_dims(x, -1), lambda x: x[..., None]),
    moved("expand_dims", lambda x: topi.expand_dims(x, 1, 2), lambda x: x[:, None, None], label="two"),
    moved("squeeze", topi.squeeze, lambda x: x[:, 0, :, 0], [Input("n", 1, 7, 1)], is_open=False),
    moved("squeeze", lambda x: topi.squeeze(x, (1, -1)), lambda x: x[:, 0, :, 0], [Input("n", 1, 7, 1)], label="axes"),
    moved(
        "concatenate", lambda a, b: topi.concatenate([a, b, a], -1), lambda a, b: np.concatenate([a, b, a], -1),
        [Input("n", 5), Input("n", 7)],
    ),
    moved("concatenate", lambda a, b: topi.concatenate([a, b]), lambda a, b: np.concatenate([a, b]), [*X, Input(3, 5, 7)], label="first"),
    moved("stack", lambda a, b: topi.stack([a, b, a], -1), lambda a, b: np.stack([a, b, a], -1), X * 2),
    moved("stack", lambda a, b: topi.stack([a, b]), lambda a, b: np.stack([a, b]), X * 2, label="first"),
    moved("split", lambda x: topi.split(x, 2, 1), lambda x: [x[:, :3], x[:, 3:]]),
    moved("split", lambda x: topi.split(x, [2, 2, 6], 2), lambda x: np.split(x, [2, 2, 6], 2), label="places"),
    moved("tile", lambda x: topi.tile(x, (1, 2, 3)), lambda x: np.tile(x, (1, 2, 3))),
    moved("tile", lambda x: topi.tile(x, (2, 1, 1, 1)), lambda x: np.tile(x, (2, 1, 1, 1)), label="more"),
    moved("repeat", lambda x: topi.repeat(x, 3, 1), lambda x: np.repeat(x, 3, 1)),
    moved("repeat", lambda x: topi.repeat(x, 2, 0), lambda x: np.repeat(x, 2, 0), label="first"),
    moved("flip", topi.flip, lambda x: x[::-1]),
    moved("flip", lambda x: topi.flip(x, -1), lambda x: x[..., ::-1], label="last"),
    moved(
        "reverse_sequence", topi.reverse_sequence,
        lambda x, n: np.stack([np.concatenate([row[:k][::-1], row[k:]]) for row, k in zip(x, n, strict=True)]) if len(x) else x,
        [*X, Input("n", dtype="int32", make=lengths)],
    ),
    moved(
        "layout_transform", lambda x: topi.layout_transform(x, lambda i, j, k: (i, k // 4, j, k % 4), 1),
        lambda x: np.pad(x, ((0, 0), (0, 0), (0, 1)), constant_values=1).reshape(-1, 5, 2, 4).transpose(0, 2, 1, 3),
    ),
    moved("sliding_windows", lambda x: topi.sliding_windows(x, 1, (3, 2), (1, 2)), lambda x: windows(x).transpose(0, 1, 2, 3, 4)),
]  # fmt: skip

SLICES = [
    moved("strided_slice", lambda x: topi.strided_slice(x, [0, 1, -1], [3, 9, -8], [2, 2, -1]), lambda x: x[0:3:2, 1:9:2, -1:-8:-1]),
    moved("strided_slice", lambda x: topi.strided_slice(x, [1, -2], [None, None], axes=[1, -1]), lambda x: x[:, 1:, -2:], label="axes"),
    moved("strided_slice", lambda x: topi.strided_slice(x, [None], [None], [-1]), lambda x: x[::-1], label="backwards"),
    moved("strided_slice", lambda x: topi.strided_slice(x, [-3], [-1]), lambda x: x[-3:-1], label="from the end"),
    moved("strided_slice", lambda x: topi.strided_slice(x, [2, 4], [2, 1]), lambda x: x[2:2, 4:1], label="nothing"),
    moved(
        "slice_scatter", lambda x, y: topi.slice_scatter(x, y, 1, 6, 2, -1),
        lambda x, y: np.concatenate([np.where(np.arange(7) % 2 == 1, np.repeat(y, 2, -1)[..., [0, 0, 1, 2, 3, 4, 5]], x)]),
        [*X, Input("n", 5, 3)],
    ),
]  # fmt: skip


def places(low, high):
    """An index tensor [4, 2] of numbers from low to high - 1, of integers whatever the dtype of the case."""
    return Input(4, 2, dtype="int32", low=low, high=high)


def element(x, at):
    return x[np.arange(x.shape[0])[:, None], np.clip(np.where(at < 0, at + 5, at), 0, 4)]


INDEXED = [
    moved("take", lambda x, i: topi.take(x, i, 1), lambda x, i: np.take(x, np.where(i < 0, i + 5, i).clip(0, 4), 1), [*X, places(-7, 8)]),
    moved("take", lambda x, i: topi.take(x, i, 1, "wrap"), lambda x, i: np.take(x, i, 1, mode="wrap"), [*X, places(-7, 8)], label="wrap"),
    moved("take", lambda x, i: topi.take(x, i, 1, "fast"), lambda x, i: np.take(x, i, 1), [*X, places(0, 5)], label="fast"),
    moved("take", lambda x, i: topi.take(x, i, None), lambda x, i: np.take(x, i), [*X, places(0, 35)], is_empty=False, label="flat"),
    moved(
        "take", lambda x, i: topi.take(x, i, 1, batch_dims=1), element, [*X, Input("n", 3, dtype="int64", low=-5, high=5)],
        label="batches",
    ),
    moved(
        "take", lambda x, i: topi.take(x, i, 1, "wrap", 1), lambda x, i: x[np.arange(x.shape[0])[:, None], i % 5],
        [*X, Input("n", 3, dtype="int64", low=-9, high=9)], label="batches wrap",
    ),
    moved(
        "gather_elements", lambda x, i: topi.gather_elements(x, i, 1),
        lambda x, i: np.take_along_axis(x, i, 1), [*X, Input("n", 3, 7, dtype="int64", low=0)],
    ),
    moved("gather_nd", topi.gather_nd, lambda x, i: x[i[..., 0], i[..., 1]], [Input(5, 5, 7), Input("n", 3, 2, dtype="int32", low=0)]),
    moved(
        "gather_nd", lambda x, i: topi.gather_nd(x, i, 1), lambda x, i: x[np.arange(len(x)), i[:, 0]],
        [*X, Input("n", 1, dtype="int64", low=-5, high=5)], label="batches",
    ),
    moved(
        "index_tensor", lambda x, i, j: topi.index_tensor(x, [i, j]), lambda x, i, j: x[i, j],
        [Input(5, 5, 7), Input("n", 1, dtype="int32", low=-5), Input(3, dtype="int64", low=-5)],
    ),
    moved(
        "one_hot", lambda i: topi.one_hot(i, 2, 1, 7, 1, "int32"), lambda i: np.where(np.arange(7)[None, :, None] == i[:, None], 2, 1).astype("int32"),
        [Input("n", 3, low=0, high=9)], INTS,
    ),
    moved(
        "unravel_index", lambda i: topi.unravel_index(i, (3, 4, 5)), lambda i: np.stack(np.unravel_index(i, (3, 4, 5))).astype(i.dtype),
        [Input("n", 2, low=0, high=60)], INTS,
    ),
]  # fmt: skip

CREATED = [
    *(
        moved(name, lambda x, name=name: getattr(topi, name)([x.shape[0], 3], x.dtype), lambda x, name=name: getattr(np, name)((x.shape[0], 3), x.dtype))
        for name in ("zeros", "ones")
    ),
    *(moved(name, getattr(topi, name), getattr(np, name)) for name in ("zeros_like", "ones_like")),
    moved("full", lambda x: topi.full([x.shape[0], 3], x.dtype, 1), lambda x: np.full((x.shape[0], 3), 1, x.dtype)),
    moved("full_like", lambda x: topi.full_like(x, 1), lambda x: np.full_like(x, 1)),
    moved("arange", lambda x: topi.arange(7, dtype=x.dtype), lambda x: np.arange(7, dtype=x.dtype), [Input(1)], ALL[:-1]),
    moved("arange", lambda x: topi.arange(9, -2, -3, "int64"), lambda x: np.arange(9, -2, -3), [Input(1)], ("int64",), label="down"),
    moved("arange", lambda x: topi.arange(0.5, 2, 0.25), lambda x: np.arange(0.5, 2, 0.25, "float32"), [Input(1)], ("float32",), label="parts"),
    moved(
        "arange", lambda x: topi.arange(1, x.shape[0] + 4, 2, x.dtype), lambda x: np.arange(1, x.shape[0] + 4, 2, x.dtype), X,
        ("int32", "float32"), label="open",
    ),
    moved("eye", lambda x: topi.eye(x.shape[0], 7, 1, x.dtype), lambda x: np.eye(x.shape[0], 7, 1, x.dtype)),
    moved("tril", topi.tril, np.tril), moved("triu", lambda x: topi.triu(x, -1), lambda x: np.triu(x, -1)),
    moved(
        "trace", lambda x: topi.trace(x, 1), lambda x: np.trace(x, 1, 1, 2, None if x.dtype.kind == "f" else x.dtype), dtypes=ALL[:-1],
    ),
    moved("meshgrid", lambda a, b: topi.meshgrid([a, b]), lambda a, b: np.meshgrid(a, b, indexing="ij"), [Input("n"), Input(7)]),
    moved(
        "meshgrid", lambda a, b, c: topi.meshgrid([a, b, c], "xy"), lambda a, b, c: np.meshgrid(a, b, c),
        [Input("n"), Input(7), Input(2)], label="xy",
    ),
]  # fmt: skip

CASES = [*SHAPES, *SLICES, *INDEXED, *CREATED]
