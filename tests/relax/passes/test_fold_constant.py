"""fold_constant: calls whose arguments are constants are computed when a graph is compiled."""

import numpy as np
import pytest
from graph_testing import (
    check,
    random,
    run,
)

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


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
