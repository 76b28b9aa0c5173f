"""to_dataflow: bindings without effects become dataflow blocks."""

import numpy as np
from graph_testing import (
    fused,
    kernels,
    random,
    run,
)

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class PlainBindings:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        b = R.negative(a)
        R.call_packed("tilewright.tests.see", b, sinfo_args=R.Tuple())
        c = R.add(b, x)
        with R.dataflow():
            lv = R.exp(c)
            gv = R.negative(lv)
            R.output(gv)
        return gv


@I.ir_module
class InDataflow:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            R.output(a, b)
        R.call_packed("tilewright.tests.see", b, sinfo_args=R.Tuple())
        with R.dataflow():
            c = R.add(b, x)
            lv = R.exp(c)
            gv = R.negative(lv)
            R.output(c, gv)
        return gv


def test_to_dataflow_stops_at_effects():
    result = transform.to_dataflow()(PlainBindings)
    assert_structural_equal(result, InDataflow)
    assert transform.to_dataflow()(result) is result
    assert kernels(fused(result)) == ["fused_exp_negative", "fused_add_exp_negative"]
    seen = []
    tilewright.register_func("tilewright.tests.see", lambda value: seen.append(value.numpy()), override=True)
    x = random(3)
    got = run(PlainBindings, x, opt_level=2)
    np.testing.assert_allclose(got, -np.exp(x - np.exp(x)), rtol=1e-5)
    np.testing.assert_allclose(seen, [-np.exp(x)], rtol=1e-5)
