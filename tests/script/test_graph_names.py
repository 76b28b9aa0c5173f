"""R outside of scripts: types are types, operators make calls."""

import numpy as np
import pytest

import tilewright
from tilewright import relax, tir
from tilewright.ir import assert_structural_equal
from tilewright.script import parse
from tilewright.script import relax as R


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (lambda: R.Tensor((5, 7), "float32"), 'R.Tensor((5, 7), dtype="float32")'),
        (lambda: R.Tensor("float32", ndim=2), 'R.Tensor(dtype="float32", ndim=2)'),
        (lambda: R.Tensor((tir.Var("n", "int64"),)), "R.Tensor((n,))"),
        (lambda: R.Tensor((5,), "int8", "llvm:0"), 'R.Tensor((5,), dtype="int8", vdevice="llvm:0")'),
        (lambda: R.Tensor(), "R.Tensor"),
        (lambda: R.Shape([2, 3]), "R.Shape([2, 3])"),
        (lambda: R.Shape(ndim=2), "R.Shape(ndim=2)"),
        (lambda: R.Tuple(R.Shape, R.Tensor((5,))), "R.Tuple(R.Shape, R.Tensor((5,)))"),
        (lambda: R.Tuple([R.Object]), "R.Tuple(R.Object)"),
        (lambda: R.Prim("int64"), 'R.Prim("int64")'),
        (lambda: R.Prim(value=5), "R.Prim(value=5)"),
        (lambda: R.Prim(value=tir.const(1.5, "float32")), "R.Prim(value=T.float32(1.5))"),
        (lambda: R.Callable((R.Object,), R.Object), "R.Callable((R.Object,), R.Object, True)"),
        (lambda: R.Object(), "R.Object"),
    ],
)
def test_types(written, text):
    assert str(written()) == text


def test_text_as_an_extent_waits_for_the_parser():
    assert repr(R.Tensor(("n", 4), "float32")) == "R.Tensor(('n', 4), 'float32')"


def test_operators_make_calls():
    x = relax.Var("x", R.Tensor((5,), "float32"))
    assert_structural_equal(R.nn.relu(R.add(x, x)), relax.op.nn.relu(relax.op.add(x, x)))
    assert R.const(2.0, "float32").data.numpy() == np.float32(2)
    assert R.prim_value(5).value.value == 5 and R.str("a").value == "a"
    assert R.shape([2, 3]).values[1].value == 3 and len(R.tuple(x, x)) == 2
    assert str(R.dtype("int8").value) == "int8" and R.ExternFunc("f").global_symbol == "f"


def test_a_parameter_of_a_known_fraction():
    text = """
@R.function
def main(x: R.Prim(value=T.float32(1.5))) -> R.Prim(value=T.float32(1.5)):
    return x
"""
    func = parse(text)
    assert str(func.params[0].type) == "R.Prim(value=T.float32(1.5))"
    assert_structural_equal(parse(func.script()), func)


def test_numbers_among_attributes_are_those_of_scripts():
    q = relax.Var("q", R.Tensor((2, 5, 4, 7), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [q]):
        bb.emit_func_output(bb.emit(relax.op.nn.attention(q, q, q, scale=0.3)))
    text = bb.get().script()
    assert "scale=0.3)" in text
    assert_structural_equal(parse(text), bb.get())


def test_numbers_among_arguments_are_rounded_as_scripts_round_them():
    x = relax.Var("x", R.Tensor((5,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.op.clip(x, 0.1, 0.7)))
    assert_structural_equal(parse(bb.get().script()), bb.get())
    assert (tir.Var("i", "int32") + 0.7).b.value == float(np.float32(0.7))
    assert (0.7 * tir.Var("d", "float64")).a.value == 0.7
    assert tir.exp(tir.const(0.7, "float64")).args[0].value == 0.7


def test_a_graph_of_such_types():
    bb = relax.BlockBuilder()
    with bb.function("main", [relax.Var("x", R.Tensor((5,), "float32"))]) as _:
        bb.emit_func_output(relax.op.zeros((5,), "float32"))
    x = np.ones(5, "float32")
    machine = tilewright.VirtualMachine(tilewright.compile(bb.get()))
    assert not machine["main"](x).numpy().any()
