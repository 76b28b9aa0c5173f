"""A transformer of the size of GPT-2 small with random weights, exported by torch."""

import math
import tempfile
from pathlib import Path


def build(layers: int, width: int, heads: int):
    """The torch module: token embeddings in, hidden states out; the 50,257 logits of the last position are left out."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, mask):
            batch, length, _ = x.shape
            q, k, v = (
                part.reshape(batch, length, heads, width // heads).transpose(1, 2)
                for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
            )
            scores = q @ k.transpose(-2, -1) / math.sqrt(width // heads) + mask
            mixed = (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, length, width)
            x = x + self.out(mixed)
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(width)

        def forward(self, x):
            length = x.shape[1]
            mask = torch.triu(torch.full((length, length), -1e9), diagonal=1)
            for block in self.blocks:
                x = block(x, mask)
            return self.norm(x)

    torch.manual_seed(0)
    return Transformer().eval()


def transformer_file(layers: int = 12, width: int = 768, length: int = 128) -> Path:
    """The path of its ONNX file, with heads of size 64, in a folder for temporary files; created if it does not exist."""
    import torch

    path = Path(tempfile.gettempdir()) / "tilewright-transformers" / f"{layers}x{width}x{length}.onnx"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        example = torch.zeros(1, length, width)
        torch.onnx.export(
            build(layers, width, width // 64),
            (example,),
            str(path),
            input_names=["x"],
            opset_version=17,
            dynamo=False,
        )
    return path
