"""Functions inside of functions: closures, recursion, in-place calls, printing and assertions, run by the virtual machine."""

import numpy as np
import pytest
from graph_programs import CAPTURES

import tilewright as tw
from tilewright import relax

X = np.arange(10, dtype="float32").reshape(2, 5)
HEADER = "from tvm.script import ir as I, relax as R, tir as T\n"


def run(text: str, *args):
    vm = relax.VirtualMachine(tw.compile(tw.script.parse(HEADER + text), "llvm"))
    return vm["main"](*args)


def test_a_function_captures_a_value():
    assert np.array_equal(run(CAPTURES, X, X + 1).numpy(), X + 2 * (X + 1))


def test_an_inner_function_calls_itself():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(i: R.Tensor((), "int32"), top: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
        @R.function
        def up(k: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
            c: R.Tensor((), "bool") = R.less(k, top)
            if c:
                j: R.Tensor((), "int32") = R.add(k, R.const(3, "int32"))
                r: R.Tensor((), "int32") = up(j)
            else:
                r: R.Tensor((), "int32") = k
            return r
        o: R.Tensor((), "int32") = up(i)
        return o
"""
    assert int(run(text, np.array(2, "int32"), np.array(127, "int32")).numpy()) == 128


def test_functions_two_deep_and_a_dimension_of_outside():
    text = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 5), "float32")) -> R.Tensor(("n", 5), "float32"):
        n = T.int64()
        @R.function
        def outer(a: R.Tensor((2, 5), "float32")) -> R.Tensor((n, 5), "float32"):
            n = T.int64()
            @R.function
            def ones() -> R.Tensor((n, 5), "float32"):
                o: R.Tensor((n, 5), "float32") = R.full(R.shape([n, 5]), R.const(1, "float32"), dtype="float32")
                return o
            b: R.Tensor((n, 5), "float32") = ones()
            return b
        y: R.Tensor((n, 5), "float32") = outer(x)
        z = R.add(x, y)
        return z
"""
    assert np.array_equal(run(text, X).numpy(), X + 1)


def test_a_function_of_the_module_is_an_argument():
    text = """
@I.ir_module
class Module:
    @R.function
    def twice(f: R.Callable((R.Tensor((2, 5), "float32"),), R.Tensor((2, 5), "float32")), x: R.Tensor((2, 5), "float32")) -> R.Tensor((2, 5), "float32"):
        y: R.Tensor((2, 5), "float32") = f(x)
        z: R.Tensor((2, 5), "float32") = f(y)
        return z
    @R.function
    def double(x: R.Tensor((2, 5), "float32")) -> R.Tensor((2, 5), "float32"):
        y = R.add(x, x)
        return y
    @R.function
    def main(x: R.Tensor((2, 5), "float32")) -> R.Tensor((2, 5), "float32"):
        cls = Module
        y: R.Tensor((2, 5), "float32") = cls.twice(cls.double, x)
        return y
"""
    assert np.array_equal(run(text, X).numpy(), 4 * X)


INPLACE = """
@I.ir_module
class Module:
    @T.prim_func
    def add_one(x: T.Buffer((7,), "float32"), y: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("b"):
                vi = T.axis.spatial(7, i)
                x[vi] = x[vi] + T.float32(1)
                y[vi] = x[vi] * T.float32(2)
    @R.function
    def main(x: R.Tensor((7,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.exp(x)
            t = R.call_tir_inplace(cls.add_one, (a,), inplace_indices=[INDICES], out_sinfo=[R.Tensor((7,), "float32"), R.Tensor((7,), "float32")])
            b = t[0]
            c = t[1]
            d = R.add(b, c)
            R.output(d)
        return d
"""


def test_an_argument_becomes_an_output():
    x = np.linspace(-1, 1, 7, dtype="float32")
    result = run(INPLACE.replace("INDICES", "0, -1"), x).numpy()
    assert np.allclose(result, 3 * (np.exp(x) + 1), rtol=1e-6)


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ("0", "inplace_indices has 1 numbers for 2 outputs"),
        ("0, 3", "inplace_indices[1] is 3, expected -1 or an argument, 0 to 0"),
        ("0, 0", "argument 0 becomes two outputs"),
    ],
)
def test_wrong_in_place_indices_are_refused(indices, text):
    with pytest.raises(tw.UserError) as error:
        tw.script.parse(HEADER + INPLACE.replace("INDICES", indices))
    assert str(error.value).splitlines()[0] == f"error: call_tir_inplace: {text}"


PRINTS = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), n: R.Tensor((), "int64"), c: R.Tensor((), "bool")):
        R.assert_op(c, (n, x), format="{} of {{x}}: {}")
        R.print(x, n, format="x is {}, n is {}")
        return x
"""


def test_values_are_printed(capfd):
    run(PRINTS, np.array([0.5, 1, -2], "float32"), np.array(5), np.array(True))
    assert capfd.readouterr().out == "x is [0.5, 1, -2], n is 5\n"


def test_a_false_assertion_raises():
    with pytest.raises(tw.UserError) as error:
        run(PRINTS, np.array([0.5, 1, -2], "float32"), np.array(5), np.array(False))
    assert str(error.value).splitlines()[0] == "error: assertion failed: 5 of {x}: [0.5, 1, -2]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[1, 2], [3, 4]], "int8"), "[[1, 2], [3, 4]]"),
        (
            np.array([1.5, np.inf, -0.0, 2**-24, 65504], "float16"),
            "[1.5, inf, -0, 5.960464477539063e-08, 65504]",
        ),
        (np.array([True, False]), "[true, false]"),
        (np.arange(1001, dtype="uint64"), "[0, 1, 2, ..., 998, 999, 1000]"),
        (np.zeros((2, 0), "int32"), "[[], []]"),
        (np.array(2**40), "1099511627776"),
        (np.array([200, 7], "uint8"), "[200, 7]"),
        (np.array([-200, 7], "int16"), "[-200, 7]"),
        (np.array([60000], "uint16"), "[60000]"),
        (np.array([2**31], "uint32"), "[2147483648]"),
        (np.array([0.1], "float64"), "[0.1]"),
        (3, "3"),
        (2.5, "2.5"),
        (True, "true"),
        ("text", "text"),
        (None, "none"),
        ((1, (2, "a")), "(1, (2, a))"),
    ],
)
def test_text_of_values(value, text, capfd):
    tensor = tw.tensor(value) if isinstance(value, np.ndarray) else value
    tw.get_global_func("tilewright.print")("{}", tensor)
    assert capfd.readouterr().out == text + "\n"


def test_values_without_a_place_follow_and_places_without_a_value_are_refused(capfd):
    printed = tw.get_global_func("tilewright.print")
    printed("", 1, 2)
    assert capfd.readouterr().out == "1 2\n"
    with pytest.raises(tw.UserError) as error:
        printed("{} {}", 1)
    assert str(error.value) == 'error: the format "{} {}" has more placeholders than the 1 value given'
    with pytest.raises(tw.UserError) as error:
        printed()
    assert str(error.value) == "error: tilewright.print: the format is missing"


def test_spellings_of_calls():
    """A closure called by its operator, and functions named as I.GlobalVar."""
    program = """
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((2, 5), "float32"), Y: T.Buffer((2, 5), "float32")):
        for i, j in T.grid(2, 5):
            with T.block("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @R.function
    def shifted(x: R.Tensor((2, 5), "float32"), y: R.Tensor((2, 5), "float32")) -> R.Tensor((2, 5), "float32"):
        z: R.Tensor((2, 5), "float32") = R.add(x, y)
        return z

    @R.function
    def main(x: R.Tensor((2, 5), "float32")) -> R.Tensor((2, 5), "float32"):
        closure = R.make_closure(I.GlobalVar("shifted"), (x,))
        y = R.call_tir(I.GlobalVar("double"), (x,), out_sinfo=R.Tensor((2, 5), "float32"))
        z = R.invoke_pure_closure(closure, (y,), sinfo_args=(R.Tensor((2, 5), "float32"),))
        return z
"""
    assert np.array_equal(run(program, X).numpy(), 3 * X)
    module = tw.script.parse(HEADER + program)
    tw.ir.assert_structural_equal(tw.script.parse(module.script()), module)
