"""normalize: nested calls are bound."""

import numpy as np
from graph_testing import random, run

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


def nested():
    x = relax.Var("x", relax.TensorType((5, 7), "float32"))
    value = relax.op.add(relax.op.exp(x), relax.op.negative(x))
    return tilewright.IRModule(
        {"main": relax.Function(params=[x], body=value, ret_type=x.type, attrs={"global_symbol": "main"})}
    )


@I.ir_module
class Normal:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        gv = R.exp(x)
        gv1 = R.negative(x)
        gv2 = R.add(gv, gv1)
        return gv2


def test_normalize_binds_nested_calls():
    result = transform.normalize()(nested())
    assert_structural_equal(result, Normal)
    assert transform.normalize()(result) is result
    x = random(5, 7)
    np.testing.assert_allclose(run(result, x), np.exp(x) - x, rtol=1e-6)
