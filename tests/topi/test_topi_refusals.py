"""What topi functions refuse, and in which words."""

import pytest
from refusals import refusal

from tilewright import te, topi

X = te.placeholder((5, 7), "float32", "x")
I = te.placeholder((5, 7), "int32", "i")
ROW = te.placeholder((7,), "float32", "row")
N = te.var("n")

REFUSED = {
    "exp of integers": (lambda: topi.exp(I), 'exp: x is int32, expected floats\nhelp: topi.cast(x, "float32")'),
    "atan2 of integers": (lambda: topi.atan2(I, 2), 'atan2: x is int32, expected floats\nhelp: topi.cast(x, "float32")'),
    "bits of another size": (
        lambda: topi.reinterpret(X, "int16"), "reinterpret: elements of float32 have 32 bits, those of int16 have 16",
    ),
    "bits of floats": (lambda: topi.popcount(X), "popcount: x is float32, expected integers"),
    "a sum of another shape": (
        lambda: topi.collapse_sum(X, (3,)), "collapse_sum: shape [3] does not broadcast to [5, 7], the shape of data",
    ),
    "a running sum along nothing": (lambda: topi.cumsum(X, 2), "axis 2 is outside of a tensor with 2 dimensions"),
    "nothing beside each other": (lambda: topi.stack([]), "stack: no tensors are given"),
    "different ones beside each other": (lambda: topi.stack([X, ROW]), "error: stack: tensor 0 is float32[5, 7], but tensor 1 is float32[7]"),
    "pieces outside": (lambda: topi.split(X, [3, 9]), "error: split: the piece that begins at 9 is outside of 0 to 5"),
    "no pieces": (lambda: topi.split(X, 0), "error: split: 0 pieces, expected at least 1"),
    "a layout of other indices": (
        lambda: topi.layout_transform(X, lambda i: i), "error: layout_transform: the map does not fit: it takes 1 index, but x has 2 dimensions",
    ),
    "windows over other dimensions": (
        lambda: topi.sliding_windows(X, 0, [2], [1]), "sliding_windows: 1 extents and 1 steps for 2 dimensions from axis 0 on",
    ),
    "a slice with too few ends": (lambda: topi.strided_slice(X, [0, 1], [2]), "strided_slice: 2 axes, 2 begins, 1 ends and 2 strides"),
    "a slice of three dimensions": (
        lambda: topi.strided_slice(X, [0, 0, 0], [1, 1, 1]), "strided_slice: 3 begins for a of shape [5, 7]",
    ),
    "a slice without steps": (
        lambda: topi.strided_slice(X, [0], [1], [0]), "strided_slice: the stride of axis 0 is 0, expected a number that is not 0",
    ),
    "a slice by a variable": (
        lambda: topi.strided_slice(X, [0], [1], [N]), "strided_slice: the stride of axis 0 is n, expected a number that is not 0",
    ),
    "steps backwards into a slice": (
        lambda: topi.slice_scatter(X, X, 0, 5, -1), "slice_scatter: the step is -1, expected at least 1",
    ),
    "another part than the slice": (
        lambda: topi.slice_scatter(X, X, 0, 2), "slice_scatter: src is [5, 7], but the slice is [2, 7]",
    ),
    "a part of another dtype": (
        lambda: topi.slice_scatter(X, I, 0, 5), "slice_scatter: src is int32, but input_tensor is float32",
    ),
    "elements chosen by floats": (lambda: topi.take(X, ROW), "error: take: indices is float32[7], expected integers"),
    "elements chosen in another way": (
        lambda: topi.take(X, I, mode="near"), 'error: take: mode is "near", expected "fast", "clip" or "wrap"',
    ),
    "batches after the axis": (
        lambda: topi.take(X, I, 0, batch_dims=1),
        "take: batch_dims 1 with axis 0 and indices of shape [5, 7]: expected at most axis, and at most the dimensions of indices",
    ),
    "numbers in no steps": (lambda: topi.arange(5, step=0), "arange: the step is 0"),
    "numbers in steps of a variable": (
        lambda: topi.arange(N, step=N), "arange: the step is n, expected an integer where start or stop is an expression",
    ),
    "a triangle of a vector": (lambda: topi.tril(ROW), "tril: x has 1 dimension, expected at least 2"),
    "a trace of a vector": (lambda: topi.trace(ROW), "trace: x has 1 dimension, expected at least 2"),
    "positions of floats": (lambda: topi.one_hot(X, 1, 0, 3), "one_hot: indices is float32, expected integers"),
    "positions along nothing": (
        lambda: topi.one_hot(I, 1, 0, 3, 3), "one_hot: axis 3 is outside of a result with 3 dimensions",
    ),
    "no positions": (lambda: topi.one_hot(I, 1, 0, 0), "one_hot: depth is 0, expected at least 1"),
    "places of floats": (lambda: topi.unravel_index(X, (3, 4)), "unravel_index: indices is float32, expected integers"),
    "positions as floats": (lambda: topi.argsort(X, dtype="float32"), "error: argsort: dtype is float32, expected int32 or int64"),
    "more than there are": (lambda: topi.topk(X, 8), "error: topk: k is 8, but the dimension has 7 elements"),
    "another reduction": (
        lambda: topi.scatter_elements(X, I, X, 0, "sub"),
        'error: scatter_elements: reduction is "sub", expected "update", "add", "mul", "mean", "max" or "min"',
    ),
    "letters for other dimensions": (
        lambda: topi.einsum("ij,jk->ik", X, ROW), 'error: einsum: operand 1 is float32[7], but its subscripts are "jk"',
    ),
    "more axes than there are": (lambda: topi.tensordot(X, ROW, 2), "tensordot: 2 axes of [5, 7] and [7]"),
    "axes of one alone": (lambda: topi.tensordot(X, X, [[0, 1], [0]]), "tensordot: 2 axes of a, but 1 of b"),
    "axes that differ": (lambda: topi.tensordot(X, X, [[0], [1]]), "tensordot: axis 0 of a is 5, but axis 1 of b is 7"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused(name):
    call, text = REFUSED[name]
    assert refusal(call) == text
