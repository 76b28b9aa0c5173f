"""Gather and its kin: indices outside are refused, those below 0 count from the end."""

import numpy as np
import pytest
from onnx_testing import run_node

import tilewright


@pytest.mark.parametrize("index", [1 << 40, -(1 << 40), -6, 5])
@pytest.mark.parametrize(("op", "shape"), [("Gather", (1,)), ("GatherElements", (1,)), ("GatherND", (1, 1))])
def test_gathers_read_no_foreign_memory(op, shape, index):
    x = np.arange(5, dtype="float32")
    with pytest.raises(tilewright.UserError) as error:
        run_node(op, [x, np.full(shape, index)])
    assert (
        str(error.value)
        == f'error: {op} node that makes "y0": index {index} of dimension 0, which has extent 5'
    )
    assert run_node(op, [x, np.full(shape, -1)]) == [4]
