"""fuse_transpose_matmul: transposed operands are read as they lie."""

from graph_programs import Transposed
from graph_testing import random, same_numbers

from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class AsTheyLie:
    @R.function
    def main(
        x: R.Tensor(("n", 5), "float32"),
        w: R.Tensor((127, 5), "float32"),
        y: R.Tensor((3, 5, 7), "float32"),
        z: R.Tensor((7, 3, 5), "float32"),
    ):
        with R.dataflow():
            a = R.einsum((x, w), "ab,cb->ac")
            b = R.einsum((y, z), "dab,bdc->dac")
            c = R.einsum((y, y), "dba,dbc->dac")
            gv = (a, b, c)
            R.output(gv)
        return gv


def test_transposed_operands_are_read_as_they_lie():
    result = transform.dead_code_elimination()(transform.fuse_transpose_matmul()(Transposed))
    assert_structural_equal(result, AsTheyLie)
    assert transform.fuse_transpose_matmul()(result) is result
    same_numbers(result, Transposed, random(5, 5), random(127, 5), random(3, 5, 7), random(7, 3, 5))


@I.ir_module
class ConstantWeight:
    @R.function
    def main(
        x: R.Tensor((5, 3), "float32"), y: R.Tensor((3, 2, 5, 3), "float32"), z: R.Tensor((7, 3), "float32")
    ):
        with R.dataflow():
            w = R.permute_dims(R.const([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "float32"))
            a = R.matmul(x, w)
            z1 = R.permute_dims(z)
            b = R.matmul(R.sum(x, axis=[0]), z1)
            gv = (a, b)
            R.output(gv)
        return gv


def test_constants_and_vectors_are_left_alone():
    assert transform.fuse_transpose_matmul()(ConstantWeight) is ConstantWeight
