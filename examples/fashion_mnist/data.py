"""Reads the Fashion-MNIST pictures that Debian's package dataset-fashion-mnist installs."""

import gzip
import os
from pathlib import Path

import numpy as np

FOLDER = Path("/usr/share/datasets/fashion-mnist")
CLASSES = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
]
ELEMENT_TYPES = {0x08: np.uint8}


def read_idx(path: Path) -> np.ndarray:
    """The array in a gzip-compressed IDX file: magic 0 0 type ndim, then the sizes as big-endian int32, then the bytes."""
    raw = gzip.decompress(path.read_bytes())
    zeros, element_type, ndim = raw[:2], raw[2], raw[3]
    if zeros != b"\0\0" or element_type not in ELEMENT_TYPES:
        raise ValueError(f"{path}: not an IDX file of bytes, it starts with {raw[:4].hex()}")
    shape = np.frombuffer(raw, ">i4", count=ndim, offset=4)
    return np.frombuffer(raw, ELEMENT_TYPES[element_type], offset=4 + 4 * ndim).reshape(shape)


def load(part: str, folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Pictures [n, 1, 28, 28] as float32 in 0..1 and labels [n] in 0..9.

    part     "train" (60,000 pictures) or "t10k" (the 10,000 held out)
    folder   where the four .gz files lie; else the environment's FASHION_MNIST, else Debian's folder
    """
    folder = folder or Path(os.environ.get("FASHION_MNIST", FOLDER))
    images_file = folder / f"{part}-images-idx3-ubyte.gz"
    if not images_file.exists():
        raise FileNotFoundError(
            f"{images_file} is missing: apt-get install dataset-fashion-mnist, or set FASHION_MNIST to its folder"
        )
    images = read_idx(images_file)
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    return (images.astype(np.float32) / 255).reshape(-1, 1, 28, 28), labels
