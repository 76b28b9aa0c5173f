"""Graph passes as programs before and after; what they leave alone; the numbers stay the same."""

import re

import numpy as np
import pytest

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


def run(module, *inputs, opt_level=0):
    with tilewright.transform.PassContext(opt_level=opt_level):
        main = tilewright.VirtualMachine(tilewright.compile(module))["main"]
    result = main(*(tilewright.tensor(x) for x in inputs))
    return [item.numpy() for item in result] if isinstance(result, (list, tuple)) else result.numpy()


def check(passes, before, after, *inputs):
    """The passes turn `before` into `after`, do nothing more to it, and both compute the same."""
    result = before
    for step in passes:
        result = step(result)
    assert_structural_equal(result, after)
    for step in passes:
        assert step(result) is result
    np.testing.assert_array_equal(run(before, *inputs), run(result, *inputs))


def random(*shape):
    return np.random.default_rng(7).standard_normal(shape, dtype="float32")


# ---- to_dataflow


@I.ir_module
class PlainBindings:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.exp(x)
        b = R.negative(a)
        R.call_packed("tilewright.tests.see", b, sinfo_args=R.Tuple())
        c = R.add(b, x)
        with R.dataflow():
            lv = R.exp(c)
            gv = R.negative(lv)
            R.output(gv)
        return gv


@I.ir_module
class InDataflow:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.negative(a)
            R.output(a, b)
        R.call_packed("tilewright.tests.see", b, sinfo_args=R.Tuple())
        with R.dataflow():
            c = R.add(b, x)
            lv = R.exp(c)
            gv = R.negative(lv)
            R.output(c, gv)
        return gv


def test_to_dataflow_stops_at_effects():
    result = transform.to_dataflow()(PlainBindings)
    assert_structural_equal(result, InDataflow)
    assert transform.to_dataflow()(result) is result
    assert kernels(fused(result)) == ["fused_exp_negative", "fused_add_exp_negative"]
    seen = []
    tilewright.register_func("tilewright.tests.see", lambda value: seen.append(value.numpy()), override=True)
    x = random(3)
    got = run(PlainBindings, x, opt_level=2)
    np.testing.assert_allclose(got, -np.exp(x - np.exp(x)), rtol=1e-5)
    np.testing.assert_allclose(seen, [-np.exp(x)], rtol=1e-5)


# ---- fold_constant


@I.ir_module
class TransposedWeight:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 2), "float32"):
        with R.dataflow():
            w = R.permute_dims(R.const([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32"), axes=[1, 0])
            gv = R.matmul(x, w)
            R.output(gv)
        return gv


@I.ir_module
class TransposedWeightFolded:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 2), "float32"):
        with R.dataflow():
            gv = R.matmul(x, R.const([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], "float32"))
            R.output(gv)
        return gv


def test_fold_constant_moves_weights_now():
    check([transform.fold_constant()], TransposedWeight, TransposedWeightFolded, random(2, 3))


def test_fold_constant_works_on_loop_programs():
    legal = transform.legalize_ops()(TransposedWeight)
    expected = transform.legalize_ops()(TransposedWeightFolded)
    folded = transform.dead_code_elimination()(transform.fold_constant()(legal))
    assert_structural_equal(folded["main"].script(), expected["main"].script())


@I.ir_module
class Chain:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            a = R.add(R.const([1.0, 2.0, 3.0], "float32"), R.const([0.5], "float32"))
            parts = R.split(R.const([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "float32"), 2, axis=0)
            b = R.multiply(a, parts[1])
            gv = R.add(x, b)
            R.output(gv)
        return gv


@I.ir_module
class ChainFolded:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            gv = R.add(x, R.const([6.0, 12.5, 21.0], "float32"))
            R.output(gv)
        return gv


def test_fold_constant_follows_chains_and_tuples():
    check([transform.fold_constant()], Chain, ChainFolded, random(3))


@I.ir_module
class ShapeAsValue:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor(ndim=2, dtype="float32"):
        with R.dataflow():
            s = R.tensor_to_shape(R.const([3, 2], "int64"))
            gv = R.reshape(x, s)
            R.output(gv)
        return gv


def test_fold_constant_makes_types_better():
    folded = transform.fold_constant()(ShapeAsValue)
    assert 'R.Tensor((3, 2), dtype="float32") = R.reshape(x, R.shape([3, 2]))' in folded["main"].script()


def test_fold_constant_leaves_what_depends_on_arguments():
    assert transform.fold_constant()(TransposedWeightFolded) is TransposedWeightFolded


@I.ir_module
class LargeResults:
    @R.function
    def main(x: R.Tensor((100, 127), "float32")) -> R.Tensor((100, 127), "float32"):
        with R.dataflow():
            zeros = R.zeros(R.shape([100, 127]), "float32")
            ones = R.broadcast_to(R.const([1.0], "float32"), R.shape([100, 127]))
            lv = R.add(x, zeros)
            gv = R.multiply(lv, ones)
            R.output(gv)
        return gv


def test_fold_constant_stores_nothing_much_larger_than_its_arguments():
    assert transform.fold_constant()(LargeResults) is LargeResults
    folded = transform.fold_constant(small_bytes=1 << 20)(LargeResults)
    assert "R.zeros" not in folded["main"].script()
    assert "R.broadcast_to" not in folded["main"].script()


@I.ir_module
class Product:
    @R.function
    def main() -> R.Tensor((1, 1), "float32"):
        with R.dataflow():
            gv = R.matmul(R.const([[1.0, 2.0]], "float32"), R.const([[3.0], [4.0]], "float32"))
            R.output(gv)
        return gv


def test_fold_constant_respects_max_steps():
    assert transform.fold_constant(max_steps=1)(Product) is Product
    assert run(transform.fold_constant()(Product)) == 11


@I.ir_module
class DividesByZero:
    @R.function
    def main() -> R.Tensor((1,), "int32"):
        with R.dataflow():
            gv = R.floor_divide(R.const([1], "int32"), R.const([0], "int32"))
            R.output(gv)
        return gv


def test_fold_constant_leaves_what_fails():
    assert transform.fold_constant()(DividesByZero) is DividesByZero


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R.add(a, b)", lambda a, b: a + b),
        ("R.subtract(a, b)", lambda a, b: a - b),
        ("R.multiply(b, a)", lambda a, b: a * b),
        ("R.divide(a, b)", lambda a, b: a / b),
        ("R.sqrt(a)", lambda a, b: np.sqrt(a)),
        ("R.flip(a, axis=1)", lambda a, b: a[:, ::-1]),
        (
            "R.strided_slice(a, axes=[0, 1], begin=[1, 4], end=[5, 0], strides=[2, -3])",
            lambda a, b: a[1:5:2, 4:0:-3],
        ),
        ("R.permute_dims(a)", lambda a, b: a.T),
        ("R.concat((a, a), axis=0)", lambda a, b: np.concatenate([a, a])),
        ("R.sum(a, axis=[0])", lambda a, b: a.sum(0)),
        ('R.astype(a, dtype="int32")', lambda a, b: a.astype("int32")),
        ("R.reshape(a, R.shape([7, 5]))", lambda a, b: a.reshape(7, 5)),
    ],
)
def test_folded_numbers_are_those_of_numpy(text, expected, dtype):
    a = (np.arange(35).reshape(5, 7) / 8 + 0.25).astype(dtype)
    b = np.array([1, 3, 5, 7, 9, 11, 13], dtype)
    want = expected(a, b)
    module = tilewright.script.parse(f'''
from tilewright.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor((5, 7), "{dtype}"), b: R.Tensor((7,), "{dtype}")):
        with R.dataflow():
            gv = {text}
            R.output(gv)
        return gv
''')
    bound = transform.BindParams("main", {"a": tilewright.tensor(a), "b": tilewright.tensor(b)})(module)
    folded = transform.fold_constant()(bound)
    assert "R.const" in folded["main"].script() or "metadata" in folded["main"].script()
    assert f"= {text[: text.index('(')]}(" not in folded["main"].script()
    np.testing.assert_allclose(run(folded), want, rtol=1e-6)


# ---- remove_identities


@I.ir_module
class Identities:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        n = T.int64()
        with R.dataflow():
            lv = R.nn.dropout(x, rate=0.5)
            lv1 = lv[0]
            lv2 = R.reshape(lv1, R.shape([n, 3]))
            lv3 = R.astype(lv2, dtype="float32")
            lv4 = R.multiply(lv3, R.const(1.0, "float32"))
            lv5 = R.divide(lv4, R.const([1.0, 1.0, 1.0], "float32"))
            lv6 = R.add(lv5, R.const([-0.0], "float32"))
            lv7 = R.subtract(lv6, R.const(0.0, "float32"))
            lv8 = R.permute_dims(lv7, axes=[1, 0])
            lv9 = R.permute_dims(lv8, axes=[1, 0])
            gv = R.exp(lv9)
            R.output(gv)
        return gv


@I.ir_module
class IdentitiesRemoved:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        with R.dataflow():
            gv = R.exp(x)
            R.output(gv)
        return gv


def test_remove_identities():
    check(
        [transform.remove_identities(), transform.dead_code_elimination()],
        Identities,
        IdentitiesRemoved,
        random(5, 3),
    )


@I.ir_module
class Moves:
    @R.function
    def main(x: R.Tensor((2, 3, 5), "float32")) -> R.Tensor((15, 2), "float32"):
        with R.dataflow():
            lv = R.permute_dims(x, axes=[1, 2, 0])
            lv1 = R.permute_dims(lv, axes=[1, 0, 2])
            lv2 = R.reshape(lv1, R.shape([30]))
            gv = R.reshape(lv2, R.shape([15, 2]))
            R.output(gv)
        return gv


@I.ir_module
class MovesJoined:
    @R.function
    def main(x: R.Tensor((2, 3, 5), "float32")) -> R.Tensor((15, 2), "float32"):
        with R.dataflow():
            lv1 = R.permute_dims(x, axes=[2, 1, 0])
            gv = R.reshape(lv1, R.shape([15, 2]))
            R.output(gv)
        return gv


def test_remove_identities_joins_moves():
    steps = [transform.remove_identities(), transform.dead_code_elimination()]
    check(steps, Moves, MovesJoined, random(2, 3, 5))


@I.ir_module
class MovesOnlyOnes:
    @R.function
    def main(x: R.Tensor((1, 5, 1, 3), "float32")) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            lv1 = R.permute_dims(lv, axes=[1, 0, 3, 2])
            gv = R.squeeze(lv1)
            R.output(gv)
        return gv


@I.ir_module
class MovesOnlyOnesReshaped:
    @R.function
    def main(x: R.Tensor((1, 5, 1, 3), "float32")) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            gv = R.reshape(lv, R.shape([5, 3]))
            R.output(gv)
        return gv


def test_remove_identities_sees_permutations_that_move_no_element():
    steps = [transform.remove_identities(), transform.dead_code_elimination()]
    check(steps, MovesOnlyOnes, MovesOnlyOnesReshaped, random(1, 5, 1, 3))


@I.ir_module
class NoIdentities:
    @R.function
    def main(x: R.Tensor((3,), "float32"), i: R.Tensor((3,), "int32")) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            lv = R.add(x, R.const(0.0, "float32"))  # -0.0 becomes 0.0
            lv1 = R.multiply(lv, R.const([1.0, 1.0, 2.0], "float32"))
            lv2 = R.add(lv1, R.const([[-0.0], [-0.0]], "float32"))  # broadcasts
            lv3 = R.astype(i, dtype="float32")
            gv = R.add(lv2, lv3)
            R.output(gv)
        return gv


def test_remove_identities_leaves_what_changes_bits_or_shapes():
    assert transform.remove_identities()(NoIdentities) is NoIdentities


@I.ir_module
class IdentityIsResult:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            gv = R.multiply(lv, R.const(1.0, "float32"))
            R.output(gv)
        return gv


@I.ir_module
class IdentityIsResultAfter:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            gv = lv
            R.output(gv)
        return gv


def test_remove_identities_keeps_results_visible():
    check([transform.remove_identities()], IdentityIsResult, IdentityIsResultAfter, random(3))


# ---- fold_batch_norm


@I.ir_module
class ConvNorm:
    @R.function
    def main(
        x: R.Tensor((1, 3, 7, 5), "float32"),
        w: R.Tensor((4, 3, 3, 3), "float32"),
        bias: R.Tensor((1, 4, 1, 1), "float32"),
        gamma: R.Tensor((4,), "float32"),
        beta: R.Tensor((4,), "float32"),
        mean: R.Tensor((4,), "float32"),
        var: R.Tensor((4,), "float32"),
        scale: R.Tensor((4, 1, 1), "float32"),
    ) -> R.Tensor((1, 4, 7, 5), "float32"):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, padding=1)
            lv1 = R.add(lv, bias)
            lv2 = R.nn.batch_norm(lv1, gamma, beta, mean, var, axis=1)
            lv3 = lv2[0]
            lv4 = R.multiply(lv3, scale)
            lv5 = R.add(lv4, bias)
            gv = R.nn.relu(lv5)
            R.output(gv)
        return gv


def constants_of(module, *except_names):
    """Random constants for the parameters of main, those in `except_names` excepted."""
    values = {}
    for n, param in enumerate(module["main"].params):
        if param.name_hint in except_names:
            continue
        shape = [int(extent.value) for extent in param.type.shape.values]
        values[param.name_hint] = (np.random.default_rng(n).random(shape) + 0.5).astype("float32")
    return {name: tilewright.tensor(value) for name, value in values.items()}


def bound(module, *except_names):
    return transform.BindParams("main", constants_of(module, *except_names))(module)


def operators(module):
    """The operators of main, in order."""
    lines = [line.split(" = ")[1] for line in module["main"].script().splitlines() if " = R." in line]
    return [line[: line.index("(")] for line in lines]


def folded_norms(module):
    for name in ["fold_constant", "fold_batch_norm", "fold_constant", "dead_code_elimination"]:
        module = getattr(transform, name)()(module)
    return module


def test_fold_batch_norm_into_a_convolution():
    module = bound(ConvNorm, "x")
    folded = folded_norms(module)
    assert operators(folded) == ["R.nn.conv2d", "R.add", "R.nn.relu"]
    x = random(1, 3, 7, 5)
    np.testing.assert_allclose(run(folded, x), run(module, x), rtol=1e-5, atol=1e-5)


def test_fold_batch_norm_leaves_statistics_that_are_arguments():
    module = bound(ConvNorm, "x", "mean", "bias", "scale")
    assert transform.fold_batch_norm()(module) is module


@I.ir_module
class ConvUsedTwice:
    @R.function
    def main(
        x: R.Tensor((1, 2, 5, 5), "float32"),
        w: R.Tensor((2, 1, 3, 3), "float32"),
        scale: R.Tensor((2, 1, 1), "float32"),
    ) -> R.Tensor((1, 2, 3, 3), "float32"):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, groups=2)
            lv1 = R.multiply(lv, scale)
            gv = R.add(lv1, lv)
            R.output(gv)
        return gv


def test_fold_batch_norm_leaves_a_convolution_that_is_used_twice():
    module = bound(ConvUsedTwice, "x")
    assert transform.fold_batch_norm()(module) is module


@I.ir_module
class NormAlone:
    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"),
        gamma: R.Tensor((3,), "float32"),
        beta: R.Tensor((3,), "float32"),
        mean: R.Tensor((3,), "float32"),
        var: R.Tensor((3,), "float32"),
    ) -> R.Tensor((2, 3), "float32"):
        with R.dataflow():
            lv = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1, epsilon=0.01)
            gv = lv[0]
            R.output(gv)
        return gv


def test_fold_batch_norm_without_weights_is_a_scale_and_a_shift():
    module = bound(NormAlone, "x")
    folded = folded_norms(module)
    assert operators(folded) == ["R.multiply", "R.add"]
    x = random(2, 3)
    np.testing.assert_allclose(run(folded, x), run(module, x), rtol=1e-5, atol=1e-6)


@I.ir_module
class DepthwiseNhwc:
    @R.function
    def main(
        x: R.Tensor((1, 5, 7, 3), "float32"),
        w: R.Tensor((3, 3, 1, 3), "float32"),
        scale: R.Tensor((3,), "float32"),
        shift: R.Tensor((1, 1, 1, 3), "float32"),
    ) -> R.Tensor((1, 5, 7, 3), "float32"):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, groups=3, padding=1, data_layout="NHWC", kernel_layout="HWIO")
            lv1 = R.multiply(scale, lv)
            gv = R.add(shift, lv1)
            R.output(gv)
        return gv


def test_fold_batch_norm_knows_layouts():
    module = bound(DepthwiseNhwc, "x")
    folded = folded_norms(module)
    assert operators(folded) == ["R.nn.conv2d", "R.add"]
    x = random(1, 5, 7, 3)
    np.testing.assert_allclose(run(folded, x), run(module, x), rtol=1e-5, atol=1e-6)


@I.ir_module
class ScaledMatmul:
    @R.function
    def main(
        x: R.Tensor((2, 5, 7), "float32"),
        w: R.Tensor((7, 3), "float32"),
        bias: R.Tensor((3,), "float32"),
        rows: R.Tensor((5, 1), "float32"),
    ) -> R.Tensor((2, 5, 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.add(lv, bias)
            lv2 = R.multiply(lv1, R.const(0.5, "float32"))
            gv = R.multiply(lv2, rows)
            R.output(gv)
        return gv


def test_fold_batch_norm_scales_columns_of_matmuls_but_not_rows():
    module = bound(ScaledMatmul, "x")
    folded = folded_norms(module)
    assert operators(folded) == ["R.matmul", "R.add", "R.multiply"]
    x = random(2, 5, 7)
    np.testing.assert_allclose(run(folded, x), run(module, x), rtol=1e-5, atol=1e-6)


# ---- dead_code_elimination


@I.ir_module
class DeadInBranches:
    @R.function
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.abs(x)
            R.output(a, b)
        if c:
            with R.dataflow():
                lv = R.negative(a)
                gv = R.abs(x)
                R.output(gv)
            r = gv
        else:
            r = b
        return r

    @T.prim_func(private=True)
    def unused(A: T.Buffer((3,), "float32")):
        A[0] = T.float32(0)


@I.ir_module
class DeadInBranchesGone:
    @R.function
    def main(x: R.Tensor((3,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            b = R.abs(x)
            R.output(b)
        if c:
            with R.dataflow():
                gv = R.abs(x)
                R.output(gv)
            r = gv
        else:
            r = b
        return r


def test_dead_code_elimination_reaches_into_branches():
    check([transform.dead_code_elimination()], DeadInBranches, DeadInBranchesGone, random(3), np.array(True))


# ---- fuse_ops and fuse_tir


@I.ir_module
class Dense:
    @R.function
    def main(
        x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 3), "float32"), b: R.Tensor((3,), "float32")
    ) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.add(lv, b)
            gv = R.nn.relu(lv1)
            R.output(gv)
        return gv


@I.ir_module
class DenseFused:
    @R.function
    def main(
        x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 3), "float32"), b: R.Tensor((3,), "float32")
    ) -> R.Tensor((5, 3), "float32"):
        cls = DenseFused
        with R.dataflow():
            gv = R.call_tir(cls.fused_matmul_add_relu, (x, w, b), out_sinfo=R.Tensor((5, 3), "float32"))
            R.output(gv)
        return gv

    @T.prim_func(private=True)
    def fused_matmul_add_relu(
        x: T.Buffer((T.int64(5), T.int64(7)), "float32"),
        w: T.Buffer((T.int64(7), T.int64(3)), "float32"),
        b: T.Buffer((T.int64(3),), "float32"),
        y: T.Buffer((T.int64(5), T.int64(3)), "float32"),
    ):
        T.func_attr({"tir.noalias": True})
        product = T.alloc_buffer((T.int64(5), T.int64(3)))
        total = T.alloc_buffer((T.int64(5), T.int64(3)))
        for i, j, k in T.grid(T.int64(5), T.int64(3), T.int64(7)):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(x[vi, vk], w[vk, vj])
                T.writes(product[vi, vj])
                with T.init():
                    product[vi, vj] = T.float32(0)
                product[vi, vj] = product[vi, vj] + x[vi, vk] * w[vk, vj]
        for i, j in T.grid(T.int64(5), T.int64(3)):
            with T.block("T_add"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(product[vi, vj], b[vj])
                T.writes(total[vi, vj])
                total[vi, vj] = product[vi, vj] + b[vj]
        for i, j in T.grid(T.int64(5), T.int64(3)):
            with T.block("T_relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(total[vi, vj])
                T.writes(y[vi, vj])
                y[vi, vj] = T.max(total[vi, vj], T.float32(0))


FUSION = ["legalize_ops", "dead_code_elimination", "fuse_ops", "fuse_tir", "dead_code_elimination"]


def fused(module, **options):
    for name in FUSION:
        module = getattr(transform, name)(**(options if name == "fuse_ops" else {}))(module)
    return module


def kernels(module):
    """The loop programs that main calls, in order."""
    return re.findall(r"cls\.(\w+),", module.script())


def check_fused(module, names, *inputs):
    result = fused(module)
    assert kernels(result) == names
    assert fused(result) is result
    for a, b in zip(flat(run(result, *inputs)), flat(run(module, *inputs)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)  # products and sums of one program may be contracted


def flat(result):
    return result if isinstance(result, list) else [result]


def test_fusion_makes_one_program_with_a_block_per_operator():
    assert_structural_equal(fused(Dense), DenseFused)
    check_fused(Dense, ["fused_matmul_add_relu"], random(5, 7), random(7, 3), random(3))


def test_fusion_leaves_single_calls_alone():
    legal = transform.legalize_ops()(TransposedWeightFolded)
    assert transform.fuse_ops()(legal) is legal
    assert transform.fuse_tir()(legal) is legal


def test_fusion_respects_max_size():
    assert kernels(fused(Dense, max_size=1)) == ["matmul", "add", "relu"]
    assert kernels(fused(Dense, max_size=2)) == ["fused_matmul_add", "relu"]


@I.ir_module
class Swish:
    @R.function
    def main(
        x: R.Tensor((1, 2, 5, 5), "float32"),
        w: R.Tensor((3, 2, 3, 3), "float32"),
        r: R.Tensor((1, 3, 5, 5), "float32"),
    ) -> R.Tensor((1, 3, 5, 5), "float32"):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, padding=1)
            lv1 = R.sigmoid(lv)
            lv2 = R.multiply(lv, lv1)
            lv3 = R.exp(r)
            gv = R.add(lv2, lv3)
            R.output(gv)
        return gv


def test_fusion_through_branches_that_join_and_work_beside():
    check_fused(
        Swish,
        ["fused_conv2d_sigmoid_multiply_exp_add"],
        random(1, 2, 5, 5),
        random(3, 2, 3, 3),
        random(1, 3, 5, 5),
    )


@I.ir_module
class TwoUsers:
    @R.function
    def main(x: R.Tensor((5, 5), "float32"), w: R.Tensor((5, 5), "float32")) -> R.Tensor((5, 5), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.nn.relu(lv)
            lv2 = R.matmul(lv1, w)
            gv = R.add(lv2, lv1)
            R.output(gv)
        return gv


def test_fusion_computes_nothing_twice():
    check_fused(TwoUsers, ["fused_matmul_relu", "fused_matmul_add"], random(5, 5), random(5, 5))


@I.ir_module
class ValueIsResultToo:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            lv = R.exp(x)
            gv = R.add(lv, x)
            gv1 = R.negative(gv)
            gv2 = R.abs(gv1)
            R.output(gv, gv2)
        return (gv, gv2)


def test_fusion_keeps_results_of_the_block():
    check_fused(ValueIsResultToo, ["fused_exp_add", "fused_negative_abs"], random(3))


@I.ir_module
class TwoProducts:
    @R.function
    def main(x: R.Tensor((5, 5), "float32"), w: R.Tensor((5, 5), "float32")) -> R.Tensor((5, 5), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w)
            lv1 = R.nn.relu(lv)
            lv2 = R.matmul(w, x)
            lv3 = R.exp(lv2)
            gv = R.add(lv1, lv3)
            R.output(gv)
        return gv


def test_fusion_holds_one_product_each():
    check_fused(TwoProducts, ["fused_matmul_exp", "fused_matmul_relu_add"], random(5, 5), random(5, 5))


@I.ir_module
class Reductions:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            lv = R.exp(x)
            lv1 = R.sum(lv, axis=[1], keepdims=True)
            lv2 = R.sqrt(lv1)
            lv3 = R.max(lv2, axis=[0], keepdims=True)
            lv4 = R.negative(lv3)
            lv5 = R.divide(x, lv4)
            lv6 = R.nn.softmax(lv5)
            gv = R.negative(lv6)
            R.output(gv)
        return gv


def test_fusion_ends_at_reductions():
    check_fused(
        Reductions,
        ["fused_exp_sum_sqrt", "fused_max_negative", "divide", "softmax", "negative1"],
        random(5, 7),
    )


@I.ir_module
class Pools:
    @R.function
    def main(x: R.Tensor((1, 2, 7, 7), "float32"), w: R.Tensor((2, 2, 3, 3), "float32")) -> R.Tensor(
        (1, 2, 1, 1), "float32"
    ):
        with R.dataflow():
            lv = R.exp(x)
            lv1 = R.nn.max_pool2d(lv, pool_size=(3, 3), strides=2)
            lv2 = R.nn.relu(lv1)
            lv3 = R.nn.pad(lv2, pad_width=[0, 0, 0, 0, 1, 1, 1, 1])
            lv4 = R.nn.conv2d(lv3, w)
            lv5 = R.nn.relu(lv4)
            lv6 = R.mean(lv5, axis=[2, 3], keepdims=True)
            gv = R.negative(lv6)
            R.output(gv)
        return gv


def test_fusion_moves_nothing_into_windows():
    check_fused(
        Pools,
        ["exp", "fused_max_pool2d_relu", "pad", "fused_conv2d_relu", "fused_mean_negative"],
        random(1, 2, 7, 7),
        random(2, 2, 3, 3),
    )


@I.ir_module
class Symbolic:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("n * m",), "float32")) -> R.Tensor(
        ("n * m",), "float32"
    ):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            lv = R.full(R.shape([n * m]), R.const(2.0, "float32"), dtype="float32")
            lv1 = R.multiply(y, lv)
            gv = R.exp(lv1)
            R.output(gv)
        return gv


def test_fusion_passes_dimensions_that_no_argument_says():
    check_fused(Symbolic, ["fused_full_multiply_exp"], random(2, 3), random(6))


@I.ir_module
class EqualLayers:
    @R.function
    def main(
        x: R.Tensor((5, 5), "float32"), v: R.Tensor((5, 5), "float32"), w: R.Tensor((5, 5), "float32")
    ) -> R.Tensor((5, 5), "float32"):
        with R.dataflow():
            lv = R.matmul(x, v)
            lv1 = R.multiply(lv, R.const(0.5, "float32"))
            lv2 = R.matmul(lv1, w)
            lv3 = R.multiply(lv2, R.const(0.5, "float32"))
            lv4 = R.matmul(lv3, w)
            gv = R.multiply(lv4, R.const(2.0, "float32"))
            R.output(gv)
        return gv


def test_equal_fused_programs_are_one_and_numbers_are_inside():
    module = fused(EqualLayers)
    assert kernels(module) == ["fused_matmul_multiply", "fused_matmul_multiply", "fused_matmul_multiply2"]
    assert [var.name_hint for var in module.functions] == [
        "main",
        "fused_matmul_multiply",
        "fused_matmul_multiply2",
    ]
    assert "T.float32(0.5)" in module["fused_matmul_multiply"].script()
    x = random(5, 5)
    np.testing.assert_array_equal(run(module, x, x, x), run(EqualLayers, x, x, x))


@I.ir_module
class WrittenByHand:
    @T.prim_func(private=True)
    def double(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for i in T.serial(3):
            with T.block("B"):
                vi = T.axis.spatial(3, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def both(x: R.Tensor((3,), "float32")):
        R.func_attr({"Primitive": 1})
        cls = WrittenByHand
        with R.dataflow():
            once = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((3,), "float32"))
            twice = R.call_tir(cls.double, (once,), out_sinfo=R.Tensor((3,), "float32"))
            R.output(once, twice)
        return (once, twice)

    @R.function
    def more(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            gv = R.exp(x)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = WrittenByHand
        pair = cls.both(x)
        first = pair[0]
        second = pair[1]
        third = cls.more(second)
        return (first, second, third)


def test_fuse_tir_takes_functions_written_by_hand_and_leaves_what_is_more_than_calls():
    merged = transform.fuse_tir()(WrittenByHand)
    assert isinstance(merged["both"], tilewright.tir.PrimFunc)
    assert isinstance(merged["more"], tilewright.relax.Function)
    assert len(merged["both"].params) == 3
    x = random(3)
    for got, want in zip(run(merged, x), [x * 2, x * 4, np.exp(x * 4)], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_passes_refuse_unknown_options():
    with pytest.raises(tilewright.UserError) as error:
        transform.fuse_ops(max_sizes=3)(Dense)
    expected = [
        'error: fuse_ops: pass options: there is no option "max_sizes"',
        "help: did you mean max_size?",
    ]
    assert str(error.value).splitlines() == expected


def test_passes_are_switched_off_by_name():
    def compiled(**context):
        with tilewright.transform.PassContext(**context):
            return kernels(tilewright.IRModule._of(tilewright.compile(Dense).legalized))

    assert compiled() == ["fused_matmul_add_relu"]
    assert compiled(disabled_pass=["fuse_ops"]) == ["matmul", "add", "relu"]
    assert compiled(opt_level=1) == ["matmul", "add", "relu"]
    assert compiled(opt_level=1, required_pass=["fuse_ops", "fuse_tir"]) == ["fused_matmul_add_relu"]
    assert compiled(config={"fuse_ops.max_size": 2}) == ["fused_matmul_add", "relu"]
