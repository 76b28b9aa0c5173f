"""nn.linear_attention: a state that tokens change, and that queries read."""

import numpy as np
import pytest
from op_testing import run_op

import tilewright


def rand(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


B, T, HEADS, SHARED, D, E = 2, 5, 4, 2, 3, 7


def inputs():
    return [
        rand(B, T, HEADS, D),
        rand(B, T, SHARED, D, seed=1) / 2,
        rand(B, T, SHARED, E, seed=2),
        rand(B, SHARED, D, E, seed=3),
        -np.abs(rand(B, T, SHARED, D, seed=4)),
        np.abs(rand(B, T, SHARED, seed=5)) % 1,
    ]


def expected(query, key, value, state, decay, beta, rule, scale):
    state, results = state.astype("float64"), []
    for t in range(T):
        if rule.startswith("gated"):
            state = state * np.exp(decay[:, t, :, :, None])
        change = value[:, t]
        if rule.endswith("delta"):
            change = beta[:, t, :, None] * (change - np.einsum("bhde,bhd->bhe", state, key[:, t]))
        state = state + key[:, t, :, :, None] * change[:, :, None]
        shared = np.repeat(state, HEADS // SHARED, axis=1)
        results.append(scale * np.einsum("bhde,bhd->bhe", shared, query[:, t]))
    return np.stack(results, 1), state


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_rules(rule):
    found = run_op("nn.linear_attention", *inputs(), update_rule=rule, scale=0.5)
    for got, right in zip(found, expected(*inputs(), rule, 0.5), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("place", "shape", "text"),
    [
        (0, (B, T, 3, D), "query has 3 heads, which do not divide among the 2 of value"),
        (1, (B, T, SHARED, 4), "key is [2, 5, 2, 4], expected [2, 5, 2, 3]"),
        (
            2,
            (B, 4, SHARED, E),
            "value is [2, 4, 2, 7], but query is [2, 5, 4, 3]: their batches or tokens differ",
        ),
        (3, (B, SHARED, D, 6), "state is [2, 2, 3, 6], which does not broadcast to [2, 2, 3, 7]"),
    ],
)
def test_refusals(place, shape, text):
    arrays = inputs()
    arrays[place] = rand(*shape)
    with pytest.raises(tilewright.UserError) as refused:
        run_op("nn.linear_attention", *arrays)
    assert f"nn.linear_attention: {text}" in str(refused.value)


def test_rule_is_known():
    with pytest.raises(tilewright.UserError) as refused:
        run_op("nn.linear_attention", *inputs(), update_rule="best")
    assert (
        'nn.linear_attention: update_rule is "best", expected "linear", "gated", "delta" or "gated_delta"'
    ) in str(refused.value)
