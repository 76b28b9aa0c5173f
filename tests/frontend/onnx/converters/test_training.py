"""Steps of training: new parameters and states of the operators' own formulas."""

import numpy as np
import pytest
from node_testing import model_of, refusal_of, run_op
from onnx.reference import ReferenceEvaluator

import tilewright

rng = np.random.default_rng(0)
DOMAIN = "ai.onnx.preview.training"
ATTRS = {
    "Adagrad": {"norm_coefficient": 0.01, "epsilon": 1e-3, "decay_factor": 0.1},
    "Adam": {
        "norm_coefficient": 0.01,
        "norm_coefficient_post": 0.02,
        "epsilon": 1e-3,
        "alpha": 0.8,
        "beta": 0.9,
    },
    "Momentum": {"norm_coefficient": 0.01, "alpha": 0.8, "beta": 0.9, "mode": "standard"},
}


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("op", ATTRS)
def test_one_step_of_two_parameters(op, steps):
    states = 2 if op == "Adam" else 1
    inputs = [np.float32(0.1), np.int64(steps)]
    inputs += [
        rng.uniform(0.5, 1, shape).astype("float32") for _ in range(2 + states) for shape in ((5,), (2, 3))
    ]
    more = {"domain": DOMAIN, "opset": 1, **ATTRS[op]}
    found = run_op(op, inputs, 2 * (1 + states), **more)
    model = model_of(op, inputs, 2 * (1 + states), **more)
    right = ReferenceEvaluator(model).run(None, {f"x{n}": each for n, each in enumerate(inputs)})
    for got, expected in zip(found, right, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_nesterov_momentum():
    x, g, v = (rng.standard_normal(7).astype("float32") for _ in range(3))
    attrs = {**ATTRS["Momentum"], "mode": "nesterov"}
    moved, velocity = run_op(
        "Momentum", [np.float32(0.1), np.int64(3), x, g, v], 2, domain=DOMAIN, opset=1, **attrs
    )
    gradient = np.float32(0.01) * x + g
    right = np.float32(0.8) * v + np.float32(0.9) * gradient
    np.testing.assert_allclose(velocity, right, rtol=1e-5)
    np.testing.assert_allclose(moved, x - np.float32(0.1) * (gradient + np.float32(0.8) * right), rtol=1e-5)


def test_lists_of_different_lengths():
    inputs = [np.float32(0.1), np.int64(3), *(np.zeros(3, "float32") for _ in range(4))]
    assert refusal_of("Adagrad", inputs, 2, domain=DOMAIN, opset=1) == (
        'error: Adagrad node "n": 6 inputs and 2 outputs, expected 2 and 3 for each parameter, and 2 outputs'
    )


def test_gradients_are_refused():
    assert refusal_of(
        "Gradient",
        [np.zeros(3, "float32")],
        domain=DOMAIN,
        opset=1,
        kind=tilewright.Unsupported,
        xs=["x0"],
        y="y",
    ) == (
        'unsupported: Gradient node "n": '
        "it asks for the gradient of a part of the graph, which is not made while a model is read\n"
        "help: import the model without it, then call tilewright.relax.transform.Gradient"
    )
