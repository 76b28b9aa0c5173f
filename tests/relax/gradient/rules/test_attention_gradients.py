"""Gradients of attention, against torch's."""

import pytest
from gradient_testing import check, op, rand

torch = pytest.importorskip("torch")


def attention(query, key, value, bias=None, causal_mask="", window_size=None, scale=None):
    """torch's, from [batch, length, heads, size]; heads share those of key in groups."""
    group = query.shape[2] // key.shape[2]
    query, key, value = (x.permute(0, 2, 1, 3) for x in (query, key, value))
    key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    scores = query @ key.transpose(-1, -2) * (scale or query.shape[-1] ** -0.5)
    if bias is not None:
        scores = scores + bias
    place = torch.arange(scores.shape[-2])[:, None]
    if causal_mask == "BottomRight":
        place = place + scores.shape[-1] - scores.shape[-2]
    other = torch.arange(scores.shape[-1])[None]
    if causal_mask:
        scores = scores.masked_fill(other > place, -3e38)
    if window_size is not None:
        scores = scores.masked_fill(place - other >= window_size, -3e38)
    return (torch.softmax(scores, -1) @ value).permute(0, 2, 1, 3)


@pytest.mark.parametrize(
    ("query", "key", "value", "attrs"),
    [
        ((2, 5, 4, 7), (2, 6, 4, 7), (2, 6, 4, 3), {}),
        ((2, 5, 4, 7), (2, 6, 2, 7), (2, 6, 2, 3), {}),
        ((2, 5, 4, 7), (2, 5, 4, 7), (2, 5, 4, 3), {"causal_mask": "TopLeft", "scale": 0.3}),
        ((1, 3, 2, 7), (1, 5, 2, 7), (1, 5, 2, 3), {"causal_mask": "BottomRight"}),
        ((1, 5, 2, 7), (1, 5, 2, 7), (1, 5, 2, 3), {"causal_mask": "TopLeft", "window_size": 2}),
    ],
)
def test_attention(query, key, value, attrs):
    check(
        lambda q, k, v: op.nn.attention(q, k, v, **attrs),
        lambda q, k, v: attention(q, k, v, **attrs),
        rand(*query),
        rand(*key, seed=4),
        rand(*value, seed=5),
    )


@pytest.mark.parametrize("bias", [(2, 4, 5, 6), (1, 4, 5, 6), (5, 6)])
def test_attention_with_a_bias(bias):
    shapes = [(2, 5, 4, 7), (2, 6, 4, 7), (2, 6, 4, 3), bias]
    check(op.nn.attention, attention, *(rand(*shape, seed=n) for n, shape in enumerate(shapes)))


def test_attention_of_symbolic_lengths():
    shapes = [(2, 5, 2, 7), (2, 6, 2, 7), (2, 6, 2, 3)]
    check(
        op.nn.attention, attention, *(rand(*shape, seed=n) for n, shape in enumerate(shapes)), symbols=(5, 6)
    )
