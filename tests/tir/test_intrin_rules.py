"""Operators that users name, and rules of what a call is on a target."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import _core, te, tir

# another process does not know the operators that these name
pytestmark = pytest.mark.hand_made


@pytest.fixture(autouse=True)
def no_rules_afterwards():
    yield
    _core.clear_intrinsic_rules()


def of_vector(formula, dtype="float32", size=7):
    """The program B[i] = formula(A[i])."""
    a = te.placeholder((size,), dtype, name="A")
    return te.create_prim_func([a, te.compute((size,), lambda i: formula(a[i]), name="B")])


def run(func, values, target="llvm"):
    result = tw.empty(values.shape, str(values.dtype))
    tw.build(func, target)(tw.tensor(values), result)
    return result.numpy()


def refusal(run):
    with pytest.raises(tw.UserError) as error:
        run()
    return "\n".join(
        line for line in str(error.value).splitlines() if line.startswith(("error:", "help:", "note:"))
    )


VALUES = np.linspace(0.25, 3, 7).astype("float32")


def test_a_rule_gives_an_operator_its_meaning():
    tir.register_op("tir.cube")
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.cube", x))
    assert 'T.cube(A[v_i], dtype="float32")' in func.script()
    tir.register_intrin_rule("tir.cube", "llvm", lambda call: call.args[0] * call.args[0] * call.args[0])
    np.testing.assert_array_equal(run(func, VALUES), VALUES * VALUES * VALUES)


def test_scripts_with_registered_operators_are_read_again():
    tir.register_op("tir.cube")
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.cube", x))
    tw.ir.assert_structural_equal(tw.script.parse(func.script()), func)
    text = func.script().replace(', dtype="float32")', ")", 1)
    assert text != func.script()
    assert (
        refusal(lambda: tw.script.parse(text)) == "error: T.cube: the dtype of the result is missing\n"
        'help: write it first or as dtype="..."'
    )


@pytest.mark.parametrize(("target", "function"), [("llvm", "expf"), ("c", "expf")])
def test_operators_of_tilewright_become_c_functions(target, function):
    @tir.register_intrin_rule("tir.exp", target)
    def named(call):
        return tir.call_pure_extern("float32", function, call.args[0]) if call.dtype == "float32" else None

    func = of_vector(tir.exp)
    assert f"{function}(" in tw.build(func, target).get_source("c" if target == "c" else "ll").replace(
        "@", ""
    )
    np.testing.assert_allclose(run(func, VALUES, target), np.exp(VALUES), rtol=1e-6)
    wide = of_vector(tir.exp, "float64")  # the rule leaves it
    np.testing.assert_allclose(run(wide, VALUES.astype("float64"), target), np.exp(VALUES.astype("float64")))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("target", ["opencl", "cuda", "c"])
def test_functions_of_all_floats_without_rules(target, dtype):
    for formula in (tir.exp, tir.sigmoid, tir.log):
        assert tw.build(of_vector(formula, dtype), target).get_source(target)


def test_native_functions_of_opencl():
    tir.register_intrin_rule(
        "tir.exp", "opencl", lambda call: tir.call_pure_extern("float32", "native_exp", call.args[0])
    )
    assert "native_exp(A[" in tw.build(of_vector(tir.exp), "opencl").get_source()
    assert "native_exp" not in tw.build(of_vector(tir.exp), "cuda").get_source()


def test_higher_levels_are_asked_first_and_the_default_last():
    tir.register_op("tir.which")
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.which", x))

    def gives(number, level, target="llvm"):
        tir.register_intrin_rule("tir.which", target, lambda call: tir.const(number, "float32"), level=level)

    for number, level, target, expected in (
        (1, 50, "default", 1),
        (2, 10, "llvm", 2),
        (3, 5, "llvm", 2),
        (4, 10, "llvm", 4),  # in the place of the second
        (5, 11, "llvm", 5),
    ):
        gives(number, level, target)
        assert run(func, VALUES)[0] == expected
    tir.register_intrin_rule("tir.which", "llvm", lambda call: None, level=99)
    assert run(func, VALUES)[0] == 5


def test_a_rule_may_use_its_own_operator():
    tir.register_intrin_rule(
        "tir.exp", "llvm", lambda call: tir.exp(tir.min(call.args[0], tir.const(1, "float32")))
    )
    np.testing.assert_allclose(
        run(of_vector(lambda x: tir.exp(tir.exp(x))), VALUES),
        np.exp(np.minimum(np.exp(np.minimum(VALUES, 1)), 1)),
        rtol=1e-6,
    )


def test_rules_that_make_each_other_end():
    for name in ("tir.ping", "tir.pong"):
        tir.register_op(name)
    for name, other in (("tir.ping", "tir.pong"), ("tir.pong", "tir.ping")):
        tir.register_intrin_rule(
            name, "llvm", lambda call, other=other: tir.call_intrin("float32", other, call.args[0])
        )
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.ping", x))
    assert (
        refusal(lambda: tw.build(func))
        == "error: main: the rules of operator tir.ping for target llvm leave a call of it\n"
        "help: return an expression without tir.ping for float32"
    )


def test_no_rule_for_the_target():
    tir.register_op("tir.mylogarithm")
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.mylogarithm", x))
    tir.register_intrin_rule("tir.mylogarithm", "opencl", lambda call: tir.log(call.args[0]))
    assert (
        refusal(lambda: tw.build(func, "c"))
        == "error: main: operator tir.mylogarithm has no rule for target c\n"
        'help: say what a call of it is: tilewright.tir.register_intrin_rule("tir.mylogarithm", "c", rule)'
    )


def test_names_that_are_nearly_right():
    tir.register_op("tir.sigmod")
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.sigmod", x))
    assert (
        refusal(lambda: tw.build(func)) == "error: main: operator tir.sigmod has no rule for target llvm\n"
        "help: write tir.sigmoid if that was meant, or say what a call of it is: "
        'tilewright.tir.register_intrin_rule("tir.sigmod", "llvm", rule)'
    )


def test_results_that_do_not_fit():
    tir.register_op("tir.twice")
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.twice", x))
    tir.register_intrin_rule("tir.twice", "llvm", lambda call: tir.const(1, "float64"))
    assert (
        refusal(lambda: tw.build(func))
        == "error: main: the rule of tir.twice for target llvm gives float64 where the call has float32\n"
        "help: cast the result, or return the call itself where the rule does not apply"
    )
    tir.register_intrin_rule("tir.twice", "llvm", lambda call: object())
    assert (
        refusal(lambda: tw.build(func))
        == "error: main: the rule of tir.twice returned a Python object, expected an expression or None"
    )


def test_refused_registrations():
    assert (
        refusal(lambda: tir.register_op("mylog")) == 'error: register_op: "mylog" is no name of an operator\n'
        'help: write "tir." and a word, as in "tir.mylog"'
    )
    assert (
        refusal(lambda: tir.register_op("tir.exp"))
        == "error: register_op: tir.exp is an operator of tilewright already"
    )
    assert (
        refusal(lambda: tir.register_intrin_rule("tir.exp", "opencil", lambda call: None))
        == 'error: a rule of tir.exp: there is no target "opencil"\nhelp: did you mean opencl?'
    )
    with pytest.raises(tw.UserError) as error:
        tir.register_intrin_rule("tir.exp", "llvm", 3)
    assert str(error.value) == "register_intrin_rule: a Python int is no function"


def test_errors_of_rules_come_through():
    def rule(call):
        raise ZeroDivisionError("mine")

    tir.register_intrin_rule("tir.exp", "llvm", rule)
    with pytest.raises(ZeroDivisionError, match="mine"):
        tw.build(of_vector(tir.exp))


def test_calls_with_side_effects_are_not_moved():
    tir.register_op("tir.counted", pure=False)
    func = of_vector(lambda x: tir.call_intrin("float32", "tir.counted", x))
    sch = tw.Schedule(func)
    with pytest.raises(tw.UserError):
        sch.compute_inline("B")
    tir.register_op("tir.counted")
    assert _core.is_op("tir.counted")
