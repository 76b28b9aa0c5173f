"""Calls in scripts that are more than an operator with its arguments: devices, registered functions, closures, ranges."""

import numpy as np

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.script import ir as I
from tilewright.script import parse
from tilewright.script import relax as R
from tilewright.script import tir as T


def test_identities_go():
    @R.function(private=True)
    def hinted(x: R.Tensor((5,), "float32")):
        with R.dataflow():
            lv = R.hint_on_device(x, "cpu:0")
            lv1 = R.builtin.stop_lift_params(lv)
            gv = R.exp(lv1)
            R.output(gv)
        return gv

    @R.function(private=True)
    def plain(x: R.Tensor((5,), "float32")):
        with R.dataflow():
            gv = R.exp(x)
            R.output(gv)
        return gv

    module = relax.transform.remove_identities()(tilewright.IRModule({"main": hinted}))
    module = relax.transform.dead_code_elimination(entry_functions=["main"])(module)
    assert_structural_equal(module["main"], plain)


def test_stop_lift_params_keeps_work_in_the_function():
    @I.ir_module
    class Before:
        @R.function
        def main(x: R.Tensor((2, 3), "float32"), w: R.Tensor((5, 3), "float32")):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                lv = R.permute_dims(w)
                lv1 = R.builtin.stop_lift_params(lv)
                lv2 = R.exp(lv1)
                gv = R.matmul(x, lv2)
                R.output(gv)
            return gv

    lifted = relax.transform.lift_transform_params()(Before)
    assert "R.exp" in lifted["main"].script() and "R.permute_dims" not in lifted["main"].script()


def test_extents_call_functions_of_loop_programs():
    @R.function
    def main(x: R.Tensor(("m",), "float32"), y: R.Tensor(("T.max(m, 20) + 1",), "float32")):
        m = T.int64()
        z = R.call_dps_packed("pad", (x,), R.Tensor((T.max(m, 20) + 1,), "float32"))
        return z

    assert_structural_equal(main.params[1].type, main.ret_type)


def test_a_registered_function_may_have_a_name_and_a_type():
    @R.function
    def named(x: R.Tensor((5,), "float32")):
        f = R.ExternFunc("f")
        y = R.call_dps_packed(f, (x,), R.Tensor((5,), "float32"))
        return y

    @R.function
    def typed(x: R.Tensor((5,), "float32")):
        f = R.ExternFunc("f", R.Callable((R.Tensor((5,), "float32"),), R.Tensor((5,), "float32")))
        y = f(x)
        return y

    assert '"f", (x,), out_sinfo' in named.script()
    assert typed.ret_type.shape.values[0].value == 5
    assert_structural_equal(parse(typed.script()), typed)


def test_a_dtype_that_follows_from_the_arguments_prints_as_void():
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((3, 2), "float32")):
        z = R.matmul(x, y)
        return z

    assert 'R.matmul(x, y, out_dtype="void")' in main.script()
    before = main.script().replace('out_dtype="void"', 'out_dtype=""')  # as it was printed once
    assert_structural_equal(parse(before), main)


SWAPPED = lambda i, j: (j, i)  # noqa: E731 - as programs for TVM name layouts


def test_a_layout_is_a_lambda_of_the_text_or_of_python():
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.layout_transform(x, index_map=SWAPPED)
        z = R.layout_transform(y, index_map=lambda i, j: (i // 2, j, i % 2), pad_value=1.0)
        return z

    assert [int(extent) for extent in main.ret_type.shape.values] == [2, 2, 2]
    assert_structural_equal(parse(main.script()), main)


def test_types_of_values_are_values_of_the_script():
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        y = R.call_pure_packed("f", x, sinfo_args=[x.struct_info])
        z = R.call_pure_packed("g", x, sinfo_args=R.Tensor(x.struct_info.shape, x.struct_info.dtype))
        return (y, z)

    y, z = main.ret_type.elements
    assert_structural_equal(y, main.params[0].type)
    assert_structural_equal(z, main.params[0].type)


def test_a_closure_without_arguments_is_the_function():
    @I.ir_module
    class M:
        @R.function
        def f(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(x, x)

        @R.function
        def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            c = R.make_closure(M.f, ())
            return R.invoke_closure(c, (x,), sinfo_args=(R.Tensor((2,), "float32"),))

    assert_structural_equal(parse(M.script()), M)
    ones = np.ones(2, "float32")
    assert (tilewright.VirtualMachine(tilewright.compile(M))["main"](ones).numpy() == 2).all()


def test_masked_fill_is_a_choice():
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), m: R.Tensor((2, 3), "bool")):
        y = R.masked_fill(x, m, 0.5)
        return y

    bb = relax.BlockBuilder()
    with bb.function("main", list(main.params)):
        bb.emit_func_output(bb.emit(relax.op.masked_fill(main.params[0], main.params[1], 0.5)))
    x, m = np.random.rand(2, 3).astype("float32"), np.array([[True, False, True], [False, True, False]])
    for module in (tilewright.IRModule({"main": main}), bb.get()):
        machine = tilewright.VirtualMachine(tilewright.compile(module))
        np.testing.assert_array_equal(machine["main"](x, m).numpy(), np.where(m, np.float32(0.5), x))


def test_ranges_in_all_forms():
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.arange(5)
        b = R.arange(1, n)
        c = R.arange(0, 5, 2, dtype="int32")
        d = R.arange(2.5)
        return (a, b, c, d)

    bb = relax.BlockBuilder()
    n = main.params[0].type.shape.values[0]
    with bb.function("main", list(main.params)):
        calls = [
            relax.op.arange(5),
            relax.op.arange(1, n),
            relax.op.arange(0, 5, 2, "int32"),
            relax.op.arange(2.5),
        ]
        bb.emit_func_output([bb.emit(call) for call in calls])
    expected = [np.arange(5), np.arange(1, 3), np.arange(0, 5, 2, "int32"), np.arange(2.5, dtype="float32")]
    for module in (tilewright.IRModule({"main": main}), bb.get()):
        results = tilewright.VirtualMachine(tilewright.compile(module))["main"](np.ones(3, "float32"))
        for result, numbers in zip(results, expected, strict=True):
            np.testing.assert_array_equal(result.numpy(), numbers)
            assert result.numpy().dtype == numbers.dtype


def test_one_value_everywhere():
    x = relax.Var("x", relax.TensorType((2, 3), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        calls = [
            relax.op.full((2, 3), 1.5, "float16"),
            relax.op.full([5], relax.const(2)),
            relax.op.full_like(x, 3),
            relax.op.full_like(x, relax.const(4.0), "int32"),
        ]
        bb.emit_func_output([bb.emit(call) for call in calls])
    results = tilewright.VirtualMachine(tilewright.compile(bb.get()))["main"](np.ones((2, 3), "float32"))
    expected = [np.full((2, 3), 1.5, "float16"), np.full(5, 2, "int32"), np.full((2, 3), 3, "float32")]
    for result, numbers in zip(results, [*expected, np.full((2, 3), 4, "int32")], strict=True):
        np.testing.assert_array_equal(result.numpy(), numbers)
        assert result.numpy().dtype == numbers.dtype
