"""Small networks of the package transformers with random weights, and how torch's two exporters write them.

Each is made of a configuration: two layers or stages, width 32.
"""

import io
import warnings

import numpy as np
import torch
import transformers
from torch import nn

transformers.logging.set_verbosity_error()

WIDTH = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 37}
DECODER = WIDTH | {"num_key_value_heads": 1, "vocab_size": 61, "max_position_embeddings": 64, "head_dim": 16}
IMAGE = {"image_size": 32, "num_channels": 3}


class Wrapped(nn.Module):
    """Inputs in order, the first result (or the one called `result`) as the only one."""

    def __init__(self, network, names=("pixel_values",), result=0, **options):
        super().__init__()
        self.network, self.names, self.result, self.options = network, names, result, options

    def forward(self, *inputs):
        outputs = self.network(**dict(zip(self.names, inputs, strict=True)), **self.options)
        return outputs[self.result]


def ids(*shape):
    return torch.from_numpy(np.random.default_rng(1).integers(0, 61, shape))


def floats(*shape):
    return torch.from_numpy(np.random.default_rng(2).standard_normal(shape).astype("float32"))


TOKENS = ("input_ids", "attention_mask")


def text(kind, config, names=TOKENS, **options):
    mask = torch.ones(2, 9, dtype=torch.int64)
    mask[1, 6:] = 0
    return Wrapped(kind(config), names, **options), (ids(2, 9), mask)[: len(names)]


def picture(kind, config, **options):
    return Wrapped(kind(config), **options), (floats(1, 3, 32, 32),)


def t5_config(t):
    return t.T5Config(
        vocab_size=61, d_model=32, d_kv=16, d_ff=37, num_layers=2, num_heads=2, decoder_start_token_id=0
    )


def t5(t):
    names = ("input_ids", "decoder_input_ids")
    return Wrapped(t.T5ForConditionalGeneration(t5_config(t)), names, use_cache=False), (ids(2, 9), ids(2, 5))


def whisper_config(t):
    return t.WhisperConfig(
        vocab_size=61, num_mel_bins=8, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=37, decoder_ffn_dim=37, max_source_positions=20,
        max_target_positions=24, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    )  # fmt: skip


def whisper_encoder(t):
    encoder = t.WhisperModel(whisper_config(t)).get_encoder()
    return Wrapped(encoder, ("input_features",)), (floats(1, 8, 40),)


def wav2vec2(t):
    config = t.Wav2Vec2Config(
        **WIDTH, conv_dim=(8, 8), conv_kernel=(10, 3), conv_stride=(5, 2), num_feat_extract_layers=2,
        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, vocab_size=32,
    )  # fmt: skip
    return Wrapped(t.Wav2Vec2Model(config), ("input_values",)), (floats(1, 400),)


def swin(t):
    config = t.SwinConfig(**IMAGE, patch_size=4, embed_dim=8, depths=[2, 2], num_heads=[1, 2], window_size=4)
    return picture(t.SwinModel, config)


def segformer(t):
    config = t.SegformerConfig(
        num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[8, 16], patch_sizes=[7, 3], strides=[4, 2],
        num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=16,
    )  # fmt: skip
    return picture(t.SegformerForSemanticSegmentation, config)


def dpt(t):
    config = t.DPTConfig(
        **WIDTH, **IMAGE, patch_size=8, backbone_out_indices=[0, 1], neck_hidden_sizes=[8, 8],
        fusion_hidden_size=8, is_hybrid=False, reassemble_factors=[2, 0.5],
    )  # fmt: skip
    return picture(t.DPTForDepthEstimation, config)


def mamba(t):
    config = t.MambaConfig(vocab_size=61, hidden_size=16, num_hidden_layers=2, state_size=4)
    return text(t.MambaModel, config, names=("input_ids",), use_cache=False)


NETWORKS = {
    "Bert": lambda t: text(t.BertModel, t.BertConfig(**WIDTH, vocab_size=61)),
    "DistilBert": lambda t: text(
        t.DistilBertModel, t.DistilBertConfig(vocab_size=61, dim=32, n_layers=2, n_heads=2, hidden_dim=37)
    ),
    "Roberta": lambda t: text(t.RobertaModel, t.RobertaConfig(**WIDTH, vocab_size=61)),
    "GPT2": lambda t: text(
        t.GPT2Model, t.GPT2Config(vocab_size=61, n_embd=32, n_layer=2, n_head=2, n_positions=64), use_cache=False
    ),
    "Llama": lambda t: text(t.LlamaModel, t.LlamaConfig(**DECODER), use_cache=False),
    "Qwen2": lambda t: text(t.Qwen2Model, t.Qwen2Config(**DECODER), use_cache=False),
    "T5 encoder": lambda t: text(t.T5EncoderModel, t5_config(t)),
    "T5": t5,
    "ViT": lambda t: picture(t.ViTModel, t.ViTConfig(**WIDTH, **IMAGE, patch_size=8)),
    "CLIP vision": lambda t: picture(t.CLIPVisionModel, t.CLIPVisionConfig(**WIDTH, **IMAGE, patch_size=8)),
    "Swin": swin,
    "SegFormer": segformer,
    "ConvNext": lambda t: picture(t.ConvNextModel, t.ConvNextConfig(num_stages=2, hidden_sizes=[8, 16], depths=[1, 1])),
    "MobileNetV2": lambda t: picture(t.MobileNetV2Model, t.MobileNetV2Config(image_size=32, depth_multiplier=0.25)),
    "ResNet": lambda t: picture(
        t.ResNetModel, t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    ),
    "DPT": dpt,
    "Wav2Vec2": wav2vec2,
    "Whisper encoder": whisper_encoder,
    "Yolos": lambda t: picture(
        t.YolosModel, t.YolosConfig(**(WIDTH | IMAGE | {"image_size": [32, 32]}), patch_size=8, num_detection_tokens=5)
    ),
    "Mamba": mamba,
}  # fmt: skip


class Cached(nn.Module):
    """A decoder with the keys and values of its past, a pair for each layer, as inputs; gives those with the new ones, too."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, input_ids, attention_mask, *past):
        layers = [(past[n], past[n + 1]) for n in range(0, len(past), 2)]
        cache = transformers.DynamicCache(layers)
        outputs = self.network(
            input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True
        )
        kept = [tensor for layer in outputs.past_key_values.layers for tensor in (layer.keys, layer.values)]
        return outputs[0], *kept


def cached(kind, config, heads):
    network = Cached(kind(config))

    def inputs(batch, length, past):
        layers = [floats(batch, heads, past, 16) for _ in range(4)]
        return ids(batch, length), torch.ones(batch, past + length, dtype=torch.int64), *layers

    layer = {0: "batch", 2: "past"}
    return network, inputs, [{0: "batch", 1: "length"}, {0: "batch", 1: "total"}, layer, layer, layer, layer]


def with_mask(t):
    network = Wrapped(t.BertModel(t.BertConfig(**WIDTH, vocab_size=61)), TOKENS)

    def inputs(batch, length, _):
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[-1, length // 2 + 1 :] = 0
        return ids(batch, length), mask

    return network, inputs, [{0: "batch", 1: "length"}] * 2


def pictures(t):
    network = Wrapped(t.ViTModel(t.ViTConfig(**WIDTH, **IMAGE, patch_size=8)))
    return network, lambda batch, *_: (floats(batch, 3, 32, 32),), [{0: "batch"}]


def translator(t):
    network, _ = t5(t)

    def inputs(batch, length, other):
        return ids(batch, length), ids(batch, other + 1)

    return network, inputs, [{0: "batch", 1: "length"}, {0: "batch", 1: "other"}]


def whisper_decoder(t):
    decoder = t.WhisperModel(whisper_config(t)).get_decoder()
    # without a mask torch's older exporter meets diff, which it cannot write
    network = Wrapped(decoder, (*TOKENS, "encoder_hidden_states"), use_cache=False)

    def inputs(batch, length, _):
        return ids(batch, length), torch.ones(batch, length, dtype=torch.int64), floats(batch, 20, 32)

    return network, inputs, [{0: "batch", 1: "length"}, {0: "batch", 1: "length"}, {0: "batch"}]


# (network, inputs of (batch, length, past), names of the open dimensions of each input)
OPEN_NETWORKS = {
    "Bert with mask": with_mask,
    "GPT2 with cache": lambda t: cached(
        t.GPT2LMHeadModel, t.GPT2Config(vocab_size=61, n_embd=32, n_layer=2, n_head=2, n_positions=64), 2
    ),
    "Llama with cache": lambda t: cached(t.LlamaForCausalLM, t.LlamaConfig(**DECODER), 1),
    "ViT": pictures,
    "T5": translator,
    "Whisper decoder": whisper_decoder,
}


def open_network_of(name: str):
    """(module, inputs, names), always the same."""
    torch.manual_seed(0)
    network, inputs, names = OPEN_NETWORKS[name](transformers)
    return network.eval(), inputs, names


def dimensions(network, names, is_dynamo: bool) -> dict:
    """The options of exported that leave the dimensions with these names open."""
    if is_dynamo:
        shapes = tuple(dict.fromkeys(each, torch.export.Dim.DYNAMIC) for each in names)
        num_own = 2 if isinstance(network, Cached) else 0  # the others are one argument
        return {"dynamic_shapes": (*shapes[:num_own], shapes[num_own:])}
    inputs = [f"x{n}" for n in range(len(names))]
    return {"input_names": inputs, "dynamic_axes": dict(zip(inputs, names, strict=True))}


def exported(network, inputs, is_dynamo: bool, **options) -> bytes:
    """The ONNX model that one of torch's exporters makes."""
    file = io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(network, inputs, None if is_dynamo else file, dynamo=is_dynamo, **options)
    if is_dynamo:
        program.save(file)
    return file.getvalue()


def network_of(name: str):
    """(module, inputs), always the same."""
    torch.manual_seed(0)
    network, inputs = NETWORKS[name](transformers)
    return network.eval(), inputs
