"""Measures kernels and models on a GPU of NVIDIA beside torch, in under six minutes; one table.

python benchmarks/gpu.py                 on the GPU of this machine: first the tests of devices, then the table
python benchmarks/gpu.py --small         all of it in sizes for a machine without a GPU: says that it works, not how fast it is.
                                         TILEWRIGHT_CUDA_EMULATION=1 emulates the GPU; --device opencl:0 takes PoCL;
                                         torch runs on the CPU there

Each case runs in rounds: ours, then torch's (cuBLAS, cuDNN, eager, the same weights); shown are the median of the rounds and
their spread.  Times are between events of the device, without copies from and to the host.  Bandwidths and rates are of what the
operator has to do.  `error` is the largest difference from torch's numbers over the largest of these.
"""

import argparse
import concurrent.futures
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from gpu_networks import Eager, Program, encoder, encoder_flops, resnet50, resnet50_flops

import tilewright

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
#: what `error` may be: sums of up to 8192 products are rounded
TOLERANCE = {"float32": 2e-4, "float16": 3e-2}


def graph(params: list, call: str):
    shown = ", ".join(f'{name}: R.Tensor({shape}, "{dtype}")' for name, shape, dtype in params)
    return tilewright.script.parse(
        f"@I.ir_module\nclass M:\n    @R.function\n    def main({shown}):\n        with R.dataflow():\n"
        f"            y = {call}\n            R.output(y)\n        return y\n"
    )


class Case:
    """A graph with arrays for its parameters, and the same by torch on tensors."""

    def __init__(self, name: str, dtype: str, module, arrays: list, by_torch, work: float, unit: str):
        self.name, self.dtype, self.module, self.arrays = f"{name}, {dtype}", dtype, module, arrays
        self.by_torch, self.work, self.unit = by_torch, work, unit


def random(shape: tuple, dtype: str) -> np.ndarray:
    return (np.random.default_rng(0).random(shape, "float32") * 2 - 1).astype(dtype)


def matmul(m: int, n: int, k: int, dtype: str) -> Case:
    module = graph([("a", (m, k), dtype), ("b", (k, n), dtype)], "R.matmul(a, b)")
    arrays = [random((m, k), dtype), random((k, n), dtype)]
    return Case(
        f"matmul {m} x {n} x {k}",
        dtype,
        module,
        arrays,
        lambda torch, a, b: a @ b,
        2.0 * m * n * k,
        "TFLOP/s",
    )


def of_rows(name: str, call: str, rows: int, columns: int, dtype: str, by_torch) -> Case:
    module = graph([("x", (rows, columns), dtype)], call)
    num_bytes = 2.0 * np.dtype(dtype).itemsize * rows * columns  # read once, written once
    return Case(
        f"{name} {rows} x {columns}",
        dtype,
        module,
        [random((rows, columns), dtype)],
        by_torch,
        num_bytes,
        "TB/s",
    )


def network(name: str, dtype: str, shape: tuple, build, flops: float) -> Case:
    program = Program(dtype)
    module = program.module(build(program))
    arrays = [random(shape, dtype), *program.weights]
    return Case(name, dtype, module, arrays, lambda torch, x, *w: build(Eager(torch, x, w)), flops, "TFLOP/s")


def cases(small: bool):
    """Functions that make the cases, so that one at a time has memory."""
    dtypes = ("float32", "float16")
    for dtype in dtypes:
        for m, n, k in (
            [(64, 64, 64), (7, 130, 65)]
            if small
            else [(1024,) * 3, (4096,) * 3, (8192,) * 3, (128, 4096, 4096)]
        ):
            yield lambda m=m, n=n, k=k, dtype=dtype: matmul(m, n, k, dtype)
    rows, columns = (16, 64) if small else (16384, 1024)
    for dtype in dtypes:
        yield lambda dtype=dtype: of_rows(
            "softmax", "R.nn.softmax(x)", rows, columns, dtype, lambda torch, x: torch.softmax(x, -1)
        )
        yield lambda dtype=dtype: of_rows(
            "layer_norm",
            f'R.nn.layer_norm(x, R.ones(({columns},), "{dtype}"), R.zeros(({columns},), "{dtype}"), axes=[-1])',
            rows,
            columns,
            dtype,
            lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
        )
    images, pixels, width = (1, 32, 4) if small else (8, 224, 64)
    batch, length, features, heads = (1, 7, 48, 3) if small else (8, 128, 768, 12)
    for dtype in dtypes:
        yield lambda dtype=dtype: network(
            f"ResNet-50, {images} x 3 x {pixels} x {pixels}",
            dtype,
            (images, 3, pixels, pixels),
            lambda net: resnet50(net, images, pixels, width),
            resnet50_flops(images, pixels) * (width / 64) ** 2,
        )
        yield lambda dtype=dtype: network(
            f"transformer encoder, 12 x {features}, {batch} x {length} tokens",
            dtype,
            (batch, length, features),
            lambda net: encoder(net, batch, length, features, heads),
            encoder_flops(batch, length, features),
        )


# ---- the two sides


class Ours:
    def __init__(self, case: Case, target, device):
        executable = tilewright.compile(case.module, target=target)
        self._vm = tilewright.VirtualMachine(executable, device)
        self._args = [tilewright.tensor(array, device) for array in case.arrays]

    def result(self) -> np.ndarray:
        return self._vm["main"](*self._args).numpy()

    def seconds(self, repeats: int) -> float:
        return self._vm.time_evaluator("main", number=repeats)(*self._args).median


class Torch:
    def __init__(self, case: Case, torch, place: str):
        self._torch, self._run, self._is_gpu = torch, case.by_torch, place == "cuda"
        self._args = [torch.from_numpy(array).to(place) for array in case.arrays]

    def result(self) -> np.ndarray:
        with self._torch.inference_mode():
            return self._run(self._torch, *self._args).cpu().numpy()

    def seconds(self, repeats: int) -> float:
        with self._torch.inference_mode():
            if self._is_gpu:
                begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
            start = time.perf_counter()
            for _ in range(repeats):
                self._run(self._torch, *self._args)
            if not self._is_gpu:
                return (time.perf_counter() - start) / repeats
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) / 1e3 / repeats


def torch_and_place(wanted: str):
    """torch and where it runs; (None, "") without it."""
    if wanted == "none":
        return None, ""
    try:
        import torch
    except ImportError:
        return None, ""
    has_gpu = torch.cuda.is_available()
    if wanted == "cuda" and not has_gpu:
        return None, ""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False  # float32 is float32
    return torch, wanted


def error_of(found: np.ndarray, expected: np.ndarray) -> float:
    found, expected = found.astype("float32"), expected.astype("float32")
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-9))


def rounds_of(sides: list, rounds: int) -> list[list[float]]:
    """Seconds of a call, of each side and round; the sides alternate."""
    repeats = [max(1, min(50, int(0.05 / max(side.seconds(1), 1e-6)))) for side in sides]
    times = [[] for _ in sides]
    for _ in range(rounds):
        for side, of_side, count in zip(sides, times, repeats, strict=True):
            of_side.append(side.seconds(count))
    return times


def row_of(case: Case, target, device, torch, place: str, rounds: int) -> tuple[str, bool]:
    """A line of the table, and whether the numbers agree."""
    sides = [Ours(case, target, device)]
    error, is_right = "-", True
    found = sides[0].result()
    if torch:
        sides.append(Torch(case, torch, place))
        difference = error_of(found, sides[1].result())
        error, is_right = f"{difference:.1e}", difference <= TOLERANCE[case.dtype]
    times = rounds_of(sides, rounds)
    ours = statistics.median(times[0])
    spread = (max(times[0]) - min(times[0])) / ours
    rate = case.work / ours / 1e12
    peer = statistics.median(times[1]) if torch else 0
    theirs = f"{peer * 1e6:.1f} | {peer / ours:.2f}" if torch else "- | -"
    line = f"| {case.name} | {ours * 1e6:.1f} | {spread:.0%} | {rate:.3g} {case.unit} | {theirs} | {error} |"
    return line + ("" if is_right else " wrong"), is_right


# ---- tests


def tests_of_devices(kind: str) -> list[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only"]
    files = ["tests/devices", "tests/runtime/test_devices.py", "tests/driver/targets/test_opencl.py"]
    said = subprocess.run(
        [*command, *files, "-k", kind, "-m", "not slow"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    # those that start the emulation in a process of their own are for machines without a GPU
    return [line for line in said.splitlines() if "::" in line and "test_emulation" not in line]


def run_tests(kind: str, seconds: float) -> bool:
    """The tests that use a device of `kind`, in several processes; true if none failed."""
    names = tests_of_devices(kind)
    count = max(1, min(8, (os.cpu_count() or 1) // 2, len(names)))

    def run(part: list[str]) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *part]
        try:
            done = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return f"stopped after {seconds:.0f} s"
        lines = done.stdout.strip().splitlines() or [done.stderr.strip()]
        return lines[-1] + ("" if done.returncode == 0 else "\n" + "\n".join(lines[-40:]))

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        said = list(pool.map(run, (names[n::count] for n in range(count))))
    print(f"{len(names)} tests of devices in {count} processes:")
    for text in said:
        print(f"  {text}")
    print(flush=True)
    return all(" passed" in text and "failed" not in text and "error" not in text for text in said)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="sizes for a machine without a GPU")
    parser.add_argument("--no-tests", action="store_true", help="only the table")
    parser.add_argument("--device", default="cuda:0", help="default cuda:0")
    parser.add_argument(
        "--peer", choices=("cuda", "cpu", "none"), help="where torch runs; default cuda, with --small cpu"
    )
    parser.add_argument("--only", default="", help="cases whose names have this text")
    parser.add_argument("--seconds", type=float, default=340, help="no case begins later; default 340")
    options = parser.parse_args()
    begin = time.monotonic()
    device = tilewright.device(options.device)
    if not device.exist:
        print(
            f"there is no device {device}; TILEWRIGHT_CUDA_EMULATION=1 and --small run the kernels on the CPU",
            file=sys.stderr,
        )
        return 1
    is_right = options.no_tests or run_tests(options.device.partition(":")[0], options.seconds / 2)
    torch, place = torch_and_place(options.peer or ("cpu" if options.small else "cuda"))
    target = tilewright.Target.from_device(device)
    peer = f"torch {torch.__version__} on {place}" if torch else "without torch"
    print(f"{device.name}, {device.driver}, target {target}, {peer}\n")
    print("| case | us | spread | rate | torch us | times torch | error |\n|---|---|---|---|---|---|---|")
    for make in cases(options.small):
        case = make()
        if options.only not in case.name:
            continue
        if time.monotonic() - begin > options.seconds:
            print(f"| {case.name} | left out after {options.seconds:.0f} s | | | | | |", flush=True)
            continue
        try:
            line, agrees = row_of(case, target, device, torch, place, 2 if options.small else ROUNDS)
        except tilewright.errors.Error as error:  # the other cases count as well
            line, agrees = f"| {case.name} | {str(error).splitlines()[0]} | | | | | |", False
        print(line, flush=True)
        is_right &= agrees
    print(f"\n{time.monotonic() - begin:.0f} s; {'all numbers agree' if is_right else 'some are wrong'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
