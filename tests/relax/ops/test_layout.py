"""layout_transform and memory.view, against numpy."""

import ml_dtypes
import numpy as np
from op_data import X
from op_testing import check_op


def test_layout_transform():
    check_op("layout_transform", [X], {"index_map": lambda i, j: (j, i)}, X.T.copy())
    padded = np.full((5, 3, 3), 7, "float32")
    for j in range(7):
        padded[:, j // 3, j % 3] = X[:, j]
    split = {"index_map": lambda i, j: (i, j // 3, j % 3), "pad_value": 7.0}
    check_op("layout_transform", [X], split, padded)
    blocked = np.zeros((2, 7, 4), "float32")
    for i in range(5):
        blocked[i // 4, :, i % 4] = X[i]
    rows = {"index_map": lambda i, j: (i // 4, j, i % 4)}
    check_op("layout_transform", [X], rows, blocked, symbols=(5,))
    numbers = np.arange(10, dtype="int32")
    check_op(
        "layout_transform",
        [numbers],
        {"index_map": lambda i: (i % 5, i // 5)},
        numbers.reshape(2, 5).T.copy(),
    )


def test_bytes_as_another_tensor():
    check_op("memory.view", [X, (7, 5)], {}, X.reshape(7, 5))
    check_op("memory.view", [X], {"dtype": "int32"}, X.view("int32"))
    check_op("memory.view", [X, (4,)], {"relative_byte_offset": 8}, X.reshape(-1)[2:6])
    check_op("memory.view", [X, (5, 14)], {"dtype": "int16"}, X.view("int16"))
    check_op("memory.view", [X, (4,)], {}, X.reshape(-1)[:4], symbols=(5, 7))
    check_op("memory.ensure_zero_offset", [X], {}, X)


def test_bytes_as_integers_narrower_than_a_byte():
    packed = np.array([0x21, 0x43, 0x65, 0x87], "uint8")
    numbers = np.array([1, 2, 3, 4, 5, 6, 7, -8], "int8").astype(ml_dtypes.int4)
    check_op("memory.view", [packed, (8,)], {"dtype": "int4"}, numbers)
    check_op("memory.view", [packed, (7,)], {"dtype": "int4"}, numbers[:7])
    check_op("memory.view", [numbers, (4,)], {"dtype": "uint8"}, packed)
    check_op("memory.view", [numbers, (4,)], {"relative_byte_offset": 2}, numbers[4:])
