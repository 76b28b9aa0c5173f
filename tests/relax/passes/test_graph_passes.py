"""Graph passes as programs before and after; what they leave alone; the numbers stay the same."""

import numpy as np
import pytest
from graph_testing import (
    check,
    fused,
    kernels,
    random,
    run,
)

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812

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
class RuntimeFunction:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            largest = R.topk(R.const([3.0, 5.0, 4.0], "float32"), k=3, axis=0, ret_type="values")
            gv = R.add(x, largest)
            R.output(gv)
        return gv


@I.ir_module
class RuntimeFunctionFolded:
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        with R.dataflow():
            gv = R.add(x, R.const([5.0, 4.0, 3.0], "float32"))
            R.output(gv)
        return gv


def test_fold_constant_calls_functions_of_the_runtime():
    check([transform.fold_constant()], RuntimeFunction, RuntimeFunctionFolded, random(3))


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
class ShuffledChannels:
    @R.function
    def main(x: R.Tensor((1, 5, 7, 12), "float32")) -> R.Tensor((1, 5, 7, 12), "float32"):
        with R.dataflow():
            lv = R.permute_dims(x, axes=[0, 3, 1, 2])
            lv1 = R.reshape(lv, R.shape([1, 4, 3, 5, 7]))
            lv2 = R.permute_dims(lv1, axes=[0, 2, 1, 3, 4])
            lv3 = R.reshape(lv2, R.shape([1, 12, 5, 7]))
            gv = R.permute_dims(lv3, axes=[0, 2, 3, 1])
            R.output(gv)
        return gv


@I.ir_module
class ShuffledChannelsOnce:
    @R.function
    def main(x: R.Tensor((1, 5, 7, 12), "float32")) -> R.Tensor((1, 5, 7, 12), "float32"):
        with R.dataflow():
            lv = R.reshape(x, R.shape([35, 4, 3]))
            lv1 = R.permute_dims(lv, axes=[0, 2, 1])
            gv = R.reshape(lv1, R.shape([1, 5, 7, 12]))
            R.output(gv)
        return gv


def test_remove_identities_joins_permutations_with_reshapes_between():
    steps = [transform.remove_identities(), transform.dead_code_elimination()]
    check(steps, ShuffledChannels, ShuffledChannelsOnce, random(1, 5, 7, 12))


@I.ir_module
class CutAcross:
    @R.function
    def main(x: R.Tensor((5, 6), "float32")) -> R.Tensor((3, 10), "float32"):
        with R.dataflow():
            lv = R.permute_dims(x, axes=[1, 0])
            lv1 = R.reshape(lv, R.shape([10, 3]))  # 10 is no part of 6
            gv = R.permute_dims(lv1, axes=[1, 0])
            R.output(gv)
        return gv


def test_remove_identities_leaves_permutations_that_cut_across():
    assert transform.remove_identities()(CutAcross) is CutAcross


def random_moves(seed: int) -> tilewright.IRModule:
    choices = np.random.default_rng(seed)
    x = relax.Var("x", R.Tensor((2, 3, 4, 1, 5), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            value = x
            for _ in range(6):
                if choices.random() < 0.5:
                    axes = choices.permutation(value.type.ndim)
                    move = relax.op.permute_dims(value, [int(axis) for axis in axes])
                else:
                    parts = choices.permutation([2, 3, 2, 2, 5])
                    pieces = np.split(parts, sorted(choices.choice(6, size=3)))
                    move = relax.op.reshape(value, [int(np.prod(piece)) for piece in pieces])
                value = builder.emit(move)
            result = builder.emit_output(value)
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.parametrize("seed", range(60))
def test_remove_identities_of_random_moves(seed):
    before = random_moves(seed)
    after = transform.dead_code_elimination()(transform.remove_identities()(before))
    data = np.arange(120, dtype="float32").reshape(2, 3, 4, 1, 5)
    np.testing.assert_array_equal(run(after, data), run(before, data))
    counts = [str(module).count("R.permute_dims") for module in (before, after)]
    assert counts[1] <= counts[0]
    again = transform.dead_code_elimination()(transform.remove_identities()(after))
    assert again is after or str(again).count("R.") <= str(after).count("R.")


@I.ir_module
class ViewsOfItself:
    @R.function
    def main(x: R.Tensor((3, 4, 5), "float32")) -> R.Tensor((5, 3, 4), "float32"):
        with R.dataflow():
            lv = R.permute_dims(x, axes=[1, 0, 2])
            lv1 = R.reshape(lv, R.shape([4, 15]))
            lv2 = R.reshape(lv1, R.shape([4, 3, 5]))
            gv = R.permute_dims(lv2, axes=[2, 1, 0])
            R.output(gv)
        return gv


@I.ir_module
class ViewsOfItselfOnce:
    @R.function
    def main(x: R.Tensor((3, 4, 5), "float32")) -> R.Tensor((5, 3, 4), "float32"):
        with R.dataflow():
            gv = R.permute_dims(x, axes=[2, 0, 1])
            R.output(gv)
        return gv


def test_remove_identities_joins_permutations_that_reshapes_undo():
    steps = [transform.remove_identities(), transform.dead_code_elimination()]
    check(steps, ViewsOfItself, ViewsOfItselfOnce, random(3, 4, 5))


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
