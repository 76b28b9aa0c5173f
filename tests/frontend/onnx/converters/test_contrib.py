"""MatMulNBits of com.microsoft: blocks of integers of 4 bits with a scale each; more is in test_weights."""

import numpy as np
from onnx_testing import run_node


def test_four_bits():
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (5, 32)).astype("float32")
    numbers = rng.integers(0, 16, (7, 32))
    scales = 2.0 ** rng.integers(-2, 2, (7, 2)).astype("float32")
    packed = (numbers[:, 0::2] | numbers[:, 1::2] << 4).astype("uint8").reshape(7, 2, 8)
    found = run_node(
        "MatMulNBits",
        [x, packed, scales.ravel()],
        constants=[1, 2],
        domain="com.microsoft",
        K=32,
        N=7,
        bits=4,
        block_size=16,
    )
    np.testing.assert_array_equal(found, x @ ((numbers - 8) * np.repeat(scales, 16, axis=1)).T)
