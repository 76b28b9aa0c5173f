"""PyTorch, eager, on the CPU."""

import numpy as np
import torch
from torch.nn import functional

from . import graphs


def version() -> str:
    return torch.__version__


def set_threads(num_threads: int) -> None:
    torch.set_num_threads(num_threads)


def tensor_of(array: np.ndarray) -> torch.Tensor:
    if str(array.dtype) == "bfloat16":
        return torch.from_numpy(array.astype("float32")).bfloat16()
    return torch.from_numpy(array)


def rounded_product(arrays: list[np.ndarray], dtype: str):
    """With weights of int8, a scale for each column, or of int4, in blocks."""
    a, b = map(tensor_of, arrays)
    if dtype == "int8":
        scale = b.abs().amax(0) / 127
        numbers = (b / scale).round().to(torch.int8).t().contiguous()
        return lambda: torch._weight_int8pack_mm(a, numbers, scale)
    numbers, scale = (torch.from_numpy(each) for each in graphs.rounded(arrays[1], dtype))
    codes = (numbers.t() + 8).to(torch.int32).contiguous()
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1)
    pairs = torch.stack([scale, torch.zeros_like(scale)], -1)
    return lambda: torch.ops.aten._weight_int4pack_mm_for_cpu(a, packed, graphs.BLOCK, pairs)


def function(name: str, arrays: list[np.ndarray], case: dict):
    if "weight_dtype" in case:
        return rounded_product(arrays, case["weight_dtype"])
    a, *others = map(tensor_of, arrays)
    b = others[0] if others else None
    if a.dtype == torch.int8:
        return lambda: torch._int_mm(a, b)
    out = torch.empty(a.shape[0], b.shape[-1], dtype=a.dtype) if name.startswith("mm") else None
    calls = {
        "mm": lambda: torch.matmul(a, b, out=out),
        "mm_relu": lambda: torch.matmul(a, b, out=out).relu_(),
        "softmax": lambda: torch.softmax(a, -1),
        "layer_norm": lambda: functional.layer_norm(a, b.shape, b),
        "gelu": lambda: functional.gelu(a),
        "transpose": lambda: a.t().contiguous(),
        "attention": lambda: functional.scaled_dot_product_attention(a, *others, scale=1.0),
    }
    return calls.get(name)


def model(path: str, inputs: dict[str, np.ndarray], case: dict):
    return None
