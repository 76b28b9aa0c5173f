"""The pattern language: what matches, what does not, and graphs rewritten where it does."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax
from tilewright.relax.pattern import (
    PatternContext,
    has_attr,
    has_dtype,
    has_shape,
    is_call_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_expr,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    make_fused_bias_activation_pattern,
    rewrite_bindings,
    rewrite_call,
    wildcard,
)

TEXT = """
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @T.prim_func
    def copy(a: T.Buffer((5, 7), "float32"), b: T.Buffer((5, 7), "float32")):
        for i, j in T.grid(5, 7):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                b[vi, vj] = a[vi, vj]
    @R.function
    def main(x: R.Tensor((5, 127), "float32"), w: R.Tensor((7, 127), "float32"), b: R.Tensor((7,), "float32")):
        cls = Module
        with R.dataflow():
            wt = R.permute_dims(w, axes=[1, 0])
            mm = R.matmul(x, wt)
            biased = R.add(mm, b)
            act = R.nn.relu(biased)
            copied = R.call_tir(cls.copy, (act,), out_sinfo=R.Tensor((5, 7), "float32"))
            pair = (copied, mm)
            first = pair[0]
            out = R.add(first, R.const(1, "float32"))
            R.output(out)
        return out
"""
X, W, B = (np.random.default_rng(0).standard_normal(s).astype("float32") for s in [(5, 127), (7, 127), (7,)])


@pytest.fixture
def module():
    return tw.script.parse(TEXT)


@pytest.fixture
def bound(module):
    """Expressions by the name of their variable, and {variable: value}."""
    values = relax.analysis.get_var2val(module["main"])
    return {var.name_hint: value for var, value in values.items()}, values


def run(module, func):
    changed = tw.IRModule({"copy": module["copy"], "main": func})
    return relax.VirtualMachine(tw.compile(changed))["main"](X, W, B).numpy()


LINEAR = is_op("relax.matmul")(wildcard(), is_op("relax.permute_dims")(wildcard()))


@pytest.mark.parametrize(
    ("name", "pattern", "matches"),
    [
        ("mm", LINEAR, True),
        ("biased", LINEAR, False),
        ("biased", is_op("relax.add")(LINEAR, wildcard()), True),
        ("act", make_fused_bias_activation_pattern("relax.matmul", True, "relax.nn.relu"), True),
        ("biased", make_fused_bias_activation_pattern("relax.matmul", True), True),
        ("mm", is_op("relax.matmul")(wildcard()), False),
        ("mm", is_op("relax.matmul")(wildcard(), varg_default_wildcard=True), True),
        ("mm", (is_op("relax.add") | is_op("relax.matmul"))(wildcard(), wildcard()), True),
        ("mm", LINEAR & wildcard().has_dtype("float32"), True),
        ("mm", LINEAR & wildcard().has_dtype("float16"), False),
        ("mm", ~LINEAR, False),
        ("wt", ~LINEAR, True),
        ("mm", has_shape((5, 7)), True),
        ("mm", has_shape((5, 8)), False),
        ("mm", has_shape((5,)), False),
        ("mm", has_dtype("float32", LINEAR), True),
        ("wt", has_attr({"axes": [1, 0]}), True),
        ("wt", is_op("relax.permute_dims")(is_var("w")).has_attr({"axes": [0, 1]}), False),
        ("wt", is_op("relax.permute_dims")(is_var("x")), False),
        ("copied", is_call_tir("copy", [is_dfv("act")]), True),
        ("copied", is_call_tir("copy"), True),
        ("copied", is_call_tir("other"), False),
        ("copied", is_call_packed("copy"), False),
        ("pair", is_tuple([is_call_tir("copy"), LINEAR]), True),
        ("pair", is_tuple([LINEAR, is_call_tir("copy")]), False),
        ("pair", is_tuple([LINEAR, is_call_tir("copy")], unordered=True), True),
        ("pair", is_tuple([LINEAR, LINEAR], unordered=True), False),
        ("pair", is_tuple([LINEAR]), False),
        ("first", is_tuple_get_item(is_tuple(), 0), True),
        ("first", is_tuple_get_item(is_tuple(), 1), False),
        ("first", is_tuple_get_item(wildcard()), True),
        ("out", is_op("relax.add")(wildcard(), is_const()), True),
        ("biased", is_op("relax.add")(wildcard(), is_const()), False),
        ("out", is_op("relax.add")(wildcard(), is_expr(relax.const(1.0))), True),
        ("out", is_op("relax.add")(wildcard(), is_expr(relax.const(2.0))), False),
        ("out", is_gv(), False),
    ],
)
def test_what_matches(bound, name, pattern, matches):
    expressions, values = bound
    assert pattern.match(expressions[name], values) is matches


def test_without_values_variables_are_not_looked_through(bound):
    assert not LINEAR.match(bound[0]["mm"])
    assert is_op("relax.matmul")(is_var("x"), is_dfv("wt")).match(bound[0]["mm"])


def test_one_pattern_in_two_places_is_one_value(bound):
    expressions, values = bound
    x = wildcard()
    assert not is_op("relax.add")(x, x).match(expressions["biased"], values)
    assert is_op("relax.add")(x, x.dup()).match(expressions["biased"], values)


def test_matched_expressions_are_given_back(bound):
    x, w = wildcard(), wildcard()
    pattern = is_op("relax.matmul")(x, is_op("relax.permute_dims")(w))
    found = pattern.extract_matched_expr(*[bound[0]["mm"], bound[1]])
    assert (found[x].name_hint, found[w].name_hint) == ("x", "w")
    assert found[pattern] is bound[0]["mm"]
    assert pattern.extract_matched_expr(bound[0]["act"], bound[1]) is None


def test_calls_are_rewritten(module):
    x, c = wildcard(), is_const()
    pattern = is_op("relax.add")(x, c)
    changed = rewrite_call(
        pattern, lambda call, found: relax.op.subtract(found[x], relax.const(-1.0)), module["main"]
    )
    names = [b.value.op.name for b in changed.body.blocks[0].bindings if isinstance(b.value, relax.Call)]
    assert "relax.subtract" in names
    assert names.count("relax.add") == 1
    assert np.allclose(run(module, changed), run(module, module["main"]), rtol=1e-5)


def test_what_is_not_used_after_a_rewrite_is_gone(module):
    pattern = is_tuple_get_item(wildcard(), 0)
    add = is_op("relax.add")(pattern, wildcard())
    changed = rewrite_call(add, lambda call, found: relax.op.exp(relax.op.sum(call.args[1])), module["main"])
    assert [b.var.name_hint for b in changed.body.blocks[0].bindings] == ["lv", "out"]


def test_a_rewriter_that_gives_the_call_back_leaves_the_function(module):
    relu = is_op("relax.nn.relu")(wildcard())
    assert rewrite_call(relu, lambda call, found: call, module["main"]) is module["main"]


def test_a_function_that_does_not_match_stays_the_same(module):
    assert (
        rewrite_call(is_op("relax.exp")(wildcard()), lambda call, found: None, module["main"])
        is module["main"]
    )


def test_a_rewriter_must_give_an_expression(module):
    with pytest.raises(tw.UserError) as error:
        rewrite_call(LINEAR, lambda call, found: 3, module["main"])
    assert str(error.value) == "rewrite_call: the rewriter gave a Python int, expected an expression"


def test_patterns_tied_by_uses(module):
    block = module["main"].body.blocks[0]
    with PatternContext() as ctx:
        product = is_op("relax.matmul")(wildcard(), wildcard())
        biased = is_op("relax.add")(wildcard(), wildcard())
        product ^ biased
        biased >> is_op("relax.nn.relu")(wildcard())
    found = ctx.match_dfb(block)
    assert (found[product].name_hint, found[biased].name_hint) == ("mm", "biased")
    with PatternContext() as ctx:  # the pair uses it, too
        is_op("relax.matmul")(wildcard(), wildcard()) >> is_op("relax.add")(wildcard(), wildcard())
    assert ctx.match_dfb(block) is None


def test_bindings_are_rewritten_until_nothing_matches(module):
    with PatternContext() as ctx:
        product, biased = (
            is_op("relax.matmul")(wildcard(), wildcard()),
            is_op("relax.add")(wildcard(), wildcard()),
        )
        product ^ biased
    rounds = []

    def to_subtract(found, values):
        rounds.append(found)
        call = values[found[biased]]
        return {found[biased]: relax.op.subtract(call.args[0], relax.op.negative(call.args[1]))}

    changed = rewrite_bindings(ctx, to_subtract, module["main"])
    assert len(rounds) == 1
    assert np.allclose(run(module, changed), run(module, module["main"]), rtol=1e-5)
    assert rewrite_bindings(ctx, to_subtract, changed) is changed
    assert rewrite_bindings(ctx, lambda found, values: {}, module["main"]) is module["main"]


def test_a_rewriter_that_never_ends_is_stopped(module):
    with PatternContext() as ctx:
        product = is_op("relax.matmul")(wildcard(), wildcard())
        product ^ is_op("relax.add")(wildcard(), wildcard())
    with pytest.raises(tw.UserError) as error:
        rewrite_bindings(
            ctx,
            lambda found, values: {found[product]: values[found[product]].replace(span=None)},
            module["main"],
        )
    assert str(error.value) == (
        "rewrite_bindings: the patterns still match after 1000 rounds"
        "\nhelp: give values that they do not match, or an empty dictionary"
    )


def test_uses_need_a_context():
    with pytest.raises(tw.UserError) as error:
        wildcard() >> wildcard()
    assert str(error.value) == (
        "a use between patterns stands outside of a PatternContext"
        "\nhelp: write it inside of `with PatternContext() as ctx:`"
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: is_op("relax.add")(wildcard(), 3),
            "a pattern of a call: argument 1 is a Python int, expected a pattern\nhelp: is_expr(value) matches one value",
        ),
        (lambda: wildcard() >> 3, "a use between patterns: found a Python int, expected a pattern"),
    ],
)
def test_what_is_no_pattern_is_refused(make, text):
    with PatternContext(), pytest.raises(tw.UserError) as error:
        make()
    assert str(error.value) == text


def fused_functions(module) -> dict:
    return {
        var.name_hint: func.attrs["Composite"]
        for var, func in module.functions.items()
        if isinstance(func, relax.Function) and "Composite" in func.attrs
    }


BIASED_RELU = make_fused_bias_activation_pattern("relax.matmul", True, "relax.nn.relu")


def test_what_a_pattern_matches_becomes_a_function(module):
    # the pair uses the product outside of the match
    assert relax.transform.FuseOpsByPattern([("my.linear", BIASED_RELU)])(module) is module
    bias_relu = is_op("relax.nn.relu")(is_op("relax.add")(wildcard(), wildcard()))
    fused = relax.transform.FuseOpsByPattern([("my.bias_relu", bias_relu), ("my.linear", LINEAR)])(module)
    assert fused_functions(fused) == {
        "fused_relax_add_relax_nn_relu": "my.bias_relu",
        "fused_relax_permute_dims_relax_matmul": "my.linear",
    }
    inner = fused["fused_relax_add_relax_nn_relu"]
    assert [param.name_hint for param in inner.params] == ["mm", "b"]
    run_fused = relax.VirtualMachine(tw.compile(fused))["main"](X, W, B).numpy()
    assert np.allclose(run_fused, run(module, module["main"]), rtol=1e-5)
    assert relax.transform.FuseOpsByPattern([("my.exp", is_op("relax.exp")(wildcard()))])(fused) is fused


def test_constants_stay_inside_or_become_arguments(module):
    add_const = is_op("relax.add")(wildcard(), is_const())
    inside = relax.transform.FuseOpsByPattern([("my.add", add_const)])(module)
    outside = relax.transform.FuseOpsByPattern([("my.add", add_const)], bind_constants=False)(module)
    counts = [len(fused["fused_relax_add"].params) for fused in (inside, outside)]
    assert counts == [1, 2]
    for fused in (inside, outside):
        result = relax.VirtualMachine(tw.compile(fused))["main"](X, W, B).numpy()
        assert np.allclose(result, run(module, module["main"]), rtol=1e-5)


def test_a_check_decides(module):
    seen = []

    def check(context):
        seen.append(
            (context.annotated_expr["x"].name_hint, [var.name_hint for var in context.matched_bindings])
        )
        return False

    x = wildcard()
    pattern = is_op("relax.matmul")(x, is_op("relax.permute_dims")(wildcard()))
    assert relax.transform.FuseOpsByPattern([("my.linear", pattern, {"x": x}, check)])(module) is module
    assert seen == [("x", ["wt", "mm"])]


def test_rows_that_are_none_are_refused():
    with pytest.raises(tw.UserError) as error:
        relax.transform.FuseOpsByPattern(["relax.add"])
    assert str(error.value) == (
        "FuseOpsByPattern: a row is no (name, pattern, annotations, check)"
        "\nhelp: name is a string, pattern what is_op and the like give; the other two may be left out"
    )


def test_kinds_of_patterns():
    nodes = tw.relax.pattern.nodes
    shape = [tw.tir.const(5, "int64"), 7]
    assert isinstance(is_var("x"), nodes.VarPattern) and is_var("x").name == "x"
    assert isinstance(is_const(), nodes.ConstantPattern) and isinstance(is_op("relax.add"), nodes.ExprPattern)
    assert isinstance(is_tuple([], unordered=True), nodes.UnorderedTuplePattern)
    assert is_shape(shape).match(tw.script.relax.shape([5, 7]))
    assert not is_shape([5]).match(tw.script.relax.shape([5, 7]))
    assert has_shape([5, 7]).shape == [5, 7] and has_dtype("int8").dtype == "int8"
    with pytest.raises(TypeError):
        iter(wildcard())


def test_elements_and_functions():
    x, y = (relax.Var(name, relax.TensorType((5,), "float32")) for name in "xy")
    both = relax.Tuple([x, y])
    assert is_tuple([is_var("x"), is_var("y")])[1].match(relax.TupleGetItem(both, 1))
    a, b = wildcard(), wildcard()
    pattern = tw.relax.pattern.nodes.FunctionPattern([a, b], is_op("relax.add")(a, b))
    bb = relax.BlockBuilder()
    with bb.function("sum", [x, y]):
        bb.emit_func_output(bb.emit(relax.op.add(x, y)))
    with bb.function("product", [x, y]):
        bb.emit_func_output(bb.emit(relax.op.multiply(x, y)))
    assert pattern.match(bb.get()["sum"]) and not pattern.match(bb.get()["product"])


SIBLINGS = """
from tvm.script import relax as R
@R.function(private=True)
def main(x: R.Tensor((2, 5), "float32"), w0: R.Tensor((5, 3), "float32"), w1: R.Tensor((5, 3), "float32")):
    with R.dataflow():
        lv0 = R.matmul(x, w0)
        lv1 = R.matmul(x, w1)
        gv = R.subtract(lv0, lv1)
        R.output(gv)
    return gv
"""


def test_calls_written_in_a_context_are_looked_for():
    with PatternContext() as ctx:
        x, w0, w1 = wildcard(), wildcard(), wildcard()
        left, right = is_op("relax.matmul")(x, w0), is_op("relax.matmul")(x, w1)
    func = tw.script.parse(SIBLINGS)
    found = ctx.match_dfb(func.body.blocks[0])
    assert [found[p].name_hint for p in (x, w0, w1, left, right)] == ["x", "w0", "w1", "lv0", "lv1"]

    def rewriter(found, values):
        joined = relax.op.matmul(found[x], relax.op.concat([found[w0], found[w1]], axis=1))
        return {
            found[left]: relax.op.strided_slice(joined, axes=[1], begin=[0], end=[3]),
            found[right]: relax.op.strided_slice(joined, axes=[1], begin=[3], end=[6]),
        }

    changed = rewrite_bindings(ctx, rewriter, func)
    arrays = [np.random.rand(*shape).astype("float32") for shape in ((2, 5), (5, 3), (5, 3))]
    machine = tw.VirtualMachine(tw.compile(tw.IRModule({"main": changed.with_attr("global_symbol", "main")})))
    assert changed.script().count("R.matmul") < 4 and "R.concat" in changed.script()
    np.testing.assert_allclose(
        machine["main"](*arrays).numpy(), arrays[0] @ (arrays[1] - arrays[2]), rtol=1e-4, atol=1e-6
    )


def test_uses_as_a_certain_argument():
    func = tw.script.parse(SIBLINGS)
    for index, fits in ((0, True), (1, False), (5, False), (-1, True)):
        with PatternContext() as ctx:
            product = is_op("relax.matmul")(wildcard(), is_var("w0"))
            product.used_by(is_op("relax.subtract")(wildcard(), wildcard()), index)
        assert (ctx.match_dfb(func.body.blocks[0]) is not None) == fits
    with PatternContext() as ctx:
        x = is_var("x")
        x.fork_to(
            is_op("relax.matmul")(wildcard(), is_var("w0")), is_op("relax.matmul")(wildcard(), is_var("w1"))
        )
    assert len(ctx.match_dfb(func.body.blocks[0])) >= 3
