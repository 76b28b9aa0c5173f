"""Graphs as test suites for TVM write them: scripts from tvm.script.parser, types by R, builders, functors, patterns, passes."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax, te, tir
from tvm import relax as rx
from tvm.ir.base import assert_structural_equal
from tvm.relax.dpl import CallPattern, DataflowVarPattern, VarPattern, is_dfv, is_op, is_var, wildcard
from tvm.relax.expr_functor import PyExprMutator, PyExprVisitor, mutator, visitor
from tvm.script.parser import ir as I
from tvm.script.parser import relax as R
from tvm.script.parser import tir as T


def check(parsed, expected=None):
    tvm.ir.assert_structural_equal(parsed, tvm.script.from_source(parsed.script(show_meta=True)))
    if expected is not None:
        tvm.ir.assert_structural_equal(parsed, expected)


def test_simple_module():
    @I.ir_module
    class TestModule:
        @T.prim_func(private=True)
        def tir_func(
            x: T.Buffer((T.int64(128), T.int64(128)), "float32"),
            y: T.Buffer((T.int64(128), T.int64(128)), "float32"),
        ):
            T.func_attr({"tir.noalias": True})
            for i, j in T.grid(T.int64(128), T.int64(128)):
                with T.block():
                    vi, vj = T.axis.remap("SS", [i, j])
                    y[vi, vj] = x[vi, vj] + 1.0

        @R.function
        def foo(x: R.Tensor((128, 128), "float32")) -> R.Tensor((128, 128), "float32"):
            cls = TestModule
            gv0 = R.call_tir(cls.tir_func, x, R.Tensor((128, 128), dtype="float32"))
            return gv0

    x = relax.Var("x", R.Tensor((128, 128), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("foo", (x,)):
        out = bb.emit_te(lambda x: x + 1, x, primfunc_name_hint="tir_func")
        bb.emit_func_output(out)
    check(TestModule, bb.get())


def test_functions_in_any_order():
    @I.ir_module
    class Mod0:
        @R.function
        def foo(x: R.Tensor((10, 5), "float32")):
            s = R.add(x, x)
            return s

        @R.function
        def main(x: R.Tensor((10, 5), "float32")):
            cls = Mod0
            inner = cls.foo
            gv1 = inner(x)
            gv2 = Mod0.foo(x)
            return (inner, gv1, gv2)

    @I.ir_module
    class Mod1:
        @R.function
        def main(x: R.Tensor((10, 5), "float32")):
            inner = Mod1.foo
            gv1 = inner(x)
            gv2 = Mod1.foo(x)
            return (inner, gv1, gv2)

        @R.function
        def foo(x: R.Tensor((10, 5), "float32")):
            s = R.add(x, x)
            return s

    check(Mod0, Mod1)


def test_branch_on_a_computed_scalar():
    @R.function
    def before(x: R.Tensor(["N"], "float32")):
        N = T.int64()
        if R.prim_value(N % 16 == 0):
            out = R.call_pure_packed("fast_vectorized_impl", x, sinfo_args=[x.struct_info])
        else:
            out = R.call_pure_packed("slow_non_vectorized_impl", x, sinfo_args=[x.struct_info])
        return out

    check(before)


def test_virtual_devices():
    @I.ir_module
    class M:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @R.function
        def foo(
            x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 4), "float32"), z: R.Tensor((4, 5), "float32")
        ) -> R.Tensor((2, 5), "float32"):
            with R.dataflow():
                lv0: R.Tensor((2, 4), "float32", "llvm:0") = R.matmul(x, y)
                lv1: R.Tensor((2, 4), "float32", "llvm:1") = R.to_vdevice(lv0, "llvm:1")
                gv = R.matmul(lv1, z)
                R.output(gv)
            return gv

    check(M)
    moved = M["foo"].body.blocks[0].bindings[1].var.struct_info
    assert str(moved.vdevice) == "llvm:1" and moved.vdevice.vdevice_id == 1
    assert M["foo"].params[0].struct_info.vdevice is None
    machine = relax.VirtualMachine(relax.build(M, "llvm"), [tvm.cpu(0), tvm.cpu(0)])
    arrays = [np.random.rand(*shape).astype("float32") for shape in [(2, 3), (3, 4), (4, 5)]]
    result = machine["foo"](*[tvm.nd.array(array) for array in arrays])
    np.testing.assert_allclose(result.numpy(), arrays[0] @ arrays[1] @ arrays[2], rtol=1e-5)


def test_hints_are_realized():
    @I.ir_module
    class Before:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0)]})

        @R.function
        def foo(x: R.Tensor((2, 3), "float32", "llvm:0"), y: R.Tensor((2, 3), "float32")):
            with R.dataflow():
                lv0 = R.hint_on_device(x, tvm.opencl(0))
                gv = R.add(lv0, y)
                R.output(gv)
            return gv

    @I.ir_module
    class Expected:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("opencl", 0)]})

        @R.function
        def foo(
            x: R.Tensor((2, 3), "float32", "llvm:0"), y: R.Tensor((2, 3), "float32", "opencl:0")
        ) -> R.Tensor((2, 3), "float32", "opencl:0"):
            with R.dataflow():
                lv0: R.Tensor((2, 3), "float32", "opencl:0") = R.to_vdevice(x, "opencl:0")
                gv: R.Tensor((2, 3), "float32", "opencl:0") = R.add(lv0, y)
                R.output(gv)
            return gv

    realized = relax.transform.RealizeVDevice()(Before)
    tvm.ir.assert_structural_equal(realized, Expected)
    replaced = relax.transform.UpdateVDevice(tvm.ir.VDevice("metal", 0, "global"), 1)(realized)
    assert str(replaced["foo"].ret_struct_info.vdevice) == "metal:0"
    assert str(replaced["foo"].params[0].struct_info.vdevice) == "llvm:0"


def test_errors_are_of_tvms_types():
    with pytest.raises(tvm.error.DiagnosticError):

        @R.function
        def foo(x: R.Tensor((128, 128), "float32")):
            R.add(x, x)

    x = rx.Var("x", R.Tensor([3], "float32"))
    bb = rx.BlockBuilder()
    with pytest.raises(RuntimeError), bb.function("func", [x]):
        bb.emit(rx.op.add(x, x))


def test_block_builder():
    m, n = tir.Var("m", "int64"), tir.Var("n", "int64")
    x = rx.Var("x", rx.TensorStructInfo([m, n], "float16"))
    y = rx.Var("y", rx.TensorStructInfo([n], "float16"))
    bb = rx.BlockBuilder()
    bb._begin_binding_block()
    gv0 = bb.emit(rx.op.add(x, y))
    bb._begin_dataflow_block()
    lv0 = bb.emit(rx.op.multiply(gv0, y))
    bb.emit_output(lv0)
    b0 = bb._end_block()
    b1 = bb._end_block()
    assert isinstance(b0, rx.DataflowBlock) and not isinstance(b1, rx.DataflowBlock)
    shape = rx.get_shape_of(rx.op.multiply(x, y))
    assert isinstance(shape, rx.ShapeExpr) and shape[0] == m and shape[1] == n
    with bb.function("f", [x]):
        cast = bb.match_cast(x, rx.TensorStructInfo([n, m], "float16"))
        bb.emit_func_output(cast)
    binding = bb.get()["f"].body.blocks[0].bindings[0]
    assert isinstance(binding, rx.MatchCast) and binding.struct_info == rx.TensorStructInfo([n, m], "float16")
    conv = rx.op.nn.conv2d(
        rx.Var("x", R.Tensor((1, 3, 8, 8), "float32")),
        rx.Var("w", R.Tensor((4, 3, 3, 3), "float32")),
        strides=(2, 2),
    )
    assert list(conv.attrs.strides) == [2, 2] and conv.attrs.data_layout == "NCHW"


def test_several_results_of_a_loop_program():
    bb = rx.BlockBuilder()
    n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
    x = rx.Var("x", rx.TensorStructInfo([n, m], "float32"))

    def te_func(A):
        return te.compute((n, m), lambda i, j: (A[i, j] + 1, A[i, j] * 2), name="B")

    with bb.function("rx_func", [x]):
        y = bb.emit_te(te_func, x)
        bb.emit_func_output([y, rx.TupleGetItem(y, 0)])
    call = bb.get()["rx_func"].body.blocks[0].bindings[0].value
    assert len(call.sinfo_args) == 1 and len(call.sinfo_args[0].fields) == 2


@visitor
class Printer(PyExprVisitor):
    def __init__(self):
        super().__init__()
        self.log = []

    def visit_tuple_(self, op):
        self.log.append("Tuple")
        for field in op.fields:
            self.visit_expr(field)

    def visit_tuple_getitem_(self, op):
        self.log.append("TupleGetItem")
        self.visit_expr(op.tuple_value)

    def visit_var_(self, op):
        self.log.append("Var")

    def visit_seq_expr_(self, op):
        self.log.append("SeqExpr")
        super().visit_seq_expr_(op)


@mutator
class AddToMultiply(PyExprMutator):
    def visit_var_binding_(self, binding):
        new_value = self.visit_expr(binding.value)
        new_var = self.visit_var_def(binding.var)
        temp = self.with_struct_info(new_var, new_value.struct_info)
        self.set_var_remap(binding.var.vid, temp)
        self.builder_.emit_normalized(relax.VarBinding(temp, new_value))

    def visit_dataflow_block_(self, block):
        self.builder_._begin_dataflow_block()
        for binding in block.bindings:
            self.visit_binding(binding)
        return self.builder_._end_block()

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        is_add = call.op == tvm.ir.Op.get("relax.add")
        return relax.op.multiply(call.args[0], call.args[1]) if is_add else call


def test_functors():
    x, y = (relax.Var(name, R.Tensor((3,), "float32")) for name in "xy")
    printer = Printer()
    printer.visit_expr(relax.TupleGetItem(relax.Tuple([x, y]), 0))
    printer.visit_expr(relax.If(relax.Var("c", R.Tensor((), "bool")), x, x))
    assert printer.log == ["TupleGetItem", "Tuple", "Var", "Var", "Var", "SeqExpr", "Var", "SeqExpr", "Var"]

    @R.function(private=True)
    def before(a: R.Tensor((3,), "float32")):
        with R.dataflow():
            b = R.add(a, a)
            c = R.exp(b)
            R.output(c)
        return c

    @R.function(private=True)
    def after(a: R.Tensor((3,), "float32")):
        with R.dataflow():
            b = R.multiply(a, a)
            c = R.exp(b)
            R.output(c)
        return c

    assert_structural_equal(AddToMultiply().visit_expr(before), after)
    with pytest.raises(TypeError):

        @mutator
        class Leaf(AddToMultiply):
            pass


def test_patterns():
    assert isinstance(is_var("x"), VarPattern) and isinstance(is_dfv("x"), DataflowVarPattern)
    call = is_op("relax.add")(wildcard(), wildcard())
    assert isinstance(call, CallPattern)
    assert call.match(rx.op.add(rx.Var("x", R.Tensor("float32")), rx.Var("y", R.Tensor("float32"))))
    x, y = rx.Var("x", R.Tensor("float32")), rx.Var("y", R.Tensor("float32"))
    func = rx.Function([x, y], rx.op.add(x, y), ret_struct_info=R.Tensor("float32"))
    pattern = rx.dpl.FunctionPattern([is_var("x"), is_var("y")], is_op("relax.add")(is_var("x"), is_var("y")))
    annotated = func.with_attr({"Codegen": "test-codegen", "global_symbol": "test-symbol"})
    assert pattern.has_attr({"Codegen": "test-codegen"}).match(annotated)
    assert not pattern.has_attr({"ping": "pong"}).match(annotated)

    @R.function(private=True)
    def main(x: R.Tensor((16, 16), "float32")) -> R.Tensor((16, 16), "float32"):
        with R.dataflow():
            x2 = R.add(x, x)
            x4 = R.add(x2, x2)
            R.output(x4)
        return x4

    @R.function(private=True)
    def expected(x: R.Tensor((16, 16), dtype="float32")) -> R.Tensor((16, 16), dtype="float32"):
        with R.dataflow():
            lv: R.Tensor((16, 16), dtype="float32") = R.multiply(x, R.const(2, "float32"))
            x4: R.Tensor((16, 16), dtype="float32") = R.multiply(lv, R.const(2, "float32"))
            R.output(x4)
        return x4

    a = wildcard()
    rewritten = rx.dpl.rewrite_call(
        is_op("relax.add")(a, a), lambda _, found: R.multiply(found[a], R.const(2, "float32")), main
    )
    assert_structural_equal(rewritten, expected)


@I.ir_module
class Linear:
    @R.function
    def main(x: R.Tensor(("batch", "m"), "float32"), w: R.Tensor(("m", "n"), "float32")):
        return R.matmul(x, w)


def test_functions_are_bound():
    func = Linear["main"].bind_symbolic_vars({"batch": 1, "m": 3})
    assert func.params[0].struct_info == R.Tensor((1, 3), "float32")
    func = Linear["main"].bind_params({"w": np.ones((4, 5), "float32")})
    assert func.params[0].struct_info.shape[1] == tir.IntImm("int64", 4)
    wider = relax.transform.UpdateParamStructInfo(
        lambda param: R.Tensor((2, 3), "float32") if param.name_hint == "x" else R.Tensor((3, 5), "float32")
    )(Linear)
    assert wider["main"].ret_struct_info == R.Tensor((2, 5), "float32")


def test_convert_layout():
    @I.ir_module
    class Input:
        @R.function
        def main(x: R.Tensor((2, 3, 28, 28), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")) -> R.Tensor(
            None, "float32", ndim=4
        ):
            with R.dataflow():
                gv: R.Tensor((2, 4, 26, 26), "float32") = R.nn.conv2d(x, w, out_dtype="float32")
                gv2 = R.nn.relu(gv)
                R.output(gv2)
            return gv2

    converted = relax.transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})(Input)
    ops = [binding.value.op.name for binding in converted["main"].body.blocks[0].bindings]
    assert ops == ["relax.permute_dims"] * 2 + ["relax.nn.conv2d", "relax.nn.relu", "relax.permute_dims"]
    conv = converted["main"].body.blocks[0].bindings[2].value
    assert (conv.attrs.data_layout, conv.attrs.kernel_layout, conv.attrs.out_layout) == (
        "NHWC",
        "OHWI",
        "NHWC",
    )
    x, w = np.random.rand(2, 3, 28, 28).astype("float32"), np.random.rand(4, 3, 3, 3).astype("float32")
    results = [
        relax.VirtualMachine(relax.build(m, "llvm"), tvm.cpu())["main"](x, w) for m in (Input, converted)
    ]
    np.testing.assert_allclose(results[0].numpy(), results[1].numpy(), rtol=1e-4)


def test_pure_functions_that_say_so():
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            y = R.call_pure_packed("f", x, sinfo_args=R.Tensor((3,), "float32"))
            return y

    unchecked = relax.transform.RemovePurityChecking()(M)
    assert unchecked["main"].attrs["relax.force_pure"]
    assert isinstance(unchecked["main"].body.blocks[0].bindings[0].value.op, relax.ExternFunc)


def test_lazy_weights():
    @I.ir_module
    class M:
        @R.function
        def main(
            x: R.Tensor((3, 4), "float32"), w: R.Tensor((5, 4), "float32"), b: R.Tensor((5,), "float32")
        ):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                wt = R.permute_dims(w, axes=[1, 0])
                lv = R.matmul(x, wt)
                gv = R.add(lv, b)
                R.output(gv)
            return gv

    mod = relax.transform.LazyTransformParams()(relax.transform.LiftTransformParams()(M))
    weights = [np.random.rand(5, 4).astype("float32"), np.random.rand(5).astype("float32")]
    given = {}

    @tvm.register_func("get_item", override=True)
    def get_item(number):
        return tvm.nd.array(weights[number])

    @tvm.register_func("set_item", override=True)
    def set_item(number, value):
        given[number] = np.array(value.numpy())

    machine = relax.VirtualMachine(relax.build(mod, "llvm"), tvm.cpu())
    machine["main_transform_params"]()
    x = np.random.rand(3, 4).astype("float32")
    result = machine["main"](x, *[given[n] for n in sorted(given)]).numpy()
    np.testing.assert_allclose(result, x @ weights[0].T + weights[1], rtol=1e-5)


def test_build_and_machine_take_tvms_arguments():
    for mode in ("bytecode", "compiled"):
        ex = relax.build(Linear, tvm.target.Target("llvm", host="llvm"), exec_mode=mode)
        ex = tvm.compile(Linear, target="llvm", relax_pipeline=relax.get_pipeline("zero"), exec_mode=mode)
    assert "ib.emit(" in ex.as_python() and "call_kernel" in ex.as_text() and "functions" in ex.stats()
    vm = relax.VirtualMachine(ex, tvm.cpu(), memory_cfg="naive", profile=True)
    assert isinstance(vm, relax.VirtualMachine)
    x, w = np.ones((2, 3), "float32"), np.ones((3, 5), "float32")
    assert (vm["main"](tvm.nd.array(x), tvm.nd.array(w)).numpy() == 3).all()
    assert "matmul" in str(vm.profile("main", tvm.nd.array(x), tvm.nd.array(w)))

    @relax.register_pipeline("nothing")
    def nothing():
        return tvm.transform.Sequential([])

    assert_structural_equal(relax.get_pipeline("nothing")(Linear), Linear)


def test_passes_say_what_they_are():
    @tvm.ir.transform.module_pass(opt_level=2, name="p")
    def p(mod, ctx):
        return mod

    @relax.transform.function_pass(opt_level=1)
    def fp(func, mod, ctx):
        return func

    assert (p.info.name, p.info.opt_level) == ("p", 2) and isinstance(p, tvm.transform.ModulePass)
    assert isinstance(fp, relax.transform.FunctionPass)
    assert relax.transform.FoldConstant().info.name == "fold_constant"


def test_patterns_of_libraries():
    from tvm.relax.backend import get_patterns_with_prefix, register_patterns
    from tvm.relax.backend.patterns import (
        make_conv2d_pattern,
        make_matmul_pattern,
        make_residual_block_pattern,
    )

    pattern, annotations = make_matmul_pattern(
        with_bias=True, activation="relax.nn.relu", transposed_rhs=True
    )
    register_patterns([("mine.matmul", pattern, annotations), ("mine.conv2d", *make_conv2d_pattern())])
    assert [row.name for row in get_patterns_with_prefix("mine")] == ["mine.conv2d", "mine.matmul"]
    block, _ = make_residual_block_pattern(make_conv2d_pattern(), activation="relax.nn.relu")
    assert isinstance(block, CallPattern)

    @I.ir_module
    class M:
        @R.function
        def main(
            x: R.Tensor((2, 3), "float32"), w: R.Tensor((5, 3), "float32"), b: R.Tensor((5,), "float32")
        ):
            with R.dataflow():
                lv = R.permute_dims(w)
                lv1 = R.matmul(x, lv)
                lv2 = R.add(lv1, b)
                gv = R.nn.relu(lv2)
                R.output(gv)
            return gv

    rows = [
        *get_patterns_with_prefix("mine"),
        relax.transform.FusionPattern("other.add", is_op("relax.add")(wildcard(), wildcard())),
    ]
    fused = relax.transform.FuseOpsByPattern(rows)(M)
    names = [func.attrs["Composite"] for func in fused.functions.values() if "Composite" in func.attrs]
    assert names == ["mine.matmul"]
    x, w, b = (np.random.rand(*shape).astype("float32") for shape in ((2, 3), (5, 3), (5,)))
    machine = relax.VirtualMachine(relax.build(fused, "llvm"), tvm.cpu())
    np.testing.assert_allclose(machine["main"](x, w, b).numpy(), x @ w.T + b, rtol=1e-5)


def test_questions_about_types():
    m, n = tir.Var("m", "int64"), tir.Var("n", "int64")
    known, unknown = rx.TensorStructInfo([m, n], "float32"), rx.TensorStructInfo(dtype="float32", ndim=2)
    result = rx.analysis.BaseCheckResult
    assert rx.analysis.struct_info_base_check(unknown, known) == result.PASS
    assert rx.analysis.struct_info_base_check(known, unknown) == result.FAIL_L2
    assert rx.analysis.struct_info_base_check(known, rx.ShapeStructInfo([m])) == result.FAIL_L0
    assert rx.analysis.struct_info_lca(known, unknown) == unknown
    assert rx.analysis.erase_to_well_defined(known) == unknown
    assert rx.analysis.erase_to_well_defined(known, {m: n, n: m}) == rx.TensorStructInfo([n, m], "float32")
    product = rx.TensorStructInfo([m * n, m], "float32")
    assert [var.name for var in rx.analysis.tir_vars_in_struct_info(product)] == ["m", "n"]
    assert [var.name for var in rx.analysis.definable_tir_vars_in_struct_info(product)] == ["m"]


def test_questions_about_calls():
    @I.ir_module
    class M:
        @R.function(pure=False)
        def even(x: R.Tensor((), "bool")) -> R.Tensor((), "bool"):
            y = R.print(x, format="{}")
            return M.odd(x)

        @R.function(pure=False)
        def odd(x: R.Tensor((), "bool")) -> R.Tensor((), "bool"):
            return M.even(x)

        @R.function
        def alone(x: R.Tensor((), "bool")) -> R.Tensor((), "bool"):
            return R.logical_not(x)

    (group,) = rx.analysis.detect_recursion(M)
    assert sorted(var.name_hint for var in group) == ["even", "odd"]
    assert rx.analysis.contains_impure_call(M["even"]) and not rx.analysis.contains_impure_call(M["alone"])


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
print("ok")
