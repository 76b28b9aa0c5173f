"""R.grad.no_grad, start_checkpoint and end_checkpoint: marks for gradients, which compute nothing."""

import numpy as np
import pytest
from op_testing import check_op

from tilewright import relax
from tilewright.relax import transform
from tilewright.script import ir as I
from tilewright.script import relax as R

X = np.arange(35, dtype="float32").reshape(5, 7)
NAMES = ["no_grad", "start_checkpoint", "end_checkpoint"]


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_the_argument(name):
    check_op(f"grad.{name}", [X], {}, X)
    check_op(f"grad.{name}", [X], {}, X, symbols=(5, 7))


@pytest.mark.parametrize("name", NAMES)
def test_the_type_is_that_of_the_argument(name):
    x = relax.Var("x", relax.TensorType((5, 7), "int32"))
    call = relax.BlockBuilder().normalize(getattr(relax.op.grad, name)(x))
    assert str(call.type) == str(x.type)


def test_legalize_ops_leaves_nothing_of_them():
    @I.ir_module
    class Marked:
        @R.function
        def main(x: R.Tensor((5, 7), "float32")):
            with R.dataflow():
                a = R.grad.start_checkpoint(x)
                b = R.grad.no_grad(a)
                gv = R.grad.end_checkpoint(b)
                R.output(gv)
            return gv

    legal = transform.legalize_ops()(Marked)
    assert "grad" not in legal.script()
    assert "call_tir" not in legal.script()
