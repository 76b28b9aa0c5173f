"""Arrays of numpy around a script are what R.const takes, as in TVM's programs."""

import numpy as np
import pytest
from graph_testing import run_graph

import tilewright
from tilewright.script import relax as R
from tilewright.script import tir as T

WEIGHT = np.random.default_rng(0).random((3, 500), "float32")


def test_product_by_an_array():
    """Found: a Python numpy.ndarray cannot be used in a program."""

    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 500), "float32"):
        y = R.add(R.matmul(x, R.const(WEIGHT, "float32")), R.const(np.ones(500, "float32")))
        return y

    x = np.random.default_rng(1).random((2, 3), "float32")
    executable = tilewright.compile(tilewright.IRModule({"main": main}))
    np.testing.assert_allclose(run_graph(executable, x), x @ WEIGHT + 1, rtol=1e-5)


def test_another_dtype_is_refused():
    with pytest.raises(tilewright.UserError, match="^error: the constant holds float32, not int32\n"):

        @R.function
        def main(x: R.Tensor((3, 500), "float32")) -> R.Tensor((3, 500), "float32"):
            y = R.add(x, R.const(WEIGHT, "int32"))
            return y


def test_loops_have_no_arrays_in_them():
    with pytest.raises(tilewright.UserError, match="^error: expected an expression, found a graph value\n"):

        @T.prim_func
        def main(A: T.Buffer((4,), "float32")):
            for i in range(4):
                A[i] = WEIGHT
