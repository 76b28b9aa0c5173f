"""bind_params: parameters become constants, and dimensions that only they say become numbers."""

import numpy as np
import pytest
from graph_testing import random, run

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I
from tilewright.script import relax as R


@I.ir_module
class Layer:
    @R.function
    def main(
        x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", 3), "float32"), b: R.Tensor((3,), "float32")
    ) -> R.Tensor(("n", 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            gv = R.add(lv, b)
            R.output(gv)
        return gv


W, B = np.array([[1, 2, 3], [4, 5, 6]], "float32"), np.array([7, 8, 9], "float32")


@I.ir_module
class Bound:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")) -> R.Tensor(("n", 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, R.const([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32"))
            gv = R.add(lv, R.const([7.0, 8.0, 9.0], "float32"))
            R.output(gv)
        return gv


def test_parameters_and_their_dimensions_are_gone():
    result = transform.BindParams("main", {"w": W, "b": B})(Layer)
    assert_structural_equal(result, Bound)
    x = random(5, 2)
    np.testing.assert_allclose(run(result, x), run(Layer, x, W, B), rtol=1e-6)


def test_nothing_to_bind_changes_nothing():
    assert transform.BindParams("main", {})(Layer)["main"].same_as(Layer["main"])


@pytest.mark.parametrize(
    ("name", "params", "text"),
    [
        (
            "main",
            {"v": W},
            'error: bind_params: the function has no parameter "v"\nhelp: the names are x, w, b',
        ),
        (
            "main",
            {"w": W.T.copy()},
            "error: bind_params: parameter w is float32[k, 3], but the value is float32[3, 2]",
        ),
        (
            "main",
            {"w": W.astype("float64")},
            "error: bind_params: parameter w is float32[k, 3], but the value is float64[2, 3]",
        ),
        ("main", {"b": W}, "error: bind_params: parameter b is float32[3], but the value is float32[2, 3]"),
        ("mine", {"w": W}, 'error: the module has no function "mine"\nhelp: did you mean main?'),
    ],
)
def test_refused(name, params, text):
    with pytest.raises(tilewright.UserError) as error:
        transform.BindParams(name, params)(Layer)
    lines = str(error.value).splitlines()
    assert [line for line in lines if line.startswith(("error: ", "help: "))] == text.splitlines()
