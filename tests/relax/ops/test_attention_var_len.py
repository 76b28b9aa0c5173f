"""nn.attention_var_len: attention of sequences of several lengths, against numpy."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from op_testing import check_op

RNG = np.random.default_rng(3)


def heads_first(x):
    return torch.from_numpy(x).permute(0, 2, 1, 3)


@pytest.mark.parametrize("mask", [None, "TopLeft", "BottomRight"])
def test_attention_of_sequences_one_after_the_other(mask):
    query, key, value = (RNG.standard_normal((1, n, 2, 7)).astype("float32") for n in (9, 11, 11))
    starts, key_starts = np.array([0, 2, 5, 9], "int32"), np.array([0, 3, 6, 11], "int32")
    parts = []
    for n in range(3):
        q = heads_first(query[:, starts[n] : starts[n + 1]])
        k, v = (heads_first(x[:, key_starts[n] : key_starts[n + 1]]) for x in (key, value))
        rows, columns = np.arange(q.shape[2])[:, None], np.arange(k.shape[2])
        shift = k.shape[2] - q.shape[2] if mask == "BottomRight" else 0
        seen = torch.from_numpy((columns <= rows + shift) | (mask is None))
        parts.append(F.scaled_dot_product_attention(q, k, v, attn_mask=seen).permute(0, 2, 1, 3).numpy())
    args = [query, key, value, starts, np.array(4, "int32"), key_starts, np.array(5, "int32")]
    check_op("nn.attention_var_len", args, {"causal_mask": mask}, np.concatenate(parts, 1), atol=1e-5)


def test_attention_of_sequences_within_a_window():
    query, starts = RNG.standard_normal((1, 7, 1, 3)).astype("float32"), np.array([0, 3, 7], "int64")
    sequence, place = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2, 3])
    distance = place[:, None] - place
    seen = (sequence[:, None] == sequence) & (distance >= 0) & (distance < 2)
    one = heads_first(query)
    wanted = F.scaled_dot_product_attention(one, one, one, attn_mask=torch.from_numpy(seen)).permute(
        0, 2, 1, 3
    )
    args, attrs = [query, query, query, starts, np.array(4)], {"causal_mask": "TopLeft", "window_size": 2}
    check_op("nn.attention_var_len", args, attrs, wanted.numpy(), atol=1e-5)
