"""Composite operators as simple ones, and loop programs that only reshape as views."""

import numpy as np
import pytest
from graph_testing import operators, random, run

import tilewright
from tilewright import relax
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812


@I.ir_module
class Softmax:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            gv = R.nn.softmax(x, axis=-1)
            R.output(gv)
        return gv


@I.ir_module
class SoftmaxOfParts:
    @R.function
    def main(x: R.Tensor((5, 7), "float32")) -> R.Tensor((5, 7), "float32"):
        with R.dataflow():
            a = R.max(x, axis=[1], keepdims=True)
            b = R.subtract(x, a)
            c = R.exp(b)
            d = R.sum(c, axis=[1], keepdims=True)
            gv = R.divide(c, d)
            R.output(gv)
        return gv


def test_softmax():
    result = transform.decompose_ops()(Softmax)
    assert_structural_equal(result, SoftmaxOfParts)
    assert transform.decompose_ops()(result) is result
    np.testing.assert_allclose(run(result, random(5, 7)), run(Softmax, random(5, 7)), rtol=1e-6)


@I.ir_module
class Norm:
    @R.function
    def main(
        x: R.Tensor(("n", 3, 5, 7), "float32"),
        gamma: R.Tensor((3,), "float32"),
        beta: R.Tensor((3,), "float32"),
        mean: R.Tensor((3,), "float32"),
        var: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            lv = R.nn.batch_norm(x, gamma, beta, mean, var, axis=1, epsilon=0.001)
            lv1 = lv[0]
            lv2 = lv[1]
            lv3 = lv[2]
            gv = (lv1, lv2, lv3)
            R.output(gv)
        return gv


@I.ir_module
class NormOfParts:
    @R.function
    def main(
        x: R.Tensor(("n", 3, 5, 7), "float32"),
        gamma: R.Tensor((3,), "float32"),
        beta: R.Tensor((3,), "float32"),
        mean: R.Tensor((3,), "float32"),
        var: R.Tensor((3,), "float32"),
    ):
        with R.dataflow():
            a = R.reshape(var, R.shape([1, 3, 1, 1]))
            b = R.add(a, R.const(0.001, "float32"))
            root = R.sqrt(b)
            c = R.reshape(mean, R.shape([1, 3, 1, 1]))
            d = R.subtract(x, c)
            e = R.divide(d, root)
            f = R.reshape(gamma, R.shape([1, 3, 1, 1]))
            g = R.multiply(e, f)
            h = R.reshape(beta, R.shape([1, 3, 1, 1]))
            y = R.add(g, h)
            gv = (y, mean, var)
            R.output(gv)
        return gv


def simple(module, **options):
    for step in (
        transform.decompose_ops(**options),
        transform.canonicalize_bindings(),
        transform.dead_code_elimination(),
    ):
        module = step(module)
    return module


def norm_inputs():
    return random(5, 3, 5, 7), random(3), random(3) + 1, random(3), np.abs(random(3)) + 0.5


def test_batch_norm_for_inference():
    result = simple(Norm)
    assert_structural_equal(result, NormOfParts)
    for a, b in zip(run(result, *norm_inputs()), run(Norm, *norm_inputs()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_batch_norm_for_training():
    x, gamma, beta, mean, var = norm_inputs()
    result = simple(Norm, training=True)
    assert operators(result)[:2] == ["R.mean", "R.variance"]
    assert operators(result).count("R.mean") == 1
    y, new_mean, new_var = run(result, x, gamma, beta, mean, var)
    own_mean, own_var = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
    column = (1, 3, 1, 1)
    expected = (x - own_mean.reshape(column)) / np.sqrt(own_var.reshape(column) + 0.001)
    expected = expected * gamma.reshape(column) + beta.reshape(column)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new_mean, 0.9 * mean + 0.1 * own_mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(new_var, 0.9 * var + 0.1 * own_var, rtol=1e-5, atol=1e-6)


def module_of(make, *shapes):
    params = [relax.Var(f"x{n}", relax.TensorType(shape, "float32")) for n, shape in enumerate(shapes)]
    bb = relax.BlockBuilder()
    with bb.function("main", params):
        with bb.dataflow():
            out = bb.emit_output(make(*params))
        bb.emit_func_output(out)
    return bb.get()


NN = relax.op.nn
CASES = {
    "layer_norm": (lambda x, g, b: NN.layer_norm(x, g, b, axes=[-2, -1]), [(5, 3, 7), (3, 7), (3, 7)]),
    "layer_norm_middle": (lambda x, g, b: NN.layer_norm(x, g, b, axes=[1]), [(5, 3, 7), (3,), (3,)]),
    "rms_norm": (lambda x, w: NN.rms_norm(x, w, axes=[-1]), [(5, 127), (127,)]),
    "group_norm": (
        lambda x, g, b: NN.group_norm(x, g, b, num_groups=2, channel_axis=1, axes=[2]),
        [(5, 6, 7), (6,), (6,)],
    ),
    "instance_norm": (
        lambda x, g, b: NN.instance_norm(x, g, b, channel_axis=1, axes=[2]),
        [(5, 6, 7), (6,), (6,)],
    ),
    "log_softmax": (lambda x: NN.log_softmax(x, axis=0), [(127, 5)]),
    "silu": (lambda x: NN.silu(x), [(5, 7)]),
    "dropout": (lambda x: NN.dropout(x), [(5, 7)]),
}


@pytest.mark.parametrize("name", CASES)
def test_numbers_stay(name):
    make, shapes = CASES[name]
    module = module_of(make, *shapes)
    result = transform.decompose_ops()(module)
    assert "R.nn." not in result.script()
    inputs = [random(*shape) for shape in shapes]
    got, expected = run(result, *inputs), run(module, *inputs)
    for a, b in zip(*(x if isinstance(x, list) else [x] for x in (got, expected)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_only_what_is_asked_for():
    assert transform.decompose_ops(ops=["relax.nn.silu"])(Softmax) is Softmax
    assert transform.decompose_ops(ops=["relax.nn.softmax"], func_name="main")(Softmax) is not Softmax
    with pytest.raises(tilewright.UserError) as error:
        transform.decompose_ops(ops=["relax.nn.softmas"])(Softmax)
    assert str(error.value) == (
        'error: decompose_ops: there is no decomposition of "relax.nn.softmas"'
        "\nhelp: did you mean relax.nn.softmax or relax.nn.log_softmax?"
    )
    legal = transform.legalize_ops()(Softmax)
    with pytest.raises(tilewright.UserError) as error:
        transform.decompose_ops(func_name="softmax")(legal)
    assert str(error.value) == 'error: decompose_ops: "softmax" is not a graph function'
