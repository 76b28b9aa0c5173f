"""lift_transform_params: weights are prepared once, by a function of their own."""

import numpy as np
from graph_programs import Weights
from graph_testing import operators, random

import tilewright
from tilewright.ir import assert_structural_equal
from tilewright.relax import transform
from tilewright.script import ir as I  # noqa: N812
from tilewright.script import relax as R  # noqa: N812
from tilewright.script import tir as T  # noqa: N812


@I.ir_module
class WeightsLifted:
    @R.function
    def main(
        x: R.Tensor(("n", 7), "float32"),
        b: R.Tensor((5,), "float32"),
        lv1: R.Tensor((7, 5), "float32"),
        lv3: R.Tensor((5,), "float32"),
    ) -> R.Tensor(("n", 5), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv2 = R.matmul(x, lv1)
            lv4 = R.add(lv2, lv3)
            gv = R.add(lv4, b)
            R.output(gv)
        return gv

    @R.function
    def main_transform_params(
        params: R.Tuple(R.Tensor((5, 7), "float32"), R.Tensor((5,), "float32"), R.Tensor((), "float32")),
    ) -> R.Tuple(R.Tensor((5,), "float32"), R.Tensor((7, 5), "float32"), R.Tensor((5,), "float32")):
        with R.dataflow():
            w = params[0]
            b = params[1]
            s = params[2]
            lv = R.permute_dims(w)
            lv1 = R.multiply(lv, s)
            lv3 = R.exp(b)
            gv = (b, lv1, lv3)
            R.output(gv)
        return gv


def test_weights_are_prepared_by_a_function_of_their_own():
    result = transform.lift_transform_params()(Weights)
    assert_structural_equal(result, WeightsLifted)
    assert transform.lift_transform_params()(result) is result
    x, w, b, s = random(3, 7), random(5, 7), random(5), random()
    machine = tilewright.VirtualMachine(tilewright.compile(result))
    prepared = machine["main_transform_params"]([tilewright.tensor(v) for v in (w, b, s)])
    before = tilewright.VirtualMachine(tilewright.compile(Weights))["main"](
        *(tilewright.tensor(v) for v in (x, w, b, s))
    )
    after = machine["main"](tilewright.tensor(x), *prepared)
    np.testing.assert_allclose(after.numpy(), before.numpy(), rtol=1e-5)
    np.testing.assert_allclose(after.numpy(), x @ w.T * s + np.exp(b) + b, rtol=1e-4, atol=1e-5)


def test_main_does_less():
    lifted = transform.lift_transform_params()(Weights)
    assert operators(Weights) == ["R.permute_dims", "R.multiply", "R.matmul", "R.exp", "R.add", "R.add"]
    assert operators(lifted) == ["R.matmul", "R.add", "R.add"]


def test_what_needs_an_input_stays():
    @I.ir_module
    class Mixed:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3,), "float32")):
            R.func_attr({"num_input": 1})
            n = T.int64()
            with R.dataflow():
                lv = R.broadcast_to(w, R.shape([n, 3]))
                gv = R.add(x, lv)
                R.output(gv)
            return gv

    assert transform.lift_transform_params()(Mixed) is Mixed


def test_functions_without_num_input_stay():
    @I.ir_module
    class Plain:
        @R.function
        def main(w: R.Tensor((3,), "float32")):
            with R.dataflow():
                gv = R.exp(w)
                R.output(gv)
            return gv

    assert transform.lift_transform_params()(Plain) is Plain
    assert transform.bundle_model_params()(Plain) is Plain


def test_symbolic_weights():
    @I.ir_module
    class Symbolic:
        @R.function
        def main(x: R.Tensor((3, "k"), "float32"), w: R.Tensor(("m", "k"), "float32")):
            R.func_attr({"num_input": 1})
            with R.dataflow():
                lv = R.permute_dims(w)
                lv1 = R.exp(lv)
                gv = R.matmul(x, lv1)
                R.output(gv)
            return gv

    result = transform.lift_transform_params()(Symbolic)
    machine = tilewright.VirtualMachine(tilewright.compile(result))
    x, w = random(3, 7), random(5, 7)
    (prepared,) = machine["main_transform_params"]([tilewright.tensor(w)])
    np.testing.assert_allclose(
        machine["main"](tilewright.tensor(x), prepared).numpy(), x @ np.exp(w.T), rtol=1e-4, atol=1e-5
    )
