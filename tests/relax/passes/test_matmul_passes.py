"""Matmuls put together, matmuls without copies of transposed operands, loop programs taken apart and marked."""

import numpy as np
import pytest
from graph_testing import kernels, random, run

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


def same_numbers(a, b, *inputs):
    got, expected = run(a, *inputs), run(b, *inputs)
    if not isinstance(got, list):
        got, expected = [got], [expected]
    for left, right in zip(got, expected, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5)


# ---- combine_parallel_matmul


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


# ---- fuse_transpose_matmul


@I.ir_module
class Transposed:
    @R.function
    def main(
        x: R.Tensor(("n", 5), "float32"),
        w: R.Tensor((127, 5), "float32"),
        y: R.Tensor((3, 5, 7), "float32"),
        z: R.Tensor((7, 3, 5), "float32"),
    ):
        with R.dataflow():
            wt = R.permute_dims(w, axes=[1, 0])
            a = R.matmul(x, wt)
            zt = R.permute_dims(z, axes=[1, 0, 2])
            b = R.matmul(y, zt)
            yt = R.permute_dims(y, axes=[0, 2, 1])
            c = R.matmul(yt, y)
            gv = (a, b, c)
            R.output(gv)
        return gv


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


# ---- split_call_tir


@I.ir_module
class TwoStages:
    @T.prim_func(private=True)
    def exp_add(x: T.Buffer((5, 7), "float32"), b: T.Buffer((7,), "float32"), y: T.Buffer((5, 7), "float32")):
        t = T.alloc_buffer((5, 7), "float32")
        for i, j in T.grid(5, 7):
            with T.block("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = T.exp(x[vi, vj])
        for i, j in T.grid(5, 7):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = t[vi, vj] + b[vj]

    @R.function
    def main(x: R.Tensor((5, 7), "float32"), b: R.Tensor((7,), "float32")):
        cls = TwoStages
        with R.dataflow():
            gv = R.call_tir(cls.exp_add, (x, b), out_sinfo=R.Tensor((5, 7), "float32"))
            R.output(gv)
        return gv


@I.ir_module
class OneStageEach:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), b: R.Tensor((7,), "float32")):
        cls = OneStageEach
        with R.dataflow():
            lv = R.call_tir(cls.exp_add_0, (x,), out_sinfo=R.Tensor((5, 7), "float32"))
            gv = R.call_tir(cls.exp_add_1, (lv, b), out_sinfo=R.Tensor((5, 7), "float32"))
            R.output(gv)
        return gv

    @T.prim_func(private=True)
    def exp_add_0(x: T.Buffer((5, 7), "float32"), t: T.Buffer((5, 7), "float32")):
        T.func_attr({"tir.noalias": True})
        for i, j in T.grid(5, 7):
            with T.block("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = T.exp(x[vi, vj])

    @T.prim_func(private=True)
    def exp_add_1(
        t: T.Buffer((5, 7), "float32"), b: T.Buffer((7,), "float32"), y: T.Buffer((5, 7), "float32")
    ):
        T.func_attr({"tir.noalias": True})
        for i, j in T.grid(5, 7):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = t[vi, vj] + b[vj]


def test_each_stage_is_a_call():
    step = transform.split_call_tir()
    result = transform.dead_code_elimination()(step(TwoStages))
    assert_structural_equal(result, OneStageEach)
    assert step(result) is result
    same_numbers(result, TwoStages, random(5, 7), random(7))


@I.ir_module
class Elementwise:
    @R.function
    def main(x: R.Tensor(("n", 127), "float32"), y: R.Tensor(("n", 127), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.exp(a)
            gv = R.sum(b, axis=[1])
            R.output(gv)
        return gv


def test_split_undoes_fusion_with_symbolic_shapes():
    fused = Elementwise
    for name in ("legalize_ops", "fuse_ops", "fuse_tir", "dead_code_elimination"):
        fused = getattr(transform, name)()(fused)
    assert len(kernels(fused)) == 1
    result = transform.split_call_tir()(fused)
    assert len(kernels(result)) == 3
    same_numbers(result, Elementwise, random(5, 127), random(5, 127))
    assert transform.split_call_tir(func_names=["main"])(fused) is fused


# ---- annotate_tir_op_pattern


def test_programs_say_how_they_fuse():
    legal = transform.legalize_ops()(Transposed)
    result = transform.annotate_tir_op_pattern()(legal)
    patterns = {
        var.name_hint: func.attrs["op_pattern"]
        for var, func in result.functions.items()
        if var.name_hint != "main"
    }
    assert patterns == {
        "permute_dims": 2,
        "matmul": 4,
        "permute_dims1": 2,
        "matmul1": 4,
        "permute_dims2": 2,
        "matmul2": 4,
    }
    assert transform.annotate_tir_op_pattern()(result) is result
    softmax = transform.annotate_tir_op_pattern()(transform.legalize_ops()(Softmax))
    assert softmax["softmax"].attrs["op_pattern"] == 8


@I.ir_module
class Softmax:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")):
        with R.dataflow():
            gv = R.nn.softmax(x)
            R.output(gv)
        return gv
