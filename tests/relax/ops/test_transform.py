"""Operators that move elements or repeat them, against numpy."""

import numpy as np
import pytest
from op_data import CUBE, ROW, X, Y
from op_testing import check_op

RNG = np.random.default_rng(5)


def test_batch_flatten():
    check_op("nn.batch_flatten", [CUBE], {}, CUBE.reshape(len(CUBE), -1))
    check_op("nn.batch_flatten", [X[0]], {}, X[0][:, None])


def test_shapes():
    check_op("reshape", [X, (7, -1)], {}, X.reshape(7, -1))
    check_op("expand_dims", [X], {"axis": [0, -1]}, X[None, ..., None])
    check_op("squeeze", [X[None]], {"axis": [0]}, X)
    check_op("flatten", [CUBE], {}, CUBE.ravel())
    check_op("permute_dims", [CUBE], {"axes": [2, 0, 1]}, CUBE.transpose(2, 0, 1))
    check_op("concat", [[X, Y]], {"axis": -1}, np.concatenate([X, Y], -1))
    check_op("stack", [[X, Y, X]], {"axis": 1}, np.stack([X, Y, X], 1))
    check_op("split", [X], {"indices_or_sections": [2, 3], "axis": 1}, np.split(X, [2, 3], 1))
    check_op("tile", [X], {"repeats": [2, 1, 3]}, np.tile(X, (2, 1, 3)))
    check_op("repeat", [X], {"repeats": 3, "axis": 1}, np.repeat(X, 3, 1))
    check_op("repeat", [X], {"repeats": 2}, np.repeat(X, 2))
    check_op("flip", [X], {"axis": 1}, X[:, ::-1])
    check_op("broadcast_to", [ROW, (3, 5, 7)], {}, np.broadcast_to(ROW, (3, 5, 7)))
    check_op("collapse_sum_to", [CUBE, (5, 1)], {}, CUBE.sum((0, 2))[:, None])
    check_op("collapse_sum_like", [CUBE, ROW], {}, CUBE.sum((0, 1)), atol=1e-5)
    check_op("meshgrid", [[ROW, X[:, 0].copy()]], {}, list(np.meshgrid(ROW, X[:, 0], indexing="ij")))
    check_op("meshgrid", [[ROW, X[:, 0].copy()]], {"indexing": "xy"}, list(np.meshgrid(ROW, X[:, 0])))


@pytest.mark.parametrize(
    ("shape", "seq_axis", "batch_axis"), [((3, 5), 1, 0), ((5, 2, 3), 0, -1), ((2, 7, 3, 2), -2, 1)]
)
def test_reverse_sequence(shape, seq_axis, batch_axis):
    x = RNG.standard_normal(shape).astype("float32")
    batch = shape[batch_axis]
    lengths = np.resize([0, 1, 3, 9, 2, -4, 5], batch).astype("int32")  # some outside: the nearest length
    rows, wanted = np.moveaxis(x, [batch_axis, seq_axis], [0, 1]), x.copy()
    out = np.moveaxis(wanted, [batch_axis, seq_axis], [0, 1])
    for n, length in enumerate(np.clip(lengths, 0, shape[seq_axis])):
        out[n, :length] = rows[n, :length][::-1]
    attrs = {"seq_axis": seq_axis, "batch_axis": batch_axis}
    check_op("reverse_sequence", [x, lengths], attrs, wanted)
    check_op("reverse_sequence", [x, lengths.astype("int64")], attrs, wanted, symbols=(shape[seq_axis],))
