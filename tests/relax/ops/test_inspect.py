"""Operators that ask how a tensor lies in memory."""

from op_images import X
from op_testing import run_op


def test_inspection():
    assert run_op("inspect.tensor_ndim", X) == 4
    assert run_op("inspect.tensor_shape_i", X, 2) == 7
    assert run_op("inspect.tensor_stride_i", X, 1) == 35
    assert run_op("inspect.tensor_byte_offset", X) == 0
    assert run_op("inspect.tensor_elem_offset", X) == 0
    assert run_op("inspect.tensor_dtype_code", X) == 2
    assert run_op("inspect.tensor_dtype_bits", X) == 32
    assert run_op("inspect.tensor_dtype_lanes", X) == 1
