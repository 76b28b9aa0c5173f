"""Attention in blocks of queries: the operators, the rule that schedules them, the pass that finds them in graphs."""

import numpy as np
import pytest
from attention_testing import attention, heads_first, random
from op_testing import run_op

import tilewright
from tilewright.relax import transform
from tilewright.script import parse


def visible(queries, keys, causal_mask, window_size=None):
    i = np.arange(queries)[:, None] + (keys - queries if causal_mask == "BottomRight" else 0)
    j = np.arange(keys)
    return np.where((j <= i) & (i - j < (window_size or keys + queries)), 0, -np.inf)


# batch, queries, keys, heads, heads of keys, sizes of heads; one block of keys up to 512, several beyond
SHAPES = [
    (1, 5, 7, 1, 1, 3, 2),
    (2, 7, 5, 3, 3, 8, 5),
    (1, 17, 127, 6, 2, 7, 16),
    (1, 9, 6, 2, 1, 1, 1),
    (1, 127, 127, 4, 1, 64, 64),
    (1, 33, 1000, 4, 2, 16, 17),
    (2, 40, 997, 1, 1, 5, 32),
]
OPTIONS = ["none", "rows", "heads", "keys", "TopLeft", "BottomRight", "window"]


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers(shape, option):
    batch, s, t, heads, kv_heads, d, e = shape
    args = [random(batch, s, heads, d), random(batch, t, kv_heads, d), random(batch, t, kv_heads, e)]
    attrs, bias = {}, 0.0
    if option in ("rows", "heads", "keys"):
        bias = random(*{"rows": (s, t), "heads": (1, heads, s, t), "keys": (batch, 1, 1, t)}[option])
        args.append(bias)
    elif option == "window":
        attrs = {"causal_mask": "TopLeft", "window_size": 4}
        bias = visible(s, t, "TopLeft", 4)
    elif option != "none":
        attrs = {"causal_mask": option}
        bias = visible(s, t, option)
    query, key, value = map(heads_first, args[:3])
    key, value = (np.repeat(x, heads // kv_heads, 1) for x in (key, value))
    expected = heads_first(attention(query, key, value, bias, 1 / np.sqrt(d)))
    result = run_op("nn.attention", *args, opt_level=2, **attrs)
    # rows that see no key are NaN, as in separate products
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("keys", [127, 1000])
def test_large_scores_do_not_overflow(keys):
    query, key, value = 100 * random(1, 33, 2, 16), 100 * random(1, keys, 2, 16), random(1, keys, 2, 5)
    expected = heads_first(attention(*map(heads_first, (query, key, value)), scale=1.0))
    result = run_op("nn.attention", query, key, value, opt_level=2, scale=1.0)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=2e-3)  # scores of 1e5 are rounded to 1e-2


@pytest.mark.parametrize("keys", [127, 1000])
def test_masks_of_minus_infinity(keys):
    """Also of a whole block of keys, and of rows, which are NaN."""
    query, key, value, mask = (
        random(1, 33, 2, 8),
        random(1, keys, 2, 8),
        random(1, keys, 2, 5),
        np.zeros((33, keys)),
    )
    mask[:, : keys // 2] = -np.inf
    mask[5:9] = -np.inf
    expected = heads_first(attention(*map(heads_first, (query, key, value)), mask, 8**-0.5))
    result = run_op("nn.attention", query, key, value, mask.astype("float32"), opt_level=2)
    assert np.isnan(result[:, 5:9]).all() and not np.isnan(result[:, :5]).any()
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-6)


def scheduled(program, target):
    """The schedule of the loop program of attention in a graph."""
    module = transform.legalize_ops()(parse(program))
    (name,) = [var for var in module.get_global_vars() if "attention" in var.name_hint]
    return tilewright.schedule.by_rules(tilewright.IRModule({"main": module[name]}), target=target)


OPERATOR = """
@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, {s}, 2, 16), "float32"), k: R.Tensor((1, {t}, 2, 16), "float32"), b: R.Tensor({bias}, "float32")):
        with R.dataflow():
            y = R.nn.attention(q, k, k, b)
            R.output(y)
        return y
"""


@pytest.mark.parametrize(
    "target", ["llvm", "llvm -mcpu=nehalem", "llvm -mcpu=haswell", "llvm -mtriple=aarch64-linux-gnu", "c"]
)
@pytest.mark.parametrize(
    ("s", "t", "bias"), [(7, 5, (7, 5)), (64, 96, (1, 2, 64, 96)), (33, 1000, (1, 1, 1, 1000))]
)
def test_rule(s, t, bias, target):
    """All blocks of a block of queries are computed with it, and those of a block of keys with that."""
    sch = scheduled(OPERATOR.format(s=s, t=t, bias=bias), target)
    assert not sch.rejections
    outermost = {
        str(sch.get(sch.get_loops(sch.get_block(name, "main"))[0]).loop_var)
        for name in ("T_weights", "T_largest_update", "T_mixed_update", "T_products_update", "T_attention")
    }
    assert len(outermost) == 1
    extents = [int(sch.get(loop).extent) for loop in sch.get_loops(sch.get_block("T_weights", "main"))]
    assert (250 if t == 1000 else t) in extents and 1000 not in extents


@pytest.mark.parametrize(("s", "t"), [(7, 5), (17, 520)])
def test_schedule_agrees_with_the_interpreter(s, t):
    scheduled(OPERATOR.format(s=s, t=t, bias=(s, t)), "llvm").verify()
