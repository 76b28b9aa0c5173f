"""A file that was replaced is another library, also while the one before is in use."""

import numpy as np
import pytest
from graph_testing import compile_graph, run_graph

import tilewright
from tilewright import relax


def times(factor):
    return compile_graph(lambda x: relax.op.multiply(x, relax.const(np.float32(factor))), x=(5,))


@pytest.mark.parametrize("num_rounds", [4])
def test_models(tmp_path, num_rounds):
    """Found: the loader gave the old model for as long as it was in use."""
    path, x = str(tmp_path / "model.so"), np.arange(5, dtype="float32")
    loaded = []
    for factor in range(2, 2 + num_rounds):
        times(factor).export_library(path)
        loaded.append(tilewright.load_module(path))
        loaded.append(tilewright.load_module(path))  # the same file again
    for n, executable in enumerate(loaded):
        np.testing.assert_array_equal(run_graph(executable, x), x * (2 + n // 2))
