"""nn.attention with masks, bias, scale, window and shared heads, against torch."""

import numpy as np
import pytest
from op_images import t
from op_testing import check_op

torch = pytest.importorskip("torch")

F = torch.nn.functional
RNG = np.random.default_rng(6)


def some(*shape):
    return RNG.standard_normal(shape, dtype="float32")


QUERY, KEY, VALUE = some(2, 5, 4, 7), some(2, 7, 4, 7), some(2, 7, 4, 3)


def heads_first(x):
    return t(x).permute(0, 2, 1, 3)


@pytest.mark.parametrize("mask", [None, "TopLeft", "BottomRight"])
def test_attention(mask):
    rows, columns = np.arange(5)[:, None], np.arange(7)
    visible = (
        np.ones((5, 7), "bool") if mask is None else columns <= rows + (2 if mask == "BottomRight" else 0)
    )
    args = [heads_first(x) for x in (QUERY, KEY, VALUE)]
    wanted = F.scaled_dot_product_attention(*args, attn_mask=t(visible)).permute(0, 2, 1, 3).numpy()
    check_op("nn.attention", [QUERY, KEY, VALUE], {"causal_mask": mask}, wanted, atol=1e-5)


def test_attention_with_bias_scale_window_and_shared_heads():
    bias = some(2, 1, 5, 7)
    args = [heads_first(x) for x in (QUERY, KEY, VALUE)]
    wanted = F.scaled_dot_product_attention(*args, attn_mask=t(bias), scale=0.25).permute(0, 2, 1, 3).numpy()
    check_op("nn.attention", [QUERY, KEY, VALUE, bias], {"scale": 0.25}, wanted, atol=1e-5)
    distance = np.arange(5)[:, None] - np.arange(7)
    near = (distance >= 0) & (distance < 2)
    wanted = F.scaled_dot_product_attention(*args, attn_mask=t(near)).permute(0, 2, 1, 3).numpy()
    check_op(
        "nn.attention", [QUERY, KEY, VALUE], {"causal_mask": "TopLeft", "window_size": 2}, wanted, atol=1e-5
    )
    shared = [args[0], args[1][:, :2], args[2][:, :2]]
    wanted = F.scaled_dot_product_attention(*shared, enable_gqa=True).permute(0, 2, 1, 3).numpy()
    check_op("nn.attention", [QUERY, KEY[:, :, :2].copy(), VALUE[:, :, :2].copy()], {}, wanted, atol=1e-5)
