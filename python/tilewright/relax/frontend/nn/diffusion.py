"""Modules of diffusion models, with the names of parameters that the library diffusers gives them."""

from ....errors import UserError
from . import op
from .core import Module, ModuleList
from .modules import GroupNorm, Linear, SiLU
from .tensor import Tensor


class Attention(Module):
    """Attention of several heads to the same sequence or to another one, between linear layers.

    query_dim            extent of the last dimension of the sequence
    cross_attention_dim  that of the other sequence; default query_dim
    heads, dim_head      how many heads there are, and their extent
    bias, out_bias       whether the layers before, and the one after, have a bias
    norm_num_groups      groups of channels that are normalised first; default none
    scale_qk             whether scores are divided by sqrt(dim_head); default True
    Source               github.com/huggingface/diffusers (models/attention_processor.py)
    """

    def __init__(
        self,
        query_dim: int,
        cross_attention_dim: int | None = None,
        heads: int = 8,
        dim_head: int = 64,
        bias: bool = False,
        norm_num_groups: int | None = None,
        out_bias: bool = True,
        scale_qk: bool = True,
    ):
        inner, other = heads * dim_head, cross_attention_dim or query_dim
        self.heads, self.dim_head, self.scale_qk = heads, dim_head, scale_qk
        self.to_q = Linear(query_dim, inner, bias=bias)
        self.to_k = Linear(other, inner, bias=bias)
        self.to_v = Linear(other, inner, bias=bias)
        self.group_norm = (
            None if norm_num_groups is None else GroupNorm(norm_num_groups, query_dim, eps=1e-5, affine=True)
        )
        self.to_out = ModuleList([Linear(inner, query_dim, bias=out_bias)])

    def _by_head(self, x: Tensor) -> Tensor:
        return op.reshape(x, [x.shape[0], x.shape[1], self.heads, self.dim_head])

    def forward(
        self,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """hidden_states [n, length, query_dim], which attend to encoder_hidden_states, or to themselves."""
        if self.group_norm is not None:
            hidden_states = self.group_norm(hidden_states, channel_axis=2, axes=[1])
        other = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        query, key, value = (
            self._by_head(x) for x in (self.to_q(hidden_states), self.to_k(other), self.to_v(other))
        )
        scale = None if self.scale_qk else 1.0
        result = op.scaled_dot_product_attention(query, key, value, attention_mask, scale=scale)
        batch, length = hidden_states.shape[:2]
        return self.to_out[0](op.reshape(result, [batch, length, self.heads * self.dim_head]))


class TimestepEmbedding(Module):
    """linear, silu, linear of embedded time steps, to which a condition may be added before.

    in_channels, time_embed_dim  extents of the first layer
    act_fn                       "silu"
    out_dim                      extent of the result; default time_embed_dim
    post_act_fn                  "silu" after the last layer; default nothing
    cond_proj_dim                extent of the condition; default there is none
    Source                       github.com/huggingface/diffusers (models/embeddings.py)
    """

    def __init__(
        self,
        in_channels: int,
        time_embed_dim: int,
        act_fn: str = "silu",
        out_dim: int | None = None,
        post_act_fn: str | None = None,
        cond_proj_dim: int | None = None,
    ):
        for name, given in (("act_fn", act_fn), ("post_act_fn", post_act_fn)):
            if given not in ("silu", None):
                raise UserError(f'nn.TimestepEmbedding: {name} is "{given}", expected "silu"')
        self.linear_1 = Linear(in_channels, time_embed_dim)
        self.cond_proj = None if cond_proj_dim is None else Linear(cond_proj_dim, in_channels, bias=False)
        self.act = None if act_fn is None else SiLU()
        self.linear_2 = Linear(time_embed_dim, out_dim or time_embed_dim)
        self.post_act = None if post_act_fn is None else SiLU()

    def forward(self, sample: Tensor, condition: Tensor | None = None) -> Tensor:
        """sample [n, in_channels] -> [n, out_dim]."""
        if condition is not None:
            if self.cond_proj is None:
                raise UserError(
                    "nn.TimestepEmbedding: a condition is given\nhelp: cond_proj_dim says its extent"
                )
            sample = sample + self.cond_proj(condition)
        sample = self.linear_1(sample)
        sample = self.linear_2(sample if self.act is None else self.act(sample))
        return sample if self.post_act is None else self.post_act(sample)


class Timesteps(Module):
    """nn.op.get_timestep_embedding of a number of channels."""

    def __init__(self, num_channels: int, flip_sin_to_cos: bool = False, downscale_freq_shift: float = 1):
        self.num_channels, self.flip_sin_to_cos = num_channels, flip_sin_to_cos
        self.downscale_freq_shift = downscale_freq_shift

    def forward(self, x: Tensor) -> Tensor:
        """x [n] -> [n, num_channels]."""
        return op.get_timestep_embedding(
            x, self.num_channels, self.flip_sin_to_cos, self.downscale_freq_shift
        )
