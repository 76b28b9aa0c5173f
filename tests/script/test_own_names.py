"""Names of the user's own that are also those of script modules, and names with letters of other alphabets."""

import unicodedata

import numpy as np
import pytest

import tilewright
from tilewright.ir import structural_equal
from tilewright.script import ir as Q
from tilewright.script import relax as X
from tilewright.script import tir as P

R = 5
T = 7
tir = 3


@P.prim_func
def uses_own_names(A: P.Buffer((R, T), "float32"), B: P.Buffer((R, T, tir), "float32")):
    for i, j, k in P.grid(R, T, tir):
        with P.block("B"):
            vi, vj, vk = P.axis.remap("SSS", [i, j, k])
            B[vi, vj, vk] = A[vi, vj] * P.float32(T)


def test_a_value_hides_the_alias_of_a_module():
    a, b = np.ones((5, 7), "float32"), np.zeros((5, 7, 3), "float32")
    tilewright.build(uses_own_names)["uses_own_names"](a, b)
    np.testing.assert_array_equal(b, np.full((5, 7, 3), 7, "float32"))


def test_of_a_graph_and_of_text():
    @Q.ir_module
    class Module:
        @X.function
        def main(x: X.Tensor((R, T), "float32")):
            return X.add(x, x)

    assert [int(n) for n in Module["main"].params[0].type.shape] == [5, 7]
    text = '@P.prim_func\ndef f(A: P.Buffer((T,), "float32")):\n    A[R] = P.float32(0)\n'
    program = tilewright.script.parse("from tvm.script import tir as P\n" + text, extra_vars={"T": 7, "R": 5})
    assert int(program.buffers[0].shape[0]) == 7


def test_local_names_of_one_function():
    def make(T):
        @P.prim_func
        def f(A: P.Buffer((T,), "float32")):
            for i in range(T):
                A[i] = P.float32(T)

        return f

    assert int(make(4).buffers[0].shape[0]) == 4


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("name", ["é", "naïve_größe", "размер", "数"])
def test_a_dimension_with_another_letter(name, form):
    name = unicodedata.normalize(form, name)
    n = tilewright.tir.Var(name, "int64")
    x = tilewright.relax.Var("x", tilewright.relax.TensorType((n, 3), "float32"))
    builder = tilewright.relax.BlockBuilder()
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(tilewright.relax.op.add(x, x)))
    module = builder.finalize()
    text = module.script()
    assert structural_equal(tilewright.script.parse(text), module)
    again = tilewright.ir.load_json(tilewright.ir.save_json(module))
    assert structural_equal(again, module)
    legal = tilewright.relax.transform.LegalizeOps()(module)
    assert structural_equal(tilewright.script.parse(legal.script()), legal)


def program_of(n):
    @P.prim_func
    def f(A: P.Buffer((n, R), "float32")):
        A[0, 0] = P.float32(T)

    return f


def test_names_of_a_caller_are_not_those_of_the_program():
    R, T = 11, 13
    assert [int(each) for each in program_of(R + T).buffers[0].shape] == [24, 5]


def test_printed_programs_import_from_this_package():
    func = tilewright.script.parse("@T.prim_func\ndef f(n: T.int32):\n    T.evaluate(n)\n")
    first = [func.script(dialect=name).partition("\n")[0] for name in ("native", "0.23", "0.27")]
    assert first == [
        "# from tilewright.script import tir as T",
        "# from tvm.script import tir as T",
        "# from tvm.script import tirx as T",
    ]
    assert func.script(package="mine").startswith("# from mine import tir as T\n")
    scope: dict = {}
    exec(first[0].removeprefix("# "), scope)
    assert scope["T"] is tilewright.script.tir
