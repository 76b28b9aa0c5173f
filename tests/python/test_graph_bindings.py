"""Passes over bindings as programs before and after: common subexpressions, names, scopes, dimensions, symbols."""

import numpy as np
import pytest
from graph_testing import check, random, run

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


def refused(step, module):
    with pytest.raises(tilewright.UserError) as error:
        step(module)
    return str(error.value)


# ---- eliminate_common_subexpr


@I.ir_module
class Twice:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = R.add(x, y)
            b = R.add(x, y)
            c = R.multiply(a, b)
            d = R.exp(b)
            e = R.exp(a)
            f = R.add(d, e)
            gv = R.add(c, f)
            R.output(gv)
        return gv


@I.ir_module
class Once:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = R.add(x, y)
            c = R.multiply(a, a)
            d = R.exp(a)
            f = R.add(d, d)
            gv = R.add(c, f)
            R.output(gv)
        return gv


def test_equal_values_are_computed_once():
    check([transform.eliminate_common_subexpr()], Twice, Once, random(5, 7), random(5, 7))


@I.ir_module
class EqualConstants:
    @R.function
    def main(x: R.Tensor(("n", 127), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(1.0, "float32"))
            b = R.add(x, R.const(1.0, "float32"))
            c = R.add(x, R.const(2.0, "float32"))
            d = R.sum(b, axis=[1])
            e = R.sum(b, axis=[0])
            gv = (a, c, d, e)
            R.output(gv)
        return gv


@I.ir_module
class OneOfEqualConstants:
    @R.function
    def main(x: R.Tensor(("n", 127), "float32")):
        with R.dataflow():
            a = R.add(x, R.const(1.0, "float32"))
            c = R.add(x, R.const(2.0, "float32"))
            d = R.sum(a, axis=[1])
            e = R.sum(a, axis=[0])
            gv = (a, c, d, e)
            R.output(gv)
        return gv


def test_constants_and_attributes_count():
    result = transform.eliminate_common_subexpr()(EqualConstants)
    assert_structural_equal(result, OneOfEqualConstants)
    for a, b in zip(run(EqualConstants, random(5, 127)), run(result, random(5, 127)), strict=True):
        np.testing.assert_array_equal(a, b)


@I.ir_module
class TwoBlocks:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = R.exp(x)
            R.output(gv)
        with R.dataflow():
            b = R.exp(x)
            gv1 = R.add(b, gv)
            R.output(gv1)
        return gv1


@I.ir_module
class TwoBlocksShared:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            gv = a
            R.output(gv)
        with R.dataflow():
            b = R.exp(x)
            gv1 = R.add(b, gv)
            R.output(gv1)
        return gv1


def test_blocks_see_outputs_only():
    # the variable of the first block is not seen in the second, and its output is another name of it
    check([transform.eliminate_common_subexpr()], TwoBlocks, TwoBlocksShared, random(3))


@I.ir_module
class Branches:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        if c:
            b = R.exp(x)
            d = R.negative(x)
            r = R.add(b, d)
        else:
            e = R.negative(x)
            f = R.negative(x)
            r = R.multiply(e, f)
        g = R.negative(x)
        h = R.add(r, a)
        gv = R.add(g, h)
        return gv


@I.ir_module
class BranchesShared:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        if c:
            d = R.negative(x)
            r = R.add(a, d)
        else:
            e = R.negative(x)
            r = R.multiply(e, e)
        g = R.negative(x)
        h = R.add(r, a)
        gv = R.add(g, h)
        return gv


@pytest.mark.parametrize("condition", [True, False])
def test_branches_know_what_was_before_them(condition):
    step = transform.eliminate_common_subexpr()
    check([step], Branches, BranchesShared, np.array(condition), random(3))


@I.ir_module
class Effects:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tuple(R.Object, R.Object):
        a = R.call_packed("tilewright.tests.next", x)
        b = R.call_packed("tilewright.tests.next", x)
        return (a, b)


@I.ir_module
class Inplace:
    @T.prim_func(private=True)
    def increase(x: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("x"):
                vi = T.axis.spatial(3, i)
                x[vi] = x[vi] + T.float32(1)

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = Inplace
        with R.dataflow():
            a = R.exp(x)
            b = R.exp(x)
            c = R.call_tir_inplace(
                cls.increase, (a,), out_sinfo=[R.Tensor((3,), "float32")], inplace_indices=[0]
            )
            gv = R.add(b, c)
            R.output(gv)
        return gv


@pytest.mark.parametrize("module", [Effects, Inplace, Once])
def test_effects_and_inplace_calls_stay(module):
    assert transform.eliminate_common_subexpr()(module) is module


@I.ir_module
class Fields:
    @R.function
    def main(x: R.Tensor((4, 7), "float32")) -> R.Tensor((2, 7), "float32"):
        with R.dataflow():
            a = R.split(x, 2, axis=0)
            b = R.split(x, 2, axis=0)
            a0 = a[0]
            b0 = b[0]
            gv = R.add(a0, b0)
            R.output(gv)
        return gv


@I.ir_module
class FieldsOfOne:
    @R.function
    def main(x: R.Tensor((4, 7), "float32")) -> R.Tensor((2, 7), "float32"):
        with R.dataflow():
            a = R.split(x, 2, axis=0)
            a0 = a[0]
            gv = R.add(a0, a0)
            R.output(gv)
        return gv


@I.ir_module
class FieldsApart:
    @R.function
    def main(x: R.Tensor((4, 7), "float32")) -> R.Tensor((2, 7), "float32"):
        with R.dataflow():
            a = R.split(x, 2, axis=0)
            a0 = a[0]
            b0 = a[0]
            gv = R.add(a0, b0)
            R.output(gv)
        return gv


def test_fields_of_tuples():
    check([transform.eliminate_common_subexpr()], Fields, FieldsOfOne, random(4, 7))
    check([transform.eliminate_common_subexpr(call_only=True)], Fields, FieldsApart, random(4, 7))


def test_loop_programs_are_called_once():
    legal = transform.legalize_ops()(Twice)
    result = transform.eliminate_common_subexpr()(legal)
    assert_structural_equal(result["main"].script(), transform.legalize_ops()(Once)["main"].script())
    x, y = random(5, 7), random(5, 7) + 1
    np.testing.assert_array_equal(run(legal, x, y), run(result, x, y))


# ---- canonicalize_bindings


@I.ir_module
class OtherNames:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = x
            b = R.exp(a)
            t = (a, b)
            c = t[1]
            d = R.match_cast(c, R.Tensor((5, 7), "float32"))
            e = R.add(d, a)
            gv = e
            R.output(gv, b)
        return gv


@I.ir_module
class OneNameEach:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            b = R.exp(x)
            t = (x, b)
            gv = R.add(b, x)
            R.output(gv)
        return gv


def test_every_value_has_one_name():
    check([transform.canonicalize_bindings()], OtherNames, OneNameEach, random(5, 7))


@I.ir_module
class KnownCasts:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        y: R.Tensor(ndim=2, dtype="float32"),
        z: R.Tensor(("k", 7), "float32"),
    ) -> R.Tuple(
        R.Tensor(ndim=1, dtype="float32"), R.Tensor(ndim=1, dtype="float32"), R.Tensor(("n", 7), "float32")
    ):
        n = T.int64()
        m = T.int64()
        p = T.int64()
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((m, 7), "float32"))
            b = R.match_cast(y, R.Tensor((p, 7), "float32"))
            c = R.match_cast(z, R.Tensor((n, 7), "float32"))
            d = R.reshape(a, R.shape([m * 7]))
            e = R.reshape(b, R.shape([p * 7]))
            gv = (d, e, c)
            R.output(gv)
        return gv


@I.ir_module
class NeededCasts:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        y: R.Tensor(ndim=2, dtype="float32"),
        z: R.Tensor(("k", 7), "float32"),
    ) -> R.Tuple(
        R.Tensor(ndim=1, dtype="float32"), R.Tensor(ndim=1, dtype="float32"), R.Tensor(("n", 7), "float32")
    ):
        n = T.int64()
        p = T.int64()
        with R.dataflow():
            b = R.match_cast(y, R.Tensor((p, 7), "float32"))
            c = R.match_cast(z, R.Tensor((n, 7), "float32"))
            d = R.reshape(x, R.shape([n * 7]))
            e = R.reshape(b, R.shape([p * 7]))
            gv = (d, e, c)
            R.output(gv)
        return gv


def test_casts_stay_where_they_check_something():
    result = transform.canonicalize_bindings()(KnownCasts)
    assert_structural_equal(result, NeededCasts)
    assert transform.canonicalize_bindings()(result) is result
    inputs = random(5, 7), random(127, 7), random(5, 7)
    for a, b in zip(run(KnownCasts, *inputs), run(result, *inputs), strict=True):
        np.testing.assert_array_equal(a, b)


def test_canonical_programs_stay():
    assert transform.canonicalize_bindings()(Once) is Once


# ---- to_non_dataflow and back


@I.ir_module
class Plain:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        a = R.add(x, y)
        c = R.multiply(a, a)
        d = R.exp(a)
        f = R.add(d, d)
        gv = R.add(c, f)
        return gv


@I.ir_module
class PlainTwoBlocks:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        a = R.exp(x)
        gv = R.exp(x)
        b = R.exp(x)
        gv1 = R.add(b, gv)
        return gv1


@pytest.mark.parametrize(("before", "after"), [(Once, Plain), (TwoBlocks, PlainTwoBlocks)])
def test_to_non_dataflow(before, after):
    inputs = [random(*(int(v.value) for v in param.type.shape.values)) for param in before["main"].params]
    check([transform.to_non_dataflow()], before, after, *inputs)


def test_to_non_dataflow_keeps_symbolic_casts():
    plain = transform.to_non_dataflow()(NeededCasts)
    assert "R.dataflow" not in plain["main"].script()
    inputs = random(5, 7), random(127, 7), random(5, 7)
    for a, b in zip(run(NeededCasts, *inputs), run(plain, *inputs), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- normalize


def nested():
    x = relax.Var("x", relax.TensorType((5, 7), "float32"))
    value = relax.op.add(relax.op.exp(x), relax.op.negative(x))
    return tilewright.IRModule(
        {"main": relax.Function(params=[x], body=value, ret_type=x.type, attrs={"global_symbol": "main"})}
    )


@I.ir_module
class Normal:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        gv = R.exp(x)
        gv1 = R.negative(x)
        gv2 = R.add(gv, gv1)
        return gv2


def test_normalize_binds_nested_calls():
    result = transform.normalize()(nested())
    assert_structural_equal(result, Normal)
    assert transform.normalize()(result) is result
    x = random(5, 7)
    np.testing.assert_allclose(run(result, x), np.exp(x) - x, rtol=1e-6)


# ---- bind_symbolic_vars


@I.ir_module
class Symbolic:
    @R.function
    def main(x: R.Tensor(("n", 7), "float32"), y: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.reshape(x, R.shape([n * 7]))
            b = R.matmul(R.permute_dims(x), y)
            gv = (a, b)
            R.output(gv)
        return gv


@I.ir_module
class Bound:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), y: R.Tensor((5, "m"), "float32")):
        with R.dataflow():
            a = R.reshape(x, R.shape([35]))
            b = R.matmul(R.permute_dims(x), y)
            gv = (a, b)
            R.output(gv)
        return gv


def test_dimensions_become_numbers():
    step = transform.bind_symbolic_vars(binding_map={"n": 5})
    result = step(Symbolic)
    assert_structural_equal(result, Bound)
    both = transform.bind_symbolic_vars(binding_map={"n": 5, "m": 127}, func_name="main")(Symbolic)
    assert "n" not in {dim.name_hint for dim in relax.analysis.free_symbolic_vars(both["main"])}
    assert 'R.Tensor((7, 127), dtype="float32") = R.matmul' in both["main"].script()
    inputs = random(5, 7), random(5, 127)
    for module in (result, both):
        for a, b in zip(run(Symbolic, *inputs), run(module, *inputs), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)  # another order of sums
    assert transform.bind_symbolic_vars()(Symbolic) is Symbolic


def test_bind_symbolic_vars_names_what_is_wrong():
    assert refused(transform.bind_symbolic_vars(binding_map={"nn": 5}), Symbolic) == (
        'error: bind_symbolic_vars: no parameter has a dimension called "nn"\nhelp: did you mean n or m?'
    )
    assert refused(transform.bind_symbolic_vars(binding_map={"n": -1}), Symbolic) == (
        'error: bind_symbolic_vars: dimension "n" cannot be -1'
    )
    assert refused(transform.bind_symbolic_vars(binding_map={"n": 1.5}), Symbolic) == (
        'error: bind_symbolic_vars: the extent of dimension "n" is not an integer'
    )
    legal = transform.legalize_ops()(Symbolic)
    name = next(var.name_hint for var in legal.functions if var.name_hint != "main")
    step = transform.bind_symbolic_vars(binding_map={"n": 5}, func_name=name)
    assert refused(step, legal) == f'error: bind_symbolic_vars: "{name}" is not a graph function'


# ---- attach_global_symbol


@I.ir_module
class Private:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((3,), "float32"), b: T.Buffer((3,), "float32")):
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                b[vi] = a[vi]

    @R.function(private=True)
    def helper(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Private
        gv = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((3,), "float32"))
        return gv

    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        cls = Private
        gv = cls.helper(x)
        return gv


def test_every_function_has_a_symbol():
    result = transform.attach_global_symbol()(Private)
    assert {var.name_hint: func.attrs["global_symbol"] for var, func in result.functions.items()} == {
        "copy": "copy",
        "helper": "helper",
        "main": "main",
    }
    assert transform.attach_global_symbol()(result) is result
    np.testing.assert_array_equal(run(result, random(3)), run(Private, random(3)))
