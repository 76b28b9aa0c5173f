"""Modules of diffusion models, against torch on odd sizes."""

import numpy as np
import pytest

import tilewright as tw
from tilewright.relax.frontend import nn

torch = pytest.importorskip("torch")
F = torch.nn.functional
RNG = np.random.default_rng(3)


def tensor(*shape):
    return RNG.standard_normal(shape).astype("float32")


def run(model, **inputs):
    """(result, {name: weight}) of forward with random weights."""
    weights = {key: tensor(*param.shape) for key, param in model.named_parameters()}
    model.load_state_dict(weights)
    spec = {name: nn.spec.Tensor(x.shape, str(x.dtype)) for name, x in inputs.items()}
    (result,) = [model.jit({"forward": spec}, out_format="numpy")["forward"](*inputs.values())]
    return result, {name: torch.tensor(value) for name, value in weights.items()}


@pytest.mark.parametrize(("groups", "scaled", "other_dim"), [(None, True, None), (2, False, 6), (2, True, 6)])
def test_attention(groups, scaled, other_dim):
    model = nn.Attention(8, other_dim, heads=2, dim_head=3, norm_num_groups=groups, scale_qk=scaled)
    x = tensor(2, 5, 8)
    given = {"hidden_states": x} | ({"encoder_hidden_states": tensor(2, 7, 6)} if other_dim else {})
    result, w = run(model, **given)
    hidden = torch.tensor(x)
    if groups:
        hidden = F.group_norm(
            hidden.transpose(1, 2), groups, w["group_norm.weight"], w["group_norm.bias"]
        ).transpose(1, 2)
    other = torch.tensor(given["encoder_hidden_states"]) if other_dim else hidden

    def heads(y, name):
        return (y @ w[f"{name}.weight"].T).reshape(2, -1, 2, 3).transpose(1, 2)

    args = heads(hidden, "to_q"), heads(other, "to_k"), heads(other, "to_v")
    mixed = F.scaled_dot_product_attention(*args, scale=None if scaled else 1.0)
    wanted = mixed.transpose(1, 2).reshape(2, 5, 6) @ w["to_out.0.weight"].T + w["to_out.0.bias"]
    np.testing.assert_allclose(result, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("post", [None, "silu"])
def test_embedding_of_time_steps(post):
    model = nn.TimestepEmbedding(4, 7, out_dim=3, post_act_fn=post, cond_proj_dim=5)
    sample, condition = tensor(2, 4), tensor(2, 5)
    result, w = run(model, sample=sample, condition=condition)
    x = torch.tensor(sample) + torch.tensor(condition) @ w["cond_proj.weight"].T
    x = F.silu(x @ w["linear_1.weight"].T + w["linear_1.bias"]) @ w["linear_2.weight"].T + w["linear_2.bias"]
    np.testing.assert_allclose(result, F.silu(x) if post else x, rtol=1e-4, atol=1e-5)


def test_time_steps():
    steps = np.array([0, 3, 127], "float32")
    result, _ = run(nn.Timesteps(6, flip_sin_to_cos=True, downscale_freq_shift=0), x=steps)
    angles = steps[:, None] * np.exp(-np.log(10000) * np.arange(3) / 3)
    np.testing.assert_allclose(result, np.concatenate([np.cos(angles), np.sin(angles)], 1), atol=1e-4)


def test_refusals():
    with pytest.raises(tw.UserError) as error:
        nn.TimestepEmbedding(4, 7, act_fn="gelu")
    assert str(error.value) == 'nn.TimestepEmbedding: act_fn is "gelu", expected "silu"'
    with pytest.raises(tw.UserError) as error:
        run(nn.TimestepEmbedding(4, 7), sample=tensor(2, 4), condition=tensor(2, 5))
    assert str(error.value) == (
        "nn.TimestepEmbedding: a condition is given\nhelp: cond_proj_dim says its extent"
    )
