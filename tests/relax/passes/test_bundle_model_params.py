"""bundle_model_params: weights as one tuple."""

import numpy as np
import pytest
from graph_programs import Weights
from graph_testing import random

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Bundled:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        weights: R.Tuple(R.Tensor((5,), "float32"), R.Tensor((7, 5), "float32"), R.Tensor((5,), "float32")),
    ) -> R.Tensor(("n", 5), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            b = weights[0]
            lv1 = weights[1]
            lv3 = weights[2]
            R.output(b, lv1, lv3)
        with R.dataflow():
            lv2 = R.matmul(x, lv1)
            lv4 = R.add(lv2, lv3)
            gv = R.add(lv4, b)
            R.output(gv)
        return gv


def test_weights_as_one_tuple():
    lifted = transform.lift_transform_params()(Weights)
    result = transform.bundle_model_params(param_name="weights")(lifted)
    assert_structural_equal(result["main"], Bundled["main"])
    assert transform.bundle_model_params()(result) is result
    machine = tilewright.VirtualMachine(tilewright.compile(result))
    x, w, b, s = random(3, 7), random(5, 7), random(5), random()
    prepared = machine["main_transform_params"]([tilewright.tensor(v) for v in (w, b, s)])
    after = machine["main"](tilewright.tensor(x), prepared)
    np.testing.assert_allclose(after.numpy(), x @ w.T * s + np.exp(b) + b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["lift_transform_params", "bundle_model_params"])
def test_too_many_inputs(name):
    @I.ir_module
    class Wrong:
        @R.function
        def main(w: R.Tensor((3,), "float32")):
            R.func_attr({"num_input": 2})
            gv = R.exp(w)
            return gv

    with pytest.raises(tilewright.UserError) as error:
        getattr(transform, name)()(Wrong)
    known = {
        "lift_transform_params": "num_input is 2, but main has 1 parameter",
        "bundle_model_params": "num_input is 2, but the number of parameters is 1",
    }
    assert str(error.value).splitlines()[0] == f"error: {name}: {known[name]}"
