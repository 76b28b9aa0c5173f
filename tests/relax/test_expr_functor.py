"""Visitors, mutators and questions about graphs from Python."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import relax

TEXT = """
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor(("n", 7), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            lv0 = R.multiply(x, y)
            dead = R.exp(x)
            gv0 = R.add(lv0, y)
            R.output(gv0)
        if c:
            a = R.add(gv0, x)
            b = R.negative(a)
        else:
            b = R.exp(gv0)
        t = (b, gv0)
        r = t[0]
        return r
"""
X, Y = np.linspace(0, 1, 35, dtype="float32").reshape(5, 7), np.full((5, 7), 0.5, "float32")


@pytest.fixture
def module():
    return tw.script.parse(TEXT)


def run(module, *args):
    return relax.VirtualMachine(tw.compile(module))["main"](*args).numpy()


class Order(relax.PyExprVisitor):
    """Notes the operators of calls, in the order in which they are visited."""

    def __init__(self):
        self.seen = []

    def visit_call_(self, call):
        super().visit_call_(call)
        self.seen.append(call.op.name)

    def visit_var_def_(self, var):
        self.seen.append(var.name_hint)

    visit_dataflow_var_def_ = visit_var_def_


def test_a_visitor_sees_parts_in_the_order_of_computation(module):
    order = Order()
    order.visit_expr(module["main"])
    assert order.seen == [
        *("x", "y", "c", "relax.multiply", "lv0", "relax.exp", "dead", "relax.add", "gv0"),
        *("relax.add", "a", "relax.negative", "b_then", "relax.exp", "b_else", "b", "t", "r"),
    ] or order.seen[:9] == ["x", "y", "c", "relax.multiply", "lv0", "relax.exp", "dead", "relax.add", "gv0"]


def test_a_mutator_that_overrides_nothing_gives_the_same_function(module):
    assert relax.PyExprMutator().visit_expr(module["main"]) is module["main"]


class FuseMultiplyAdd(relax.PyExprMutator):
    """x * y + z becomes z + y * x in one expression: nested calls without types."""

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        product = self.lookup_binding(call.args[0])
        if call.op.name != "relax.add" or not isinstance(product, relax.Call):
            return call
        if product.op.name != "relax.multiply":
            return call
        return call.args[1] + product.args[1] * product.args[0]


def test_a_mutator_puts_nested_calls_into_normal_form(module):
    changed = FuseMultiplyAdd().visit_expr(module["main"])
    bindings = changed.body.blocks[0].bindings
    assert [binding.value.op.name for binding in bindings] == [
        *("relax.multiply", "relax.exp", "relax.multiply", "relax.add"),
    ]
    assert all(binding.value.type is not None for binding in bindings)
    before, after = (
        run(module, X, Y, np.array(True)),
        run(tw.IRModule({"main": changed}), X, Y, np.array(True)),
    )
    assert np.allclose(before, after, rtol=1e-6)


class Halve(relax.PyExprMutator):
    """Sums the last dimension away: types of all that follows change."""

    def visit_var_binding_(self, binding):
        if binding.var.name_hint != "lv0":
            return super().visit_var_binding_(binding)
        value = self.builder_.normalize(relax.op.sum(binding.value, axis=[1], keepdims=True))
        var = self.with_type(binding.var, value.type)
        self.set_var_remap(binding.var, var)
        return self._emit(binding, var, value)


def test_variables_whose_type_changes_are_replaced_with_their_uses(module):
    changed = Halve().visit_expr(module["main"])
    result = run(tw.IRModule({"main": changed}), X, Y, np.array(False))
    assert np.allclose(result, np.exp((X * Y).sum(1, keepdims=True) + Y), rtol=1e-5)


class AddHelper(relax.PyExprMutator):
    """Calls a function that it adds to the module."""

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op.name != "relax.negative":
            return call
        bb = relax.BlockBuilder()
        param = relax.Var("p", call.args[0].type)
        with bb.function("helper", [param]):
            bb.emit_func_output(bb.emit(0.0 - param))
        return self.builder_.add_func(bb.get()["helper"].without_attr("global_symbol"), "helper")(*call.args)


def test_a_mutator_adds_functions(module):
    mutator = AddHelper(module)
    main = mutator.visit_expr(module["main"])
    mutator.builder_.update_func(module.get_global_var("main"), main)
    changed = mutator.builder_.get()
    assert [var.name_hint for var in changed.get_global_vars()] == ["main", "helper"]
    assert np.allclose(run(changed, X, Y, np.array(True)), -(X * Y + Y + X), rtol=1e-6)


def test_an_error_in_a_mutator_comes_through_and_leaves_it_usable(module):
    class Fails(relax.PyExprMutator):
        fail = True

        def visit_call_(self, call):
            if self.fail and call.op.name == "relax.negative":
                raise KeyError("mine")
            return super().visit_call_(call)

    mutator = Fails()
    with pytest.raises(KeyError, match="mine"):
        mutator.visit_expr(module["main"])
    mutator.fail = False
    assert mutator.visit_expr(module["main"]) is module["main"]


def test_what_is_no_graph_expression_is_refused():
    with pytest.raises(tw.errors.ArgumentError) as error:
        relax.PyExprVisitor().visit_expr(3)
    assert str(error.value).splitlines()[0].endswith("cannot take (expr = 3): a int is no graph expression")


def names(variables) -> list:
    return [var.name_hint for var in variables]


def test_analysis(module):
    func, analysis = module["main"], relax.analysis
    assert names(analysis.free_vars(func)) == []
    assert names(analysis.free_vars(func.body)) == ["x", "y", "c"]
    assert names(analysis.bound_vars(func))[:6] == ["x", "y", "c", "lv0", "dead", "gv0"]
    assert names(analysis.all_vars(func.body))[-3:] == ["x", "y", "c"]
    assert names(analysis.defined_symbolic_vars(func)) == ["n"]
    assert [var.name for var in analysis.free_symbolic_vars(func)] == []
    assert [binding.value.op.name for binding in analysis.name_to_binding(func)["lv0"]] == ["relax.multiply"]
    block = func.body.blocks[0]
    chain = analysis.udchain(block)
    assert names(chain[func.params[1]]) == ["lv0", "gv0"]
    assert analysis.get_var2val(func)[block.bindings[0].var] is block.bindings[0].value
    assert analysis.well_formed(module)
    cleaned = analysis.remove_all_unused(func)
    assert [binding.var.name_hint for binding in cleaned.body.blocks[0].bindings] == ["lv0", "gv0"]
    assert analysis.remove_all_unused(cleaned) is cleaned
    kinds = []
    analysis.post_order_visit(block.bindings[2].value, lambda expr: kinds.append(type(expr).__name__))
    assert kinds == ["Op", "DataflowVar", "Var", "Call"]


def test_functions_called():
    module = tw.script.parse(
        """
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        return x
    @R.function
    def main(x: R.Tensor((5,), "float32")):
        cls = Module
        y = cls.f(x)
        z = cls.f(y)
        return z
"""
    )
    assert names(relax.analysis.all_global_vars(module["main"])) == ["f"]


def test_arithmetic_of_graph_values():
    x = relax.Var("x", relax.TensorType((5,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        value = bb.emit((2 * x + 1) / (x - 0.5) - x**2 + (-x) % 3 + x // 2)
        flags = bb.emit((x < 1).astype("float32") + (x >= 2).astype("float32"))
        both = bb.emit(relax.Tuple([value, flags]))
        first, second = both
        bb.emit_func_output(bb.emit(first + second))
    data = np.array([-2, -1, 0, 1, 3], "float32")
    expected = (2 * data + 1) / (data - 0.5) - data**2 + np.mod(-data, 3) + data // 2
    assert np.allclose(run(bb.get(), data), expected + (data < 1) + (data >= 2), rtol=1e-5)
    with pytest.raises(IndexError, match="element 2 of a tuple of 2"):
        both[2]
    with pytest.raises(TypeError, match="only a graph value of tuple type has elements to iterate over"):
        list(x)


def test_a_function_as_a_pass(module):
    ran = []

    @tw.transform.module_pass(opt_level=2, name="keep")
    def keep(mod, context):
        ran.append(context.opt_level)
        return mod

    @tw.transform.module_pass(opt_level=3)
    class Strict:
        def __init__(self, count):
            self.count = count

        def transform_module(self, mod, context):
            ran.append(self.count)
            return mod

    assert keep(module) is module and Strict(7)(module) is module
    with tw.transform.PassContext(opt_level=3):
        Strict(7)(module)
        tw.transform.Sequential([keep, Strict(8)])(module)
    with tw.transform.PassContext(opt_level=1, required_pass=[]):
        keep(module)
    assert ran == [2, 7, 3, 8]
    with pytest.raises(tw.UserError) as error:
        tw.transform.module_pass(lambda mod, context: 3, name="three")(module)
    assert str(error.value) == "pass three: gave a Python int, expected an IRModule"


def test_a_mutator_may_end_blocks_by_hand():
    class ByHand(relax.PyExprMutator):
        def visit_dataflow_block_(self, block):
            self.builder_._begin_dataflow_block()
            for binding in block.bindings:
                self.visit_binding(binding)
            return self.builder_._end_block()

        def visit_binding_block_(self, block):
            self.builder_._begin_binding_block()
            for binding in block.bindings:
                self.visit_binding(binding)
            return self.builder_._end_block()

    main = tw.script.parse(TEXT)["main"]
    tw.ir.assert_structural_equal(ByHand().visit_expr(main), main)


def test_blocks_by_themselves():
    main = tw.script.parse(TEXT)["main"]
    block = main.body.blocks[0]

    class Exp(relax.PyExprMutator):
        def visit_call_(self, call):
            return relax.op.exp(call.args[0]) if call.op.name == "relax.multiply" else call

    changed = Exp().visit_binding_block(block)
    assert isinstance(changed, relax.DataflowBlock)
    assert [binding.value.op.name for binding in changed.bindings][0] == "relax.exp"
    empty = relax.PlainBlock(bindings=[])
    assert relax.PyExprMutator().visit_binding_block(empty).bindings == []
