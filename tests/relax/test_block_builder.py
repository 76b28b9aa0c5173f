"""The block builder's methods and the calls of relax.op, one by one."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax, te, tir
from tilewright.ir import assert_structural_equal
from tilewright.relax import BlockBuilder, TensorType
from tilewright.script import parse

TYPE = TensorType((5, 7), "float32")
X = np.arange(35, dtype="float32").reshape(5, 7)


def variable(name="x", shape=(5, 7)):
    return relax.Var(name, TensorType(shape, "float32"))


def plus_one():
    a = te.placeholder((5, 7), name="A")
    return te.create_prim_func([a, te.compute((5, 7), lambda i, j: a[i, j] + 1.0, name="B")])


def run(mod, *args):
    return tw.VirtualMachine(tw.compile(mod))["main"](*args)


CALLS = {
    "list": lambda gv, x: relax.call_tir(gv, [x], out_sinfo=[TYPE]),
    "value": lambda gv, x: relax.call_tir(gv, x, TYPE),
    "tuple": lambda gv, x: relax.op.call_tir(gv, relax.Tuple([x]), out_ty=TYPE),
    "inplace": lambda gv, x: relax.op.call_tir_inplace(gv, relax.Tuple([relax.op.add(x, x), x]), [-1], TYPE),
    "dps": lambda gv, x: relax.call_dps_packed("test_bb.plus_one", x, TYPE),
    "dps extern": lambda gv, x: relax.call_dps_packed(relax.extern("test_bb.plus_one"), (x,), out_sinfo=TYPE),
    "pure packed": lambda gv, x: relax.op.call_pure_packed("test_bb.one_more", x, sinfo_args=TYPE),
    "call": lambda gv, x: relax.Call(
        op=relax.extern("test_bb.one_more"), args=[x], attrs={}, type_args=[TYPE]
    ),
}


@tw.register_func("test_bb.plus_one", override=True)
def write_plus_one(x, out):
    np.from_dlpack(out)[...] = x.numpy() + 1


@tw.register_func("test_bb.one_more", override=True)
def one_more(x):
    return tw.tensor(x.numpy() + 1)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "inplace"])
def test_calls(name):
    bb, x = BlockBuilder(), variable()
    gv = bb.add_func(plus_one(), "plus_one")
    with bb.function("main", [x], pure=name != "call"):
        bb.emit_func_output(bb.emit(CALLS[name](gv, x)))
    mod = bb.get()
    assert relax.analysis.well_formed(mod)
    np.testing.assert_array_equal(run(mod, X).numpy(), X + 1)


def test_call_with_sizes():
    n = tir.Var("n", "int64")
    text = """
from tvm.script import tir as T
@T.prim_func
def fill(B: T.Buffer((5,), "int64"), n: T.int64):
    for i in range(5):
        with T.block("b"):
            vi = T.axis.spatial(5, i)
            B[vi] = n
"""
    bb, x = BlockBuilder(), variable(shape=(n,))
    gv = bb.add_func(tw.script.parse(text), "fill")
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(relax.call_tir(gv, [], TensorType((5,), "int64"), tir_vars=[n])))
    assert run(bb.get(), np.zeros(3, "float32")).numpy().tolist() == [3] * 5


def test_closures_and_tuples_of_results():
    text = """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def twice(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        y: R.Tensor((5, 7), "float32") = R.add(x, x)
        return y
"""
    bb, x = BlockBuilder(tw.script.parse(text)), variable()
    with bb.function("main", [x]):
        closure = bb.emit(relax.op.make_closure(bb.get().get_global_var("twice"), relax.Tuple([])))
        bb.emit_func_output((bb.emit(relax.op.invoke_pure_closure(closure, (x,), TYPE)), x))
    result, same = run(bb.get(), X)
    np.testing.assert_array_equal(result.numpy(), 2 * X)
    np.testing.assert_array_equal(same.numpy(), X)


def test_printing_and_asserting(capfd):
    bb, x = BlockBuilder(), variable(shape=(2,))
    with bb.function("main", [x], pure=False):
        bb.emit(relax.op.print("x is {}", x))
        bb.emit(relax.op.assert_op(relax.const(np.array(True)), [x], format="never {}"))
        bb.emit_func_output(x)
    run(bb.get(), np.ones(2, "float32"))
    assert capfd.readouterr().out == "x is [1, 1]\n"


def test_te_functions_take_nested_arguments():
    def formula(pair, table, offset, name, *, scale=None):
        a, b = pair
        c = table["c"]
        return te.compute((5, 7), lambda i, j: (a[i, j] + b[i, j]) * c[i, j] * scale + offset, name=name)

    bb, x = BlockBuilder(), variable()
    with bb.function("main", [x]):
        pair = bb.emit(relax.Tuple([x, x]))
        out = bb.emit_te(
            formula,
            pair,
            {"c": x},
            3.0,
            "out",
            scale=2.0,
            primfunc_name_hint="formula",
            primfunc_attrs={"k": 1},
        )
        bb.emit_func_output(out)
    mod = bb.get()
    assert int(mod["formula"].attrs["k"]) == 1
    np.testing.assert_array_equal(run(mod, X).numpy(), 4 * X * X + 3)


def test_loop_programs_get_names_that_scripts_take():
    bb, x = BlockBuilder(), variable()
    with bb.function("main", [x]):
        doubled = bb.emit_te(lambda a: te.compute((5, 7), lambda i, j: a[i, j] * 2.0), x)
        out = bb.emit_te(
            lambda a: te.compute((5, 7), lambda i, j: a[i, j] * 3.0),
            doubled,
            primfunc_name_hint="tests.triple",
        )
        bb.emit_func_output(out)
    mod = bb.get()
    assert {var.name_hint for var in mod.functions} == {"main", "_lambda_", "tests_triple"}
    assert_structural_equal(parse(mod.script()), mod)


def test_te_functions_take_extents_and_shapes():
    n = tir.Var("n", "int64")

    def formula(a, number, extents):
        return te.compute(extents, lambda i: a[i] + number.astype("float32"))

    bb, x = BlockBuilder(), variable(shape=(n,))
    with bb.function("main", [x]):
        out = bb.emit_te(formula, x, n, relax.ShapeExpr([n]))
        bb.emit_func_output(
            bb.emit_te(
                lambda a, k: te.compute(a.shape, lambda i: a[i] * k),
                out,
                relax.PrimValue(tir.const(2.0, "float32")),
            )
        )
    assert run(bb.get(), np.zeros(3, "float32")).numpy().tolist() == [6, 6, 6]


def test_te_functions_of_two_results():
    def pair(a):
        return te.compute((5, 7), lambda i, j: a[i, j] * 2.0), te.compute((5,), lambda i: a[i, 0])

    bb, x = BlockBuilder(), variable()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit_te(pair, x))
    double, column = run(bb.get(), X)
    np.testing.assert_array_equal(double.numpy(), 2 * X)
    np.testing.assert_array_equal(column.numpy(), X[:, 0])


def test_bindings_as_they_are():
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    bb = BlockBuilder()
    x = relax.Var("x", TensorType(None, "float32", ndim=2))
    with bb.function("main", [x]):
        assert BlockBuilder.current() is bb
        cast = bb.match_cast(x, TensorType((n, m), "float32"))
        value = bb.normalize(relax.op.exp(cast))
        var = bb.emit_normalized(relax.VarBinding(relax.Var("y", value.type), value))
        assert bb.lookup_binding(var).op.name == "relax.exp"
        assert not bb.current_block_is_dataflow()
        bb.emit_func_output(var)
    assert BlockBuilder.current() is None
    np.testing.assert_allclose(run(bb.finalize(), X / 35).numpy(), np.exp(X / 35), rtol=1e-6)


def refusal(function) -> str:
    with pytest.raises(tw.UserError) as error:
        function()
    return str(error.value)


def test_outside_of_a_scope():
    bb = BlockBuilder()
    for name, call in {
        "emit": bb.emit,
        "emit_output": bb.emit_output,
        "emit_func_output": bb.emit_func_output,
    }.items():
        assert refusal(lambda: call(variable())) == (  # noqa: B023 - called at once
            f"error: {name}: no function is open\nhelp: open one with bb.function(name, params)"
        )


def test_blocks_by_hand():
    bb, x = BlockBuilder(), variable()
    bb._begin_binding_block()
    first = bb.emit(relax.op.add(x, x))
    bb._begin_dataflow_block()
    inner = bb.emit(relax.op.exp(first), "e")
    outer = bb.emit_output(inner)
    dataflow = bb._end_block()
    last = bb.emit(relax.op.add(outer, x))
    plain = bb._end_block()
    assert isinstance(dataflow, relax.DataflowBlock) and isinstance(plain, relax.PlainBlock)
    assert [binding.var.name_hint for binding in dataflow.bindings] == ["e", "gv1"]
    assert [binding.var for binding in plain.bindings] == [first, last]


def test_no_block_to_end():
    bb = BlockBuilder()
    with pytest.raises(tw.UserError) as caught:
        bb._end_block()
    expected = "end of a block: no block is open\nhelp: open one with _begin_binding_block()"
    assert str(caught.value) == f"error: {expected}"


def test_normal_form_outside_of_a_function():
    bb, x = BlockBuilder(), variable()
    plain = bb.normalize(relax.op.add(x, x))
    assert isinstance(plain, relax.Call) and plain.type.ndim == 2
    nested = bb.normalize(relax.op.add(relax.op.exp(x), x))
    assert isinstance(nested, relax.SeqExpr) and len(nested.blocks[0].bindings) == 2


def test_lists_are_tuples_wherever_they_stand():
    bb, x = BlockBuilder(), variable()
    with bb.function("main", [x]):
        pair = bb.emit([x, x])
        bb.emit_func_output([pair, [x, (x,)]])
    result = bb.get()["main"].ret_type
    assert [len(result.elements), len(result.elements[1].elements)] == [2, 2]


def test_names_that_are_free():
    bb = BlockBuilder()
    with bb.function("main", [variable("x")]):
        assert [bb.get_unique_name("x"), bb.get_unique_name("y"), bb.get_unique_name("y")] == [
            "x1",
            "y",
            "y1",
        ]
        bb.emit_func_output([])
