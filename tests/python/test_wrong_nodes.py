"""Nodes made by hand from values that they cannot have: a clear error, where programs once crashed."""

import pytest

import tilewright
from tilewright import relax
from tilewright.ir._nodes import classes
from tilewright.script import parse

X = relax.Var("x", relax.TensorType((3,), "float32"))
VarBinding, PlainBlock = classes["relax.VarBinding"], classes["relax.PlainBlock"]
ShapeOf = tilewright._core.relax_shape


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: VarBinding(var=None), "relax.VarBinding: a binding has a variable and a value"),
        (lambda: VarBinding(var=X, value=None), "relax.VarBinding: a binding has a variable and a value"),
        (lambda: PlainBlock([None]), "argument bindings (in order) holds None at 0"),
        (
            lambda: ShapeOf([3, None]),
            "an extent is a Python NoneType, expected an integer or an integer expression",
        ),
        (lambda: ShapeOf(["n"]), "a dimension has dtype void, expected an integer"),
        (
            lambda: relax.TensorType([None]),
            "an extent is a Python NoneType, expected an integer or an integer expression",
        ),
        (
            lambda: relax.TensorType(relax.const(1.0)),
            'the shape of a tensor is R.const(1.0, "float32"), expected a shape or a list of extents',
        ),
        (
            lambda: relax.TensorType(X),
            "the shape of a tensor is x, expected a shape or a list of extents",
        ),
        (
            lambda: tilewright.IRModule({}).with_attr("k", {1: 2}),
            "k: attributes have names, but one is a Python int",
        ),
    ],
)
def test_refused(make, text):
    with pytest.raises(tilewright.UserError) as error:
        make()
    assert str(error.value).removeprefix("error: ").partition("\nhelp: ")[0] == text


def test_a_function_whose_callee_stayed_behind():
    module = parse(
        """
@I.ir_module
class Module:
    @R.function
    def helper(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        return x

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        y = Module.helper(x)
        return y
"""
    )
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(tilewright.IRModule({"main": module["main"]}))
    assert str(error.value) == (
        "error: helper is called, but the module has no function of that name\n"
        "  <script>:10:13\n"
        "  10 |         y = Module.helper(x)\n"
        "     |             ^^^^^^^^^^^^^^^^\n"
        "help: compile the module that has it instead of one of its functions"
    )
