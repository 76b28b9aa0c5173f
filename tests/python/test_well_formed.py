"""What well_formed and compile refuse: variables that are defined twice, results that are not of their declared type."""

import pytest

import tilewright
from tilewright import relax
from tilewright.ir import IRModule

F32 = "float32"


def var(name, *shape):
    return relax.Var(name, relax.TensorType(shape, F32))


def function(params, bindings, result, ret_type=None):
    block = relax.PlainBlock([relax.VarBinding(each, value) for each, value in bindings])
    return relax.Function(
        params, relax.SeqExpr([block], result), ret_type or result.type, attrs={"global_symbol": "main"}
    )


def error_of(module):
    assert not relax.analysis.well_formed(module)
    with pytest.raises(tilewright.UserError) as error:
        tilewright.compile(module)
    return str(error.value)


def test_a_variable_that_is_bound_twice():
    x, y = var("x", 3), var("y", 3)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, x)), (y, relax.op.multiply(y, x))], y)})
    assert error_of(module) == (
        "error: variable y is defined twice: by a binding of function main and by a binding of function main\n"
        "help: define another variable, and use that from there on"
    )


def test_a_parameter_that_is_bound_again():
    x = var("x", 3)
    module = IRModule({"main": function([x], [(x, relax.op.add(x, x))], x)})
    assert error_of(module) == (
        "error: variable x is defined twice: by a parameter of function main and by a binding of function main\n"
        "help: define another variable, and use that from there on"
    )


def test_one_variable_of_two_functions():
    x, y, z = var("x", 3), var("y", 3), var("z", 3)
    first = function([x], [(y, relax.op.add(x, x))], y)
    module = IRModule({"main": first, "other": function([x], [(z, relax.op.add(x, x))], z)})
    assert not relax.analysis.well_formed(module)
    assert relax.analysis.well_formed(IRModule({"main": first}))


def test_a_result_of_another_type():
    x, y = var("x", 3), var("y", 3)
    wrong = relax.TensorType((4,), F32)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, x))], y, wrong)})
    assert error_of(module) == (
        'error: function main returns R.Tensor((3,), "float32"), but R.Tensor((4,), "float32") is written'
    )


def test_a_result_of_a_type_that_says_less():
    x, y = var("x", 3), var("y", 3)
    less = relax.TensorType(ndim=1, dtype=F32)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, x))], y, less)})
    assert relax.analysis.well_formed(module)


def test_a_variable_that_is_bound_after_its_use():
    x, y, z = var("x", 3), var("y", 3), var("z", 3)
    module = IRModule({"main": function([x], [(y, relax.op.exp(z)), (z, relax.op.exp(x))], y)})
    assert error_of(module) == "error: the variable z is used before it is defined"


def test_a_variable_that_is_bound_by_itself():
    x, y = var("x", 3), var("y", 3)
    module = IRModule({"main": function([x], [(y, relax.op.add(x, y))], y)})
    assert error_of(module) == "error: the variable y is used before it is defined"


def test_a_variable_of_a_branch_that_is_used_behind_it():
    x, c, y, z = var("x", 3), relax.Var("c", relax.TensorType((), "bool")), var("y", 3), var("z", 3)
    taken = relax.SeqExpr([relax.PlainBlock([relax.VarBinding(y, relax.op.exp(x))])], y)
    choice = relax.If(c, taken, relax.SeqExpr([], x))
    module = IRModule({"main": function([x, c], [(z, choice)], y)})
    assert error_of(module) == "error: the variable y is used before it is defined"
    assert relax.analysis.well_formed(IRModule({"main": function([x, c], [(z, choice)], z)}))


def test_one_function_of_two_names():
    x, y = var("x", 3), var("y", 3)
    one = function([x], [(y, relax.op.add(x, x))], y)
    assert error_of(IRModule({"main": one, "other": one})) == (
        "error: variable x is defined twice: by a parameter of function main and by a parameter of function other\n"
        "help: define another variable, and use that from there on"
    )


def test_a_function_that_calls_itself_is_used_before_its_binding_ends():
    text = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        @R.function
        def f(y: R.Tensor((3,), "float32"), n: R.Tensor((), "int32")) -> R.Tensor((3,), "float32"):
            if R.greater(n, R.const(0, "int32")):
                z = f(R.add(y, y), R.subtract(n, R.const(1, "int32")))
            else:
                z = y
            return z
        r = f(x, R.const(2, "int32"))
        return r
"""
    assert relax.analysis.well_formed(tilewright.script.parse(text))
