"""Functions that return numbers: to Python, and to functions of their module that use them in expressions."""

import numpy as np
import pytest

import tilewright
from tilewright.script import parse

each_target = pytest.mark.parametrize("target", ["llvm", "llvm -mcpu=x86-64", "c"])
VALUES = {"int8": -7, "uint8": 200, "int32": 41, "int64": 2**40, "uint64": 2**62, "bool": True}
VALUES |= {"float16": 0.5, "bfloat16": 1.5, "float32": 0.25, "float64": 0.1}


@each_target
@pytest.mark.parametrize("dtype", VALUES)
def test_a_scalar_comes_back(dtype, target):
    program = parse(f"""
@T.prim_func
def f(n: T.{dtype}) -> T.{dtype}:
    return n
""")
    result = tilewright.build(program, target)["f"](VALUES[dtype])
    assert (type(result), result) == (type(VALUES[dtype]), VALUES[dtype])
    assert tilewright.tir.interpret(program, VALUES[dtype]) == VALUES[dtype]


@each_target
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32"])
def test_an_expression_comes_back(dtype, target):
    program = parse(f"""
@T.prim_func
def f(A: T.Buffer((5,), "{dtype}"), i: T.int32):
    return A[i] + T.{dtype}(1)
""")
    import ml_dtypes

    data = np.arange(5).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    result = tilewright.build(program, target)["f"](tilewright.tensor(data), 3)
    assert (type(result), result) == (int if dtype == "int32" else float, 4)


@each_target
def test_what_is_passed_first(target):
    """Returns on the way, behind stores and in loops; a function that does not get to one gives None."""
    program = parse("""
@T.prim_func
def find(A: T.Buffer((7,), "float32"), B: T.Buffer((1,), "int32"), wanted: T.float32):
    B[0] = 1
    for i in range(7):
        if A[i] == wanted:
            return i
    B[0] = 2
    if wanted < T.float32(0):
        return -1
""")
    data, seen = np.arange(7, dtype="float32") * 2, tilewright.tensor(np.zeros(1, "int32"))
    for run in (
        tilewright.build(program, target)["find"],
        lambda *args: tilewright.tir.interpret(program, *args),
    ):
        for wanted, result, mark in [(6.0, 3, 1), (0.0, 0, 1), (-3.0, -1, 2), (5.0, None, 2)]:
            assert run(tilewright.tensor(data), seen, wanted) == result
            assert seen.numpy()[0] == mark


@each_target
def test_uint64_beyond_int64(target):
    program = parse("""
@T.prim_func
def f(A: T.Buffer((1,), "uint64")):
    return A[0]
""")
    main = tilewright.build(program, target)["f"]
    assert main(tilewright.tensor(np.array([2**63 - 1], "uint64"))) == 2**63 - 1
    with pytest.raises(ValueError, match="^error: the result, an uint64, does not fit in int64$"):
        main(tilewright.tensor(np.array([2**63], "uint64")))


CALLS = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def clipped(x: T.float32, most: T.float32) -> T.float32:
        if x > most:
            return most
        y = x * T.float32(2)
        return y + T.float32(1)

    @T.prim_func(private=True)
    def place(A: T.Buffer((7,), "int32"), i: T.int32):
        return A[i] % 7

    @T.prim_func
    def main(A: T.Buffer((7,), "int32"), X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32")):
        for i in range(7):
            Y[i] = Module.clipped(X[Module.place(A.data, i)], T.float32(4)) + T.float32(0.5)
"""


@each_target
def test_calls_in_expressions(target):
    module = parse(CALLS)
    places, x = np.array([6, 0, 3, 9, 100, 2, 5], "int32"), np.arange(7, dtype="float32") - 1
    found = tilewright.tensor(np.zeros(7, "float32"))
    tilewright.build(module, target)["main"](tilewright.tensor(places), tilewright.tensor(x), found)
    given = x[places % 7]
    np.testing.assert_array_equal(found.numpy(), np.where(given > 4, 4, given * 2 + 1) + 0.5)


def test_a_function_below_the_one_that_calls_it():
    module = parse("""
@I.ir_module
class Module:
    @T.prim_func
    def main(X: T.Buffer((7,), "float32"), Y: T.Buffer((7,), "float32")):
        for i in range(7):
            Y[i] = Module.half(X[i]) + T.float32(1)

    @T.prim_func(private=True)
    def half(x: T.float32) -> T.float32:
        return x * T.float32(0.5)
""")
    assert [var.name_hint for var in module] == ["main", "half"]
    assert parse(module.script()).script() == module.script()
    x, found = np.arange(7, dtype="float32"), tilewright.tensor(np.zeros(7, "float32"))
    tilewright.build(module)["main"](tilewright.tensor(x), found)
    np.testing.assert_array_equal(found.numpy(), x / 2 + 1)


@each_target
def test_a_call_for_its_effect(target):
    """The value that the function returns at its end is lost."""
    module = parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(A: T.Buffer((7,), "int32"), n: T.int32):
        for i in range(7):
            A[i] = n + i
        T.ret(T.int32(0))

    @T.prim_func
    def main(A: T.Buffer((7,), "int32")):
        Module.fill(A.data, 3)
        A[0] = 100
""")
    found = tilewright.tensor(np.zeros(7, "int32"))
    tilewright.build(module, target)["main"](found)
    np.testing.assert_array_equal(found.numpy(), [100, 4, 5, 6, 7, 8, 9])


def test_text_of_functions_that_return():
    program = parse("""
@T.prim_func
def f(n: T.int32) -> T.int32:
    return n + 1
""")
    assert parse(program.script()).script() == program.script()
    assert "T.ret(n + 1)" in program.script()


RECURSION = """
@I.ir_module
class M:
    @T.prim_func(private=True)
    def g(n: T.int32){g}:
        return {in_g}
    @T.prim_func
    def f(n: T.int32){f}:
        return {in_f}
"""


@pytest.mark.parametrize(
    ("in_g", "in_f", "name", "place"),
    [
        ("n", "n * M.f(n - 1)", "f", "9:20"),
        ("M.f(n)", "M.g(n)", "f", "6:16"),
        ("n * M.g(n + 1)", "M.g(n)", "g", "6:20"),
        ("1 + M.f(n) * 2", "M.g(n) - 1", "f", "6:20"),
    ],
)
def test_a_function_that_calls_itself_is_beyond_us(in_g, in_f, name, place):
    module = parse(RECURSION.format(g=" -> T.int32", f=" -> T.int32", in_g=in_g, in_f=in_f))
    with pytest.raises(tilewright.Unsupported) as error:
        tilewright.build(module)
    lines = str(error.value).split("\n")
    assert lines[0] == f"unsupported: function {name} calls itself" and lines[-1] == "help: write a loop"
    assert lines[1] == f"  <script>:{place}" and "^^^^" in lines[3]


def test_a_call_of_a_function_that_says_nothing_of_its_result():
    with pytest.raises(tilewright.UserError) as error:
        parse(RECURSION.format(g="", f="", in_g="n", in_f="n * M.f(n - 1)"))
    assert str(error.value) == (
        "error: the result type of function f is not known here\n"
        "  <script>:9:16\n"
        "   9 |         return n * M.f(n - 1)\n"
        "     |                ^^^^^^^^^^^^^^\n"
        "help: declare it, as in -> T.int32; a function that calls itself is not supported, write a loop"
    )


def test_a_return_without_a_value_stands_only_at_the_end():
    """Found: it was dropped without a word, and the rest of the program ran."""
    from tilewright.script import parse

    text = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), n: T.int32):
    if n < 5:
        return
    A[5] = T.float32(1)
"""
    with pytest.raises(tilewright.UserError) as refused:
        parse(text)
    lines = str(refused.value).splitlines()
    assert lines[0] == "error: a return without a value is allowed only at the end of a function"
    assert "   5 |         return" in lines
    assert lines[-1] == "help: write T.evaluate(T.ret(0)), or put what follows it under a condition"
    at_the_end = text.replace("    if n < 5:\n        return\n", "") + "    return\n"
    a = tilewright.tensor(np.zeros(8, "float32"))
    tilewright.build(parse(at_the_end))["main"](a, 0)
    assert a.numpy()[5] == 1
