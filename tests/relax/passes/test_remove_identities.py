"""remove_identities: calls that move no element go, permutations and reshapes become one."""

import numpy as np
import pytest
from graph_testing import (
    check,
    random,
    run,
)

import tilewright
from tilewright import relax
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


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
