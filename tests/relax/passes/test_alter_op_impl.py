"""alter_op_impl: loop programs are replaced, in the layout that the replacement wants."""

import numpy as np
import pytest
from graph_testing import random, run

import tilewright
from tilewright import tir
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class Add:
    @T.prim_func(private=True)
    def add(a: T.Buffer((3, 8), "float32"), b: T.Buffer((3, 8), "float32"), c: T.Buffer((3, 8), "float32")):
        T.func_attr({"operator_name": "mine.add"})
        for i, j in T.grid(3, 8):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = a[vi, vj] + b[vi, vj]

    @R.function
    def main(x: R.Tensor((3, 8), "float32"), y: R.Tensor((3, 8), "float32")):
        cls = Add
        with R.dataflow():
            gv = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((3, 8), "float32"))
            R.output(gv)
        return gv


@T.prim_func(private=True)
def blocked(
    a: T.Buffer((2, 3, 4), "float32"), b: T.Buffer((3, 8), "float32"), c: T.Buffer((2, 3, 4), "float32")
):
    for o, i, j in T.grid(2, 3, 4):
        with T.block("c"):
            vo, vi, vj = T.axis.remap("SSS", [o, i, j])
            c[vo, vi, vj] = a[vo, vi, vj] + b[vi, vo * 4 + vj]


def blocks_of_4():
    return tir.index_map(lambda i, j: (j // 4, i, j % 4))


def test_programs_are_replaced_in_the_layout_that_they_want():
    step = transform.alter_op_impl(
        op_impl_map={"mine.add": blocked},
        op_buffer_transforms={"mine.add": [blocks_of_4(), None, blocks_of_4()]},
    )
    result = step(Add)
    text = result["main"].script()
    assert (
        text.count("R.reshape") == 2 and text.count("R.permute_dims") == 2 and "mine_add_replacement" in text
    )
    assert step(result) is result
    np.testing.assert_array_equal(
        run(result, random(3, 8), random(3, 8)), run(Add, random(3, 8), random(3, 8))
    )


def test_replacements_that_do_not_fit():
    third = tir.index_map(lambda i, j: (j // 3, i, j % 3))
    for impl, maps, text in [
        (
            {"mine.add": blocked},
            {"mine.add": [third, None, None]},
            "unsupported: alter_op_impl: the layout lambda i, j: (j // 3, i, j % 3) of a tensor [3, 8] is not made by splitting and permuting"
            " dimensions\nhelp: give each dimension whole, or as i // c and i % c with c a divisor of its extent",
        ),
        (
            {"mine.add": blocked},
            {"mine.add": [None]},
            'error: alter_op_impl: the transforms of "mine.add" are not a list with one for each of 3 buffers',
        ),
        (
            {"mine.add": blocked},
            {"mine.add": [1, None, None]},
            'error: alter_op_impl: a transform of "mine.add" is neither an index map nor None',
        ),
        ({"mine.add": 1}, {}, 'error: alter_op_impl: the replacement of "mine.add" is not a loop program'),
    ]:
        with pytest.raises(tilewright.errors.Error) as error:
            transform.alter_op_impl(op_impl_map=impl, op_buffer_transforms=maps)(Add)
        assert str(error.value) == text
    other = transform.alter_op_impl(op_impl_map={"other.add": blocked})
    assert other(Add) is Add


@I.ir_module
class TwoOutputs:
    @T.prim_func(private=True)
    def both(a: T.Buffer((3,), "float32"), b: T.Buffer((3,), "float32"), c: T.Buffer((3,), "float32")):
        T.func_attr({"operator_name": "mine.both"})
        for i in range(3):
            with T.block("b"):
                vi = T.axis.spatial(3, i)
                b[vi] = a[vi]
                c[vi] = a[vi]

    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
        cls = TwoOutputs
        gv = R.call_tir(cls.both, (x,), out_sinfo=[R.Tensor((3,), "float32"), R.Tensor((3,), "float32")])
        return gv


@I.ir_module
class UnknownShape:
    @T.prim_func(private=True)
    def add(a: T.Buffer((3, 8), "float32"), b: T.Buffer((3, 8), "float32"), c: T.Buffer((3, 8), "float32")):
        T.func_attr({"operator_name": "mine.add"})
        for i, j in T.grid(3, 8):
            with T.block("c"):
                vi, vj = T.axis.remap("SS", [i, j])
                c[vi, vj] = a[vi, vj] + b[vi, vj]

    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32"), y: R.Tensor((3, 8), "float32")):
        cls = UnknownShape
        gv = R.call_tir(cls.add, (x, y), out_sinfo=R.Tensor((3, 8), "float32"))
        return gv


@T.prim_func(private=True)
def only_one(a: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("a"):
            vi = T.axis.spatial(3, i)
            a[vi] = T.float32(0)


def first_lines(step, module) -> str:
    with pytest.raises(tilewright.errors.Error) as error:
        step(module)
    return str(error.value).splitlines()[0]


def test_calls_that_cannot_be_replaced():
    maps = {"mine.add": [blocks_of_4(), None, None]}
    step = transform.alter_op_impl(op_impl_map={"mine.add": blocked}, op_buffer_transforms=maps)
    assert (
        first_lines(step, UnknownShape)
        == "unsupported: alter_op_impl: another layout of a tensor of unknown shape"
    )
    step = transform.alter_op_impl(op_impl_map={"mine.both": blocked})
    assert (
        first_lines(step, TwoOutputs)
        == 'unsupported: alter_op_impl: the replacement of "mine.both", which has several outputs'
    )
    step = transform.alter_op_impl(op_impl_map={"mine.add": only_one})
    assert (
        first_lines(step, Add)
        == 'error: alter_op_impl: the replacement of "mine.add" has 1 parameter, but 3 are passed'
    )
