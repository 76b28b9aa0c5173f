"""Compiles the trained network of this folder and classifies the 10,000 held-out pictures.

    python demo.py [--target llvm]

Prints what the compiler did, one line per stage with its time, then accuracy and latency beside numpy's and, if it is
installed, onnxruntime's.  `make demo` sets everything up and runs this.
"""

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import data
import network
import numpy as np

import tilewright

MODEL = Path(__file__).with_name("fashion_mnist.onnx")
BATCH_SIZES = (1, 100)
Classifier = Callable[[np.ndarray], np.ndarray]


def compiled(target: str) -> Classifier:
    """The network compiled by tilewright; prints the stages."""
    start = time.perf_counter()
    executable = tilewright.compile(str(MODEL), target=target)
    total_s = time.perf_counter() - start
    for stage, seconds in executable.times:
        print(f"  {stage:<28}{seconds * 1e3:9.1f} ms")
    print(f"  {'in all':<28}{total_s * 1e3:9.1f} ms")
    machine = tilewright.relax.VirtualMachine(executable, tilewright.cpu())
    return lambda images: machine["main"](images).numpy()


def by_numpy() -> Classifier:
    params = network.read_onnx(MODEL)
    return lambda images: network.softmax(network.forward(params, images))


def by_onnxruntime() -> Classifier:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])
    return lambda images: session.run(None, {"image": images})[0]


def latencies_us(classifiers: dict[str, Classifier], images: np.ndarray) -> dict[str, float]:
    """Median time of one call in microseconds; the classifiers take turns, so that noise meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in classifiers}
    for round_number in range(60):
        for name, classify in classifiers.items():
            start = time.perf_counter()
            classify(images)
            if round_number >= 10:
                times[name].append((time.perf_counter() - start) * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="llvm")
    args = parser.parse_args()

    images, labels = data.load("t10k")
    print(f"compiling {MODEL.name} for {args.target}")
    classifiers = {"tilewright": compiled(args.target), "numpy": by_numpy()}
    if importlib.util.find_spec("onnxruntime"):
        classifiers["onnxruntime"] = by_onnxruntime()

    print(f"\nclassifying {len(images)} held-out pictures")
    timed = [latencies_us(classifiers, np.ascontiguousarray(images[:size])) for size in BATCH_SIZES]
    reference = classifiers["numpy"](images).argmax(axis=1)
    print(
        f"  {'':<14}{'accuracy':>9}{'same answer':>13}"
        + "".join(f"{f'batch {size}':>14}" for size in BATCH_SIZES)
    )
    for name, classify in classifiers.items():
        answer = classify(images).argmax(axis=1)
        right, same = (answer == labels).mean(), (answer == reference).sum()
        columns = "".join(f"{times[name]:>11.1f} us" for times in timed)
        print(f"  {name:<14}{right:>9.2%}{same:>13}{columns}")

    first = classifiers["tilewright"](images[:5])
    print("\nthe first five")
    for probability, label in zip(first, labels, strict=False):
        print(
            f"  {data.CLASSES[label]:<14} taken for {data.CLASSES[probability.argmax()]} ({probability.max():.1%})"
        )


if __name__ == "__main__":
    main()
