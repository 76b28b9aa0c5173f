"""fuse_ops: which calls become one loop program, and what the program looks like."""

import numpy as np
import pytest
from graph_programs import Dense
from graph_testing import (
    check_fused,
    fused,
    kernels,
    random,
    run,
)
from refusals import refusal

from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import parse
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


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


def test_fusion_makes_one_program_with_a_block_per_operator():
    assert_structural_equal(fused(Dense), DenseFused)
    check_fused(Dense, ["fused_matmul_add_relu"], random(5, 7), random(7, 3), random(3))


@I.ir_module
class Single:
    @R.function
    def main(x: R.Tensor((5, 7), "float32"), w: R.Tensor((7, 3), "float32")) -> R.Tensor((5, 3), "float32"):
        with R.dataflow():
            gv = R.matmul(x, w)
            R.output(gv)
        return gv


def test_fusion_leaves_single_calls_alone():
    legal = transform.legalize_ops()(Single)
    assert transform.fuse_ops()(legal) is legal
    assert transform.fuse_tir()(legal) is legal


def test_fusion_respects_max_size():
    assert kernels(fused(Dense, max_size=1)) == ["matmul", "add", "relu"]
    assert kernels(fused(Dense, max_size=2)) == ["fused_matmul_add", "relu"]
    assert refusal(transform.fuse_ops(max_size=0), Dense) == (
        "error: fuse_ops: max_size is 0, expected at least 1"
    )


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


BYTES = """
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, 4, 6, 8), "uint8"), x: R.Tensor((1, 4, 6, 8), "float32")):
        with R.dataflow():
            a = R.dequantize(q, R.const(0.5, "float32"), R.const(9, "uint8"))
            {body}
            R.output(result)
        return result
"""
TO_BYTES = 'R.quantize({}, R.const(0.25, "float32"), R.const(7, "uint8"), out_dtype="uint8")'


def bytes_graph(body):
    lines = [line.strip() for line in body.strip().splitlines()]
    return parse(BYTES.format(body="\n            ".join(lines)))


READERS = {
    "pool": ("result = " + TO_BYTES.format("R.nn.avg_pool2d(a, pool_size=(3, 3), padding=1)"), 1),
    "softmax": ("result = " + TO_BYTES.format("R.nn.softmax(a)"), 1),
    "norm": (
        'n = R.nn.layer_norm(a, R.const([1.0] * 8, "float32"), R.const([0.5] * 8, "float32"), axes=[-1])\n'
        "result = " + TO_BYTES.format("n"),
        1,
    ),
    "two programs": (
        "b = " + TO_BYTES.format("R.exp(a)") + "\nc = " + TO_BYTES.format("R.mean(a, axis=[2, 3], keepdims=True)")
        + "\nresult = (b, c)",
        2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", READERS)
def test_bytes_are_widened_where_they_are_read(kind):
    """No tensor of floats lies between programs."""
    body, count = READERS[kind]
    body = body.replace("[1.0] * 8", str([1.0] * 8)).replace("[0.5] * 8", str([0.5] * 8))
    module = bytes_graph(body)
    changed = fused(module)
    calls = [line for line in changed.script().splitlines() if "R.call_tir(" in line]
    assert len(calls) == count and all("uint8" in line for line in calls), calls
    q = np.random.default_rng(0).integers(0, 256, (1, 4, 6, 8)).astype("uint8")
    x = random(1, 4, 6, 8)
    for ours, plain in zip(as_list(run(changed, q, x)), as_list(run(module, q, x)), strict=True):
        np.testing.assert_array_equal(ours, plain)
    for ours, plain in zip(as_list(run(module, q, x, opt_level=2)), as_list(run(module, q, x)), strict=True):
        assert np.abs(ours.astype(int) - plain).max() <= 1  # sums in another order


def as_list(results):
    return results if isinstance(results, list) else [results]


def test_floats_that_a_product_reads_are_not_widened_twice():
    module = bytes_graph(
        "m = R.matmul(a, R.permute_dims(x, axes=[0, 1, 3, 2]))\nb = R.exp(a)\nresult = (m, b)"
    )
    assert sum("dequantize" in name for name in kernels(fused(module))) == 1
