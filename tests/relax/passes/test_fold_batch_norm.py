"""Batch norms, scales and shifts go into constant weights."""

import numpy as np
from graph_testing import (
    bound,
    operators,
    random,
    run,
)

from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


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
