"""PyTorch, eager, on the CPU."""

import numpy as np
import torch


def version() -> str:
    return torch.__version__


def set_threads(num_threads: int) -> None:
    torch.set_num_threads(num_threads)


def function(name: str, arrays: list[np.ndarray]):
    a, b = map(torch.from_numpy, arrays)
    out = torch.empty(a.shape[0], b.shape[1])
    if name == "mm":
        return lambda: torch.matmul(a, b, out=out)
    if name == "mm_relu":
        return lambda: torch.matmul(a, b, out=out).relu_()
    return None


def model(path: str, inputs: dict[str, np.ndarray]):
    return None
