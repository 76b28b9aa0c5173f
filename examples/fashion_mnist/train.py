"""Trains the demo's network with numpy alone and writes fashion_mnist.onnx.

    python train.py [--epochs 20] [--seed 0] [--output fashion_mnist.onnx]

Adam (Kingma and Ba, 2015) with a cosine schedule; about three minutes on two cores.  Same seed, same numpy, same machine: same file.
"""

import argparse
import time
from pathlib import Path

import data
import network
import numpy as np

BATCH = 100
PEAK_RATE = 2e-3


class Adam:
    """Keeps a running mean and a running square of every gradient."""

    def __init__(self, params: network.Params):
        self.mean = {name: np.zeros_like(value) for name, value in params.items()}
        self.square = {name: np.zeros_like(value) for name, value in params.items()}
        self.step = 0

    def update(self, params: network.Params, grads: network.Params, rate: float) -> None:
        self.step += 1
        scale = rate * np.sqrt(1 - 0.999**self.step) / (1 - 0.9**self.step)
        for name, grad in grads.items():
            self.mean[name] += 0.1 * (grad - self.mean[name])
            self.square[name] += 0.001 * (grad * grad - self.square[name])
            params[name] -= np.float32(scale) * self.mean[name] / (np.sqrt(self.square[name]) + 1e-8)


def accuracy(params: network.Params, images: np.ndarray, labels: np.ndarray) -> float:
    """Part of the pictures whose largest logit is the label's."""
    right = [
        (network.forward(params, images[at : at + 500]).argmax(axis=1) == labels[at : at + 500]).sum()
        for at in range(0, len(labels), 500)
    ]
    return sum(right) / len(labels)


def train(images: np.ndarray, labels: np.ndarray, epochs: int, seed: int) -> network.Params:
    """Parameters after `epochs` passes over the pictures, half of them mirrored each time."""
    rng = np.random.default_rng(seed)
    params = network.initial(rng)
    adam = Adam(params)
    num_steps = epochs * (len(labels) // BATCH)
    for epoch in range(epochs):
        start = time.perf_counter()
        losses = []
        order = rng.permutation(len(labels))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            picked = order[at : at + BATCH]
            batch = images[picked]
            mirrored = rng.random(len(batch)) < 0.5
            batch[mirrored] = batch[mirrored, :, :, ::-1]
            loss, grads = network.backward(params, batch, labels[picked])
            rate = PEAK_RATE * 0.5 * (1 + np.cos(np.pi * adam.step / num_steps))
            adam.update(params, grads, rate)
            losses.append(loss)
        print(
            f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, {time.perf_counter() - start:.0f} s", flush=True
        )
    return params


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("fashion_mnist.onnx"))
    args = parser.parse_args()

    images, labels = data.load("train")
    params = train(images, labels, args.epochs, args.seed)
    print(f"held-out accuracy {accuracy(params, *data.load('t10k')):.4f}")
    network.write_onnx(params, args.output)
    print(f"wrote {args.output} ({args.output.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
