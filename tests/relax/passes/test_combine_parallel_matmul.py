"""combine_parallel_matmul: products that share an operand are one product."""

import pytest
from graph_testing import random, same_numbers

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Parallel:
    @R.function
    def main(
        x: R.Tensor(("n", 5), "float32"),
        a: R.Tensor((5, 7), "float32"),
        b: R.Tensor((5, 127), "float32"),
        c: R.Tensor((5, 3), "float32"),
    ):
        with R.dataflow():
            q = R.matmul(x, a)
            k = R.matmul(x, b)
            q1 = R.nn.relu(q)
            v = R.matmul(x, c)
            gv = (q1, k, v)
            R.output(gv)
        return gv


@I.ir_module
class Combined:
    @R.function
    def main(
        x: R.Tensor(("n", 5), "float32"),
        a: R.Tensor((5, 7), "float32"),
        b: R.Tensor((5, 127), "float32"),
        c: R.Tensor((5, 3), "float32"),
    ):
        with R.dataflow():
            weights = R.concat((a, b, c), axis=1)
            product = R.matmul(x, weights)
            pieces = R.split(product, [7, 134], axis=-1)
            q = pieces[0]
            k = pieces[1]
            q1 = R.nn.relu(q)
            v = pieces[2]
            gv = (q1, k, v)
            R.output(gv)
        return gv


def test_parallel_matmuls_are_one():
    step = transform.combine_parallel_matmul()
    result = step(Parallel)
    assert_structural_equal(result, Combined)
    assert step(result) is result
    same_numbers(result, Parallel, random(5, 5), random(5, 7), random(5, 127), random(5, 3))
    assert transform.combine_parallel_matmul(min_branches=4)(Parallel) is Parallel


@I.ir_module
class NotParallel:
    @R.function
    def main(
        x: R.Tensor((5, 5), "float32"),
        a: R.Tensor((5, 5), "float32"),
        b: R.Tensor((2, 5, 7), "float32"),
        c: R.Tensor((5, "m"), "float32"),
    ):
        with R.dataflow():
            q = R.matmul(x, a)
            later = R.matmul(x, q)
            batched = R.matmul(x, b)
            symbolic = R.matmul(x, c)
            gv = (later, batched, symbolic)
            R.output(gv)
        return gv


def test_weights_that_come_later_or_do_not_fit_stay():
    assert transform.combine_parallel_matmul()(NotParallel) is NotParallel
    with pytest.raises(tilewright.UserError) as error:
        transform.combine_parallel_matmul(min_branches=1)(Parallel)
    assert str(error.value) == "error: combine_parallel_matmul: min_branches is 1, expected at least 2"
