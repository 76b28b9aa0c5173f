"""quantize and dequantize, against numpy."""

import numpy as np
import pytest
from op_images import X
from op_testing import check_op

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


def test_quantization():
    scale, zero = np.abs(some(4)) / 50 + np.float32(0.01), np.array([0, 3, -5, 7], "int8")
    shape = (1, 4, 1, 1)
    wanted = np.clip(np.round(X / scale.reshape(shape)) + zero.reshape(shape), -128, 127).astype("int8")
    check_op("quantize", [X, scale, zero], {"axis": 1}, wanted)
    real = (wanted.astype("float32") - zero.reshape(shape)) * scale.reshape(shape)
    check_op("dequantize", [wanted, scale, zero], {"axis": 1}, real)
    one, middle = np.array(0.1, "float32"), np.array(128, "uint8")
    wanted = np.clip(np.round(X / one) + 128, 0, 255).astype("uint8")
    check_op("quantize", [X, one, middle], {"out_dtype": "uint8"}, wanted)


@pytest.mark.parametrize("block", [2, 3, 7])
def test_quantization_in_blocks(block):
    """Also where the last block is shorter."""
    count = -(-X.shape[2] // block)
    shape = (*X.shape[:2], count, X.shape[3])
    scale = np.abs(some(*shape)) / 50 + np.float32(0.01)
    zero = np.arange(np.prod(shape)).reshape(shape).astype("int8") % np.int8(5)
    wide, moved = (np.repeat(each, block, axis=2)[:, :, : X.shape[2]] for each in (scale, zero))
    wanted = np.clip(np.round(X / wide) + moved, -128, 127).astype("int8")
    check_op("quantize", [X, scale, zero], {"axis": 2, "block_size": block}, wanted)
    real = (wanted.astype("float32") - moved) * wide
    check_op("dequantize", [wanted, scale, zero], {"axis": -2, "block_size": block}, real)
