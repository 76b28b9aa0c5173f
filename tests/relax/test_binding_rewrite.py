"""A dataflow block changed binding by binding."""

import numpy as np
import pytest

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax.binding_rewrite import DataflowBlockRewrite
from tilewright.script import ir as I
from tilewright.script import relax as R


@I.ir_module
class Identity:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            lv0 = R.exp(x)
            lv1 = R.negative(lv0)
            gv = R.abs(lv1)
            R.output(gv)
        return gv


MAIN = Identity["main"]
LV0, LV1, GV = (binding.var for binding in MAIN.body.blocks[0].bindings)


def rewrite():
    return DataflowBlockRewrite(MAIN.body.blocks[0], MAIN)


def test_replace_and_remove():
    change = rewrite()
    change.replace_all_uses(LV0, MAIN.params[0])
    change.remove_unused(LV0)

    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            lv1 = R.negative(x)
            gv = R.abs(lv1)
            R.output(gv)
        return gv

    assert_structural_equal(change.mutated_root_fn(), main)
    assert [binding.var.name_hint for binding in change.mutated_dfb().bindings] == ["lv1", "gv"]
    module = change.mutate_irmodule(Identity)
    x = np.random.rand(5, 7).astype("float32")
    np.testing.assert_array_equal(tilewright.VirtualMachine(tilewright.compile(module))["main"](x).numpy(), x)
    assert len(Identity["main"].body.blocks[0].bindings) == 3


def test_add():
    change = rewrite()
    change.add(relax.op.exp(GV), name="tmp", is_dfvar=True)
    change.add(relax.op.exp(GV))
    change.add(expr=relax.op.exp(GV), is_dfvar=True)
    change.add(relax.VarBinding(relax.Var("mine", GV.type), relax.op.exp(GV)))
    added = change.mutated_dfb().bindings[3:]
    assert [binding.var.name_hint for binding in added] == ["tmp", "gv1", "lv", "mine"]
    assert [isinstance(binding.var, relax.DataflowVar) for binding in added] == [True, False, True, False]
    change.remove_all_unused()
    assert len(change.mutated_dfb().bindings) == 3


def test_a_variable_that_is_not_there_may_be_allowed():
    change = rewrite()
    change.remove_unused(MAIN.params[0], allow_undef=True)
    assert_structural_equal(change.mutated_root_fn(), MAIN)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda: rewrite().remove_unused(LV0), "remove_unused: lv0 is used"),
        (lambda: rewrite().remove_unused(MAIN.params[0]), "remove_unused: the block does not bind x"),
        (
            lambda: DataflowBlockRewrite(relax.DataflowBlock(bindings=[]), MAIN),
            "the dataflow block is none of the function's",
        ),
    ],
)
def test_what_is_refused(action, text):
    with pytest.raises(tilewright.UserError) as caught:
        action()
    assert str(caught.value) == text
