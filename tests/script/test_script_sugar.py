"""Python around loop programs: captured values, helpers, comprehensions, macros."""

import numpy as np
import pytest

import tilewright
from tilewright import tir
from tilewright.ir import assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import tir as T

N = 5
SETTINGS = {"rows": 5, "scale": 2.5}


def relu(value):
    return tir.max(value, tir.const(0.0, "float32"))


def total(buffer, row):
    return sum(buffer[row, k] for k in range(1, 3)) + buffer[row, 0]


def run(func, *arrays):
    """The arrays after `func`, compiled, has run on them; the interpreter must agree."""
    checked = [array.copy() for array in arrays]
    tir.interpret(func, *checked)
    tensors = [tilewright.tensor(array) for array in arrays]
    tilewright.build(func, target="llvm")["main"](*tensors)
    for tensor, array in zip(tensors, checked, strict=True):
        np.testing.assert_allclose(tensor.numpy(), array, rtol=1e-6)
    return checked


def test_captured_numbers_are_constants():
    @T.prim_func
    def main(A: T.Buffer((N, SETTINGS["rows"]), "float32")):
        for i, j in T.grid(N, SETTINGS["rows"]):
            A[i, j] = T.float32(SETTINGS["scale"])

    @T.prim_func
    def expected(A: T.Buffer((5, 5), "float32")):
        T.func_attr({"global_symbol": "main"})
        for i, j in T.grid(5, 5):
            A[i, j] = T.float32(2.5)

    assert_structural_equal(main, expected)


def test_python_functions_build_expressions():
    @T.prim_func
    def main(A: T.Buffer((7, 3), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = relu(total(A, vi))

    @T.prim_func
    def expected(A: T.Buffer((7, 3), "float32"), B: T.Buffer((7,), "float32")):
        T.func_attr({"global_symbol": "main"})
        for i in range(7):
            with T.block("B"):
                vi = T.axis.spatial(7, i)
                B[vi] = T.max(0 + A[vi, 1] + A[vi, 2] + A[vi, 0], T.float32(0))

    a = np.random.default_rng(0).standard_normal((7, 3)).astype("float32")
    _, b = run(main, a, np.zeros(7, "float32"))
    np.testing.assert_allclose(b, np.maximum(a.sum(1), 0), rtol=1e-6)
    assert tir.interpret(expected, a, np.zeros(7, "float32")) is None


def test_comprehensions_see_axes_and_captured_values():
    @T.prim_func
    def main(A: T.Buffer((7, 3), "float32"), B: T.Buffer((7,), "float32")):
        for i in range(7):
            B[i] = T.max(*[A[i, k] * T.float32(SETTINGS["scale"]) for k in range(2)])

    a = np.random.default_rng(0).standard_normal((7, 3)).astype("float32")
    _, b = run(main, a, np.zeros(7, "float32"))
    np.testing.assert_allclose(b, a[:, :2].max(1) * 2.5, rtol=1e-6)


def test_loops_of_a_captured_shape():
    shape = (3, 2)

    @T.prim_func
    def main(A: T.Buffer(shape, "float32")):
        for i, j in T.grid(*shape):
            with T.block(f"block_{len(shape)}"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(1)

    assert 'T.block("block_2")' in main.script()


def test_class_with_calls_and_attributes():
    @I.ir_module
    class Module:
        I.module_attrs({"version": 3})
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, "global")]})

        @T.prim_func(private=True)
        def one(A: T.Buffer((N,), "float32")):
            for i in range(N):
                A[i] = T.float32(1)

        @T.prim_func
        def main(A: T.Buffer((N,), "float32")):
            Module.one(A.data)
            cls.one(A.data)  # noqa: F821 - the module itself

    for call in (lambda a: tir.interpret(Module, a), lambda a: tilewright.build(Module)["main"](a)):
        a = tilewright.tensor(np.zeros(N, "float32"))
        call(a)
        np.testing.assert_array_equal(a.numpy(), np.ones(N))
    assert Module.attrs == {"version": 3}
    assert [var.name_hint for var in Module.get_global_vars()] == ["one", "main"]
    assert_structural_equal(tilewright.script.parse(Module.script()), Module)


def test_functions_that_call_others_are_compiled():
    @I.ir_module
    class Module:
        @T.prim_func(private=True)
        def add(A: T.Buffer((3, 5), "float32"), B: T.Buffer((3, 5), "float32"), amount: T.int32):
            Y = T.alloc_buffer((3, 5), "float32")
            for i, j in T.grid(3, 5):
                with T.block("Y"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[vi, vj] * T.float32(2)
            for i, j in T.grid(3, 5):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = Y[vi, vj] + T.Cast("float32", amount)

        @T.prim_func(private=True)
        def twice(A: T.Buffer((3, 5), "float32"), amount: T.int32):
            Module.add(A.data, A.data, amount)
            Module.add(A.data, A.data, amount + 1)

        @T.prim_func
        def main(A: T.Buffer((3, 5), "float32"), B: T.Buffer((3, 5), "float32")):
            X = T.alloc_buffer((3, 5), "float32")
            Module.add(A.data, X.data, 3)
            Module.twice(X.data, 1)
            for i, j in T.grid(3, 5):
                B[i, j] = X[i, j]

    a = np.random.default_rng(0).standard_normal((3, 5)).astype("float32")
    expected = ((a * 2 + 3) * 2 + 1) * 2 + 2
    for schedule in (False, True):
        b = tilewright.empty((3, 5), "float32")
        tilewright.build(Module, schedule=schedule)["main"](tilewright.tensor(a), b)
        np.testing.assert_allclose(b.numpy(), expected, rtol=1e-6)


@T.macro
def add_one(dst, src, i, amount=1.0):
    x = src[i] + T.float32(amount) * N
    dst[i] = x


@T.macro(hygienic=False)
def at_the_call():
    B[i] = A[i] * T.float32(factor)  # noqa: F821 - names of where it is called


class Library:
    @T.macro
    def twice(dst, src):
        for i in range(N):
            add_one(dst, src, i)
            add_one(dst, dst, i, amount=2)


def test_macro_by_position_name_and_default():
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            add_one(B, A, i)
            add_one(src=B, dst=B, i=i, amount=2)

    a = np.arange(5, dtype="float32")
    _, b = run(main, a, np.zeros(5, "float32"))
    np.testing.assert_array_equal(b, a + 5 + 10)


def test_macro_is_hygienic():
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        N = 100  # not the N of the macro
        for i in range(5):
            x = A[i] * T.float32(3)  # not the x of the macro
            add_one(B, A, i)
            B[i] = B[i] + x * T.Cast("float32", N)

    a = np.arange(5, dtype="float32")
    _, b = run(main, a, np.zeros(5, "float32"))
    np.testing.assert_array_equal(b, a + 5 + a * 300)


def test_macro_with_names_of_where_it_is_called():
    factor = 4

    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            at_the_call()

    a = np.arange(5, dtype="float32")
    _, b = run(main, a, np.zeros(5, "float32"))
    np.testing.assert_array_equal(b, a * factor)


def test_macros_of_a_class_call_others():
    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        Library.twice(B, A)

    a = np.arange(5, dtype="float32")
    _, b = run(main, a, np.zeros(5, "float32"))
    np.testing.assert_array_equal(b, a + 15)


def test_macro_with_a_block():
    @T.macro
    def double(dst, src, i):
        with T.block("double"):
            vi = T.axis.spatial(5, i)
            dst[vi] = src[vi] * T.float32(2)

    @T.prim_func
    def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        for i in range(5):
            double(B, A, i)

    @T.prim_func
    def expected(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
        T.func_attr({"global_symbol": "main"})
        for i in range(5):
            with T.block("double"):
                vi = T.axis.spatial(5, i)
                B[vi] = A[vi] * T.float32(2)

    assert_structural_equal(main, expected)


def test_macro_of_a_text():
    text = """
@T.macro
def copy(dst, src):
    for i in range(5):
        dst[i] = src[i]

@T.prim_func
def main(A: T.Buffer((5,), "float32"), B: T.Buffer((5,), "float32")):
    copy(B, A)
"""
    a = np.arange(5, dtype="float32")
    _, b = run(tilewright.script.parse(text), a, np.zeros(5, "float32"))
    np.testing.assert_array_equal(b, a)


def error_of(text: str) -> str:
    with pytest.raises((tilewright.UserError, tilewright.Unsupported)) as caught:
        tilewright.script.parse(text)
    return str(caught.value)


MACRO = """@T.macro
def put(dst, i):
    dst[i, i] = T.float32(0)

@T.prim_func
def main(A: T.Buffer((5,), "float32")):
"""


def test_error_inside_a_macro_names_both_places():
    assert (
        error_of(MACRO + "    put(A, 1)\n")
        == """error: buffer A has 1 dimension, but 2 indices are given
  <script>:3:5
   3 |     dst[i, i] = T.float32(0)
     |     ^^^^^^^^^
note: macro put is called here
   7 |     put(A, 1)
     |     ^^^^^^^^^"""
    )


def test_macro_without_an_argument():
    assert (
        error_of(MACRO + "    put(A)\n")
        == """error: macro put: argument i is missing
  <script>:7:5
   7 |     put(A)
     |     ^^^^^^"""
    )


def test_macro_that_takes_a_lambda():
    assert (
        error_of(MACRO + "    put(A, lambda x: x)\n")
        == """unsupported: macro put: a lambda cannot be an argument
  <script>:7:12
   7 |     put(A, lambda x: x)
     |            ^^^^^^^^^^^
help: write it inside the macro"""
    )


def test_macro_that_calls_itself():
    text = MACRO.replace("dst[i, i] = T.float32(0)", "put(dst, i)") + "    put(A, 1)\n"
    first, place, line, caret = error_of(text).splitlines()[:4]
    assert first == "error: macro put is called inside itself, 64 deep"
    assert (place, line, caret) == ("  <script>:3:5", "   3 |     put(dst, i)", "     |     ^^^^^^^^^^^")


def test_macro_called_by_python():
    with pytest.raises(tilewright.UserError) as caught:
        add_one(1, 2, 3)
    assert str(caught.value) == (
        "macro add_one is called by Python\nhelp: a macro is called inside of a T.prim_func, an R.function or another macro"
    )


def test_annotations_have_no_elements_to_go_through():
    from tilewright.script import relax as R

    with pytest.raises(TypeError):
        list(R.no_such_name)
    with pytest.raises(TypeError):
        "text" in R.no_such_name  # noqa: B015 - what it raises is the point
